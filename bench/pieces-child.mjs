// One of the eight of bench/pieces.mjs: queue-child.mjs, which also notes when its sockets were written to and read from since it asked.
import net from 'node:net';

const now = () => Number(process.hrtime.bigint()) / 1e6;
let marks = [];

note('_writeGeneric', 'written');
note('push', 'read');
const send = process.send.bind(process);
process.send = (message) => {
  send('heldAt' in message ? { ...message, marks } : message);
  if ('asked' in message || 'heldAt' in message) marks = [];
};
await import('./queue-child.mjs');

function note(method, what) {
  const original = net.Socket.prototype[method];
  net.Socket.prototype[method] = function noted(...args) {
    marks.push([what, now()]);
    return original.apply(this, args);
  };
}
