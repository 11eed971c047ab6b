// Makes packages look as if they were not installed: HIDE=redis,ioredis node --import hide-packages-child.mjs PROGRAM
import { register } from 'node:module';

const hidden = JSON.stringify((process.env['HIDE'] ?? '').split(','));
const hooks = `const hidden = ${hidden};
export function resolve(name, context, next) {
  if (!hidden.includes(name)) return next(name, context);
  throw Object.assign(new Error("Cannot find package '" + name + "'"), { code: 'ERR_MODULE_NOT_FOUND' });
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
