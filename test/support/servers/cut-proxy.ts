// A TCP proxy in front of any test server, in the test's hand: it passes bytes, cuts live connections (a reset that both sides
// notice) or black-holes them (bytes vanish, nobody is told: a half-open socket). Bytes are never changed or reordered.
import { once } from 'node:events';
import { connect as dial, createServer, type AddressInfo, type Socket } from 'node:net';

export type Passing = 'pass' | 'swallow' | 'refuse';

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** What is read from this side goes nowhere. */
  clientMuted: boolean;
  serverMuted: boolean;
}

export interface CutProxy {
  readonly port: number;
  /** Connections open through it now. */
  readonly open: number;
  /** Connections ever taken. */
  readonly taken: number;
  /** Bytes that came from clients, swallowed ones included. */
  readonly bytesFromClients: number;
  /** Resets every live connection; new ones go on as before. */
  cut(): void;
  /** Live connections stay open and say nothing more, in both directions or only the server's answers. */
  blackHole(what?: 'both' | 'answers'): void;
  /** What becomes of connections from now on: passed, taken but swallowed, or reset at once. */
  newConnections(passing: Passing): void;
  /** Everything as at the start; what was black-holed is cut, for its bytes are gone. */
  heal(): void;
  close(): Promise<void>;
}

export async function startCutProxy(targetPort: number, targetHost = '127.0.0.1'): Promise<CutProxy> {
  const pairs = new Set<Pair>();
  let passing: Passing = 'pass';
  let taken = 0;
  let bytesFromClients = 0;

  const listener = createServer((client) => {
    client.on('error', () => undefined); // a reset is what a proxy is for
    if (passing === 'refuse') {
      client.resetAndDestroy();
      return;
    }
    taken += 1;
    const server = dial(targetPort, targetHost);
    server.on('error', () => client.resetAndDestroy());
    client.setNoDelay(true);
    server.setNoDelay(true);
    const swallowed = passing === 'swallow';
    const pair: Pair = { client, server, clientMuted: swallowed, serverMuted: swallowed };
    pairs.add(pair);
    client.on('data', (bytes) => {
      bytesFromClients += bytes.length;
      if (!pair.clientMuted) server.write(bytes);
    });
    server.on('data', (bytes) => {
      if (!pair.serverMuted) client.write(bytes);
    });
    client.on('end', () => {
      if (!pair.clientMuted) server.end();
    });
    server.on('end', () => {
      if (!pair.serverMuted) client.end();
    });
    client.on('close', () => {
      pairs.delete(pair);
      server.destroy();
    });
    server.on('close', () => {
      if (!pair.serverMuted) client.destroy();
    });
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');

  const cutPairs = (which: (pair: Pair) => boolean): void => {
    for (const pair of [...pairs].filter(which)) {
      pairs.delete(pair);
      pair.client.resetAndDestroy();
      pair.server.resetAndDestroy();
    }
  };
  return {
    port: (listener.address() as AddressInfo).port,
    get open() {
      return pairs.size;
    },
    get taken() {
      return taken;
    },
    get bytesFromClients() {
      return bytesFromClients;
    },
    cut: () => cutPairs(() => true),
    blackHole(what = 'both') {
      for (const pair of pairs) {
        pair.serverMuted = true;
        if (what === 'both') pair.clientMuted = true;
      }
    },
    newConnections(next) {
      passing = next;
    },
    heal() {
      passing = 'pass';
      cutPairs((pair) => pair.clientMuted || pair.serverMuted);
    },
    async close() {
      cutPairs(() => true);
      listener.close();
      await once(listener, 'close');
    },
  };
}
