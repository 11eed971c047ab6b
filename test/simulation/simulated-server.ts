// A server between the processes and the store: the door and the routes that ship, as a function from Request to Response, in a
// process of its own that is stopped, killed and started again. What it kept in memory is gone with it.
//
//   up ──crash──▶ down (requests are refused, streams break or fall silent) ──start──▶ up
import type * as port from '../../src/stores/store.js';
import { storeApp, type StoreApp } from '../support/store-app.js';
import type { HintLine } from './hint-line.js';
import type { SimulatedProcess } from './simulated-process.js';
import type { World } from './world.js';

export interface HttpAsk {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}
/** `broken`: the connection ended before there was an answer. */
export type HttpAnswer =
  | { readonly status: number; readonly protocol: string | undefined; readonly text: string }
  | { readonly broken: string };

interface Running {
  readonly process: SimulatedProcess;
  readonly served: StoreApp;
}

export class SimulatedServer {
  readonly #world: World;
  readonly #makeProcess: () => { process: SimulatedProcess; store: port.Store };
  #running: Running | undefined;
  /** Who waits for an answer of the server as it runs now. */
  readonly #underWay = new Set<(answer: HttpAnswer) => void>();
  readonly #lines = new Set<HintLine>();

  constructor(world: World, makeProcess: () => { process: SimulatedProcess; store: port.Store }) {
    this.#world = world;
    this.#makeProcess = makeProcess;
  }

  get process(): SimulatedProcess | undefined {
    return this.#running?.process;
  }

  start(): void {
    if (this.#running) return;
    const { process, store } = this.#makeProcess();
    const served = storeApp(store, process.clock);
    this.#running = { process, served };
    served.access.start().catch(() => undefined); // it is followed all the same
    this.#world.tell(() => `${process.name} is up`);
  }

  /** Its connections are reset, or nobody hears anything more of it. */
  crash(): void {
    this.#running?.process.crash();
    this.#running = undefined;
    const { random } = this.#world;
    for (const answer of this.#underWay) if (random.chance(0.7)) answer({ broken: 'ECONNRESET' });
    this.#underWay.clear();
    for (const line of this.#lines) if (random.chance(0.7)) line.end();
    this.#lines.clear();
  }

  /** One request that has arrived. The answer is that of the app, when its process runs. */
  handle(ask: HttpAsk, line?: HintLine): Promise<HttpAnswer> {
    const running = this.#running;
    if (!running) return Promise.resolve({ broken: 'ECONNREFUSED' });
    return new Promise((resolve) => {
      this.#underWay.add(resolve);
      const answer = (given: HttpAnswer): void => {
        if (this.#underWay.delete(resolve)) resolve(given);
      };
      running.process.deliver(this.#world.now, () => {
        this.#answerOf(running, ask, line).then(answer, (error: unknown) => this.#world.fail(error));
      });
    });
  }

  async #answerOf({ served }: Running, { method, path, body, headers }: HttpAsk, line?: HintLine): Promise<HttpAnswer> {
    const gone = new AbortController();
    const request = new Request(`http://127.0.0.1${path}`, {
      method,
      headers: { host: '127.0.0.1', ...headers, ...(body === undefined ? {} : jsonOf(body)) },
      signal: gone.signal,
      ...(body === undefined ? {} : { body }),
    });
    const response = await served.app.fetch(request);
    const head = { status: response.status, protocol: response.headers.get('holdfast-protocol') ?? undefined };
    if (!line || response.status !== 200 || !response.body) return { ...head, text: await response.text() };
    this.#pump(response.body, line, gone).catch((error: unknown) => this.#world.fail(error));
    return { ...head, text: '' };
  }

  async #pump(body: ReadableStream<Uint8Array>, line: HintLine, gone: AbortController): Promise<void> {
    const reader = body.getReader();
    const decoder = new TextDecoder();
    this.#lines.add(line);
    line.onLeft = () => {
      gone.abort();
      reader.cancel().catch((error: unknown) => this.#world.fail(error));
    };
    for (let piece = await reader.read(); !piece.done; piece = await reader.read())
      line.send(decoder.decode(piece.value));
    this.#lines.delete(line);
    line.end();
  }
}

function jsonOf(body: string): Record<string, string> {
  return { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
}
