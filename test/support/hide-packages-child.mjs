// Makes packages look as if they were not installed, or others as if they were these:
// HIDE=ioredis,redis=redis-oldest node --import hide-packages-child.mjs PROGRAM
import { register } from 'node:module';

const instead = JSON.stringify(
  Object.fromEntries(
    (process.env['HIDE'] ?? '')
      .split(',')
      .map((one) => one.split('='))
      .map(([name, other]) => [name, other ?? null]),
  ),
);
const hooks = `const instead = ${instead};
export function resolve(name, context, next) {
  if (!(name in instead)) return next(name, context);
  if (instead[name] !== null) return next(instead[name], context);
  throw Object.assign(new Error("Cannot find package '" + name + "'"), { code: 'ERR_MODULE_NOT_FOUND' });
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
