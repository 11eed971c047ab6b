// The HTTP store's way to a server that is simulated: requests and answers go through the faulty network, each within its time;
// hints over a line of their own. Everything above it, from the batches to the reader of hints, is what ships.
import type { Clock } from '../../src/domain/clock.js';
import { HttpStore, type ServerFacts } from '../../src/stores/http/http-store.js';
import { Calls } from '../../src/stores/http/calls.js';
import type { Answered, Ask, OpenStream, Transport } from '../../src/stores/http/transport.js';
import { closed, errorOf, isProblem, late, translateError } from '../../src/stores/http/translate-error.js';
import type { FaultyNetwork } from './faulty-network.js';
import { HintLine } from './hint-line.js';
import type { SimulatedProcess } from './simulated-process.js';
import type { HttpAnswer, SimulatedServer } from './simulated-server.js';
import { Violation, type World } from './world.js';

const WHERE = 'http://the.server';
const OPEN_WITHIN_MS = 5_000;

class SimulatedTransport implements Pick<Transport, 'where' | 'send' | 'stream' | 'close'> {
  readonly where = WHERE;
  readonly #world: World;
  readonly #network: FaultyNetwork;
  readonly #server: SimulatedServer;
  readonly #process: SimulatedProcess;
  readonly #clock: Clock;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #pending = new Set<() => void>();
  readonly #lines = new Set<HintLine>();
  #isClosed = false;

  constructor(world: World, network: FaultyNetwork, server: SimulatedServer, process: SimulatedProcess) {
    this.#world = world;
    this.#network = network;
    this.#server = server;
    this.#process = process;
    this.#clock = process.clock;
    this.#headers = { accept: 'application/json', 'holdfast-client': process.clock.randomText() };
  }

  async send(ask: Ask): Promise<Answered> {
    const answer = await this.#ask(ask);
    if (answer.status !== 200) throw this.#errorOf(answer);
    return { body: JSON.parse(answer.text) as unknown, protocol: answer.protocol };
  }

  stream(path: string, withinMs: number): { readonly opened: Promise<OpenStream>; readonly cancel: () => void } {
    const line = new HintLine(this.#world, this.#network, this.#process);
    this.#lines.add(line);
    const opening = this.#ask({ method: 'GET', path, withinMs, isRepeatable: true }, line);
    const opened = opening.then((answer) => {
      if (answer.status !== 200) throw this.#errorOf(answer);
      return line.opened;
    });
    return { opened, cancel: () => line.leave() };
  }

  close(): void {
    this.#isClosed = true;
    for (const fail of this.#pending) fail();
    for (const line of this.#lines) line.leave();
  }

  #ask(ask: Ask, line?: HintLine): Promise<Exclude<HttpAnswer, { broken: string }>> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) throw closed();
      const { method, path, body, withinMs } = ask;
      const over = (): void => {
        timer.cancel();
        this.#pending.delete(hangUp);
      };
      const fail = (error: Error): void => {
        over();
        reject(translateError(error, WHERE));
      };
      const hangUp = (): void => fail(broken('ECONNRESET'));
      const timer = this.#clock.after(withinMs, () => fail(late(WHERE, withinMs)), true);
      this.#pending.add(hangUp);
      const request = { method, path, body, headers: this.#headers };
      this.#network
        .call(this.#process, 'http', [path], () => this.#server.handle(request, line))
        .then((answer) => {
          if ('broken' in answer) return fail(broken(answer.broken));
          over();
          resolve(answer);
        }, fail);
    });
  }

  #errorOf({ status, text }: { status: number; text: string }): Error {
    const problem = JSON.parse(text) as unknown;
    if (isProblem(problem)) return errorOf(problem);
    return new Violation(`W2: the server answers ${status}: ${text}`);
  }
}

function broken(code: string): Error {
  return Object.assign(new Error(`the connection failed: ${code}`), { code });
}

/** As `connect('http://…')` opens it. */
export async function openSimulatedHttp(
  world: World,
  network: FaultyNetwork,
  server: SimulatedServer,
  process: SimulatedProcess,
): Promise<HttpStore> {
  const transport = new SimulatedTransport(world, network, server, process);
  try {
    const ask = { method: 'GET', path: '/v1/store', withinMs: OPEN_WITHIN_MS, isRepeatable: true } as const;
    const { body } = await transport.send(ask);
    return new HttpStore(new Calls(transport as unknown as Transport, process.clock), 'default', body as ServerFacts);
  } catch (error) {
    transport.close();
    throw error;
  }
}
