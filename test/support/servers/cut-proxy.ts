// A TCP proxy in front of any test server, in the test's hand: it passes bytes, cuts live connections (a reset that both sides
// notice), black-holes them (bytes vanish, nobody is told: a half-open socket) or lets only answers come late. Bytes are never
// changed or reordered.
import { once } from 'node:events';
import { connect as dial, createServer, type AddressInfo, type Socket } from 'node:net';

export type Passing = 'pass' | 'swallow' | 'refuse';

interface Pair {
  readonly place: number;
  readonly client: Socket;
  readonly server: Socket;
  /** What is read from this side goes nowhere. */
  clientMuted: boolean;
  serverMuted: boolean;
  /** Answers on their way, the oldest first; the end of the connection is one too. */
  readonly late: { readonly at: number; readonly pass: () => void }[];
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
  /** The server's answers come this much later from now on, to all or to one connection (1 is the first); requests pass at once. */
  delayAnswers(ms: number, only?: number): void;
  /** What becomes of connections from now on: passed, taken but swallowed, or reset at once. */
  newConnections(passing: Passing): void;
  /** Everything as at the start; what was black-holed is cut, for its bytes are gone. */
  heal(): void;
  close(): Promise<void>;
}

export async function startCutProxy(targetPort: number, targetHost = '127.0.0.1'): Promise<CutProxy> {
  const pairs = new Set<Pair>();
  let passing: Passing = 'pass';
  let delay: { ms: number; only?: number | undefined } = { ms: 0 };
  const delayOf = ({ place }: Pair): number => (delay.only === undefined || delay.only === place ? delay.ms : 0);
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
    server.on('error', () => reset(client));
    client.setNoDelay(true);
    server.setNoDelay(true);
    const swallowed = passing === 'swallow';
    const pair: Pair = { place: taken, client, server, clientMuted: swallowed, serverMuted: swallowed, late: [] };
    pairs.add(pair);
    client.on('data', (bytes) => {
      bytesFromClients += bytes.length;
      if (!pair.clientMuted) server.write(bytes);
    });
    server.on('data', (bytes) => {
      answer(pair, delayOf(pair), () => client.write(bytes));
    });
    client.on('end', () => {
      if (!pair.clientMuted) server.end();
    });
    server.on('end', () => {
      answer(pair, delayOf(pair), () => client.end());
    });
    client.on('close', () => {
      pairs.delete(pair);
      server.destroy();
    });
    server.on('close', () => {
      answer(pair, delayOf(pair), () => client.destroy());
    });
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');

  const cutPairs = (which: (pair: Pair) => boolean): void => {
    for (const pair of [...pairs].filter(which)) {
      pairs.delete(pair);
      reset(pair.client);
      reset(pair.server);
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
    delayAnswers(ms, only) {
      delay = { ms, only };
    },
    newConnections(next) {
      passing = next;
    },
    heal() {
      passing = 'pass';
      delay = { ms: 0 };
      cutPairs((pair) => pair.clientMuted || pair.serverMuted);
    },
    async close() {
      cutPairs(() => true);
      listener.close();
      await once(listener, 'close');
    },
  };
}

/** A socket that has said its goodbye cannot be reset any more: Node would neither close it nor say so. */
function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}

/** Passes an answer on after its delay, and never before an earlier one. */
function answer(pair: Pair, delayMs: number, pass: () => void): void {
  const passIfHeard = (): void => {
    if (!pair.serverMuted && !pair.client.destroyed) pass();
  };
  if (delayMs === 0 && pair.late.length === 0) {
    passIfHeard();
    return;
  }
  const last = pair.late.at(-1)?.at ?? 0;
  pair.late.push({ at: Math.max(last, performance.now() + delayMs), pass: passIfHeard });
  if (pair.late.length === 1) passWhenDue(pair);
}

function passWhenDue(pair: Pair): void {
  const [first] = pair.late;
  if (first === undefined) return;
  setTimeout(
    () => {
      pair.late.shift();
      first.pass();
      passWhenDue(pair);
    },
    Math.max(0, first.at - performance.now()),
  ).unref();
}
