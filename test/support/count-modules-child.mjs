// Says on standard error which modules are loaded: node --import count-modules-child.mjs PROGRAM
import { register } from 'node:module';

const hooks = `import { writeSync } from 'node:fs';
export function load(url, context, next) {
  writeSync(2, 'loaded ' + url + '\\n');
  return next(url, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
