// A CancelRequest of the PostgreSQL protocol: a connection of its own that carries 16 bytes and gets no answer. Asked for when
// a call took too long, so that the server does not go on with what nobody waits for. It may come to nothing.
import { connect as dial, type Socket } from 'node:net';
import type { Clock } from '../../domain/clock.js';
import type { Client } from './pool-driver.js';

const CANCEL_CODE = 80_877_102;
const PATIENCE_MS = 1_000;

export function requestCancel(client: Client, clock: Clock): void {
  const { processID, secretKey } = client as unknown as { readonly processID?: unknown; readonly secretKey?: unknown };
  if (typeof processID !== 'number' || typeof secretKey !== 'number') return;
  const bytes = Buffer.alloc(16);
  bytes.writeInt32BE(16, 0);
  bytes.writeInt32BE(CANCEL_CODE, 4);
  bytes.writeInt32BE(processID, 8);
  bytes.writeInt32BE(secretKey, 12);
  const socket = dialLike(client);
  socket.unref();
  const timer = clock.after(PATIENCE_MS, () => socket.destroy());
  socket.on('error', () => undefined); // the call it was for is over in any case
  socket.on('close', () => timer.cancel());
  socket.end(bytes);
}

function dialLike({ host, port }: Client): Socket {
  return host.startsWith('/') ? dial(`${host}/.s.PGSQL.${port}`) : dial(port, host);
}
