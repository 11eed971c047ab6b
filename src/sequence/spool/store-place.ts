// Where a url leads to: what tells one store from another for those who keep something for it outside of it. User, password and
// settings are left out: they may change, and the store is the same.
import { resolve } from 'node:path';

export function placeOf(url: string, schema = ''): string {
  const bare = url.replace(/^[^:]*:/, '').replace(/[?#].*$/s, '');
  if (/^sqlite:/i.test(url)) return resolve(bare.replace(/^\/\/(?=\/)/, ''));
  return `${bare.replace(/^\/\/[^/]*@/, '//')} ${schema}`.trim();
}
