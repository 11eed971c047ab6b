// The streams of one connection: opened by name, sharing one line to the store, one subscription and one recoverer.
import { checkStream } from '../domain/check-sequence.js';
import { invalid, shown } from '../domain/errors.js';
import type { LeaseManager } from '../manager/lease-manager.js';
import type { SequenceOptions } from './face.js';
import { SequenceLink } from './sequence-link.js';
import { OpenStream } from './stream.js';
import { WakeRoom } from './wake-room.js';

export class Sequences {
  readonly #link: SequenceLink;
  readonly #room: WakeRoom;

  constructor(manager: LeaseManager) {
    this.#link = new SequenceLink(manager);
    this.#room = new WakeRoom(manager.clock, () => this.#link.store);
  }

  stream<Op>(name: string, options: SequenceOptions = {}): OpenStream<Op> {
    checkStream(name);
    checkOptions(options);
    if (options.durability === 'accept-loss') this.#link.acceptsLoss = true;
    this.#link.checkStore();
    const parts = {
      link: this.#link,
      room: this.#room,
      unblock: async () => undefined,
      keeper: undefined,
      stretched: async (ttlMs: number) => ttlMs,
    };
    return new OpenStream<Op>(parts, name);
  }

  close(): void {
    this.#link.close();
  }
}

function checkOptions(options: SequenceOptions): void {
  const { spool, durability } = options;
  if (spool !== undefined && (typeof spool !== 'string' || spool === ''))
    throw invalid(`spool is a folder of this machine, got ${shown(spool)}`);
  if (durability !== undefined && durability !== 'accept-loss')
    throw invalid(`durability is 'accept-loss' or left out, got ${shown(durability)}`);
}
