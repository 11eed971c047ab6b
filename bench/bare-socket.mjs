// The least a Node process can send to a Redis server: commands as texts over a plain socket, one at a time, and whatever comes back taken
// for the answer. What a client library costs is the difference.
import net from 'node:net';
import { once } from 'node:events';

export const asText = (args) =>
  `*${args.length}\r\n${args.map((arg) => `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`).join('')}`;

/** `ask` resolves with the first bytes that come back; what `hear` was given is called for all that nobody asked for. */
export async function openBareSocket(url) {
  const { hostname, port } = new URL(url);
  const socket = net.connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, 'connect');
  let tell;
  let heard;
  socket.on('data', (bytes) => {
    const first = tell;
    tell = undefined;
    if (first) first(bytes.toString());
    else heard?.();
  });
  return {
    ask: (text) =>
      new Promise((resolve) => {
        tell = resolve;
        socket.write(text);
      }),
    hear: (listener) => {
      heard = listener;
    },
    close: () => socket.destroy(),
  };
}
