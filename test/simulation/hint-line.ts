// The connection over which a server's hints reach one process: in order, late, and over when it breaks. A line that is cut
// falls silent and says nothing of it, or is reset; its listener finds out by itself.
import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { OpenStream } from '../../src/stores/http/transport.js';
import type { FaultyNetwork } from './faulty-network.js';
import type { SimulatedProcess } from './simulated-process.js';
import type { World } from './world.js';

/** What the reader of hints uses of a response. */
class HintResponse extends EventEmitter {
  setEncoding(): void {
    // Text is sent as text here.
  }
}

export class HintLine {
  readonly #world: World;
  readonly #network: FaultyNetwork;
  readonly #process: SimulatedProcess;
  readonly #response = new HintResponse();
  readonly #underWay: (string | undefined)[] = [];
  #isOver = false;
  #isSilent = false;
  /** The server hears, some time, that its client has left. */
  onLeft: () => void = () => undefined;

  constructor(world: World, network: FaultyNetwork, process: SimulatedProcess) {
    this.#world = world;
    this.#network = network;
    this.#process = process;
  }

  get opened(): OpenStream {
    return { response: this.#response as unknown as IncomingMessage, close: () => this.leave() };
  }

  /** By the server. */
  send(text: string): void {
    this.#put(text);
  }
  /** By the server, or by what lies between. */
  end(): void {
    this.#put(undefined);
  }

  /** By the client. */
  leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const world = this.#world;
    if (!this.#network.isCut(this.#process, 'out')) world.at(world.now + this.#network.delayMs(), () => this.onLeft());
  }

  #put(text: string | undefined): void {
    if (this.#isOver || this.#isSilent) return;
    const { random, now } = this.#world;
    const isLost = random.chance(this.#network.traits.lostReplyShare);
    const isReset = isLost && random.chance(0.5);
    this.#isSilent = this.#network.isCut(this.#process, 'in') || isLost;
    if (this.#isSilent && !isReset) return;
    this.#underWay.push(isReset ? undefined : text);
    // Whichever of these events comes first carries what was sent first.
    this.#process.deliver(now + this.#network.delayMs(), () => this.#hear(this.#underWay.shift()));
  }

  #hear(text: string | undefined): void {
    if (this.#isOver) return;
    if (text !== undefined) {
      this.#world.tell(() => `${this.#process.name} hears over its line: ${text.trim().replaceAll('\n', ' ')}`);
      this.#response.emit('data', text);
      return;
    }
    this.#isOver = true;
    this.#response.emit('close');
  }
}
