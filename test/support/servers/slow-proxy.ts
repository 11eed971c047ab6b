// A TCP proxy that passes everything late: a store far away, or one that is overloaded. Bytes keep their order.
import { once } from 'node:events';
import { connect as dial, createServer, type AddressInfo, type Socket } from 'node:net';

export interface SlowProxy {
  readonly port: number;
  close(): Promise<void>;
}

export async function startSlowProxy(targetPort: number, delayMs: number): Promise<SlowProxy> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
  };
  const listener = createServer((client) => {
    const server = dial(targetPort, '127.0.0.1');
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      keep(from);
      from.on('data', (bytes) => setTimeout(() => !to.destroyed && to.write(bytes), delayMs));
      from.on('close', () => setTimeout(() => to.destroy(), delayMs));
    }
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    port: (listener.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy();
      listener.close();
      await once(listener, 'close');
    },
  };
}
