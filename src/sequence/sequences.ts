// The streams of one connection: opened by name, sharing one line to the store, one subscription, one recoverer, and one
// spool for each folder that was named.
import { checkKeys } from '../domain/check-keys.js';
import { checkStream } from '../domain/check-sequence.js';
import { invalid, shown } from '../domain/errors.js';
import { LIMITS } from '../domain/limits.js';
import type { StreamFigures } from '../domain/sequence.js';
import type { LeaseManager } from '../manager/lease-manager.js';
import type { SequenceOptions } from './face.js';
import { Cascade } from './recovery/cascade.js';
import { Recoverer, type RecoveryLog } from './recovery/recoverer.js';
import { Registry } from './recovery/registry.js';
import { NumberWork } from './number-work.js';
import { SequenceLink } from './sequence-link.js';
import { Spool } from './spool/spool.js';
import { OpenStream } from './stream.js';
import { WakeRoom } from './wake-room.js';

const LAST_CALLS_MS = 2_000;

export interface SequencesOptions {
  readonly log: RecoveryLog;
  readonly loopLagMs: () => number | undefined;
  /** Where the store is, where a url said it. */
  readonly place?: string | undefined;
}

export class Sequences {
  readonly recoverer: Recoverer;
  readonly #link: SequenceLink;
  readonly #room: WakeRoom;
  readonly #work: NumberWork;
  readonly #registry = new Registry();
  readonly #cascade: Cascade;
  readonly #log: RecoveryLog;
  readonly #place: string | undefined;
  readonly #spools = new Map<string, Spool>();

  constructor(manager: LeaseManager, { log, loopLagMs, place }: SequencesOptions) {
    this.#place = place;
    this.#link = new SequenceLink(manager);
    this.#log = log;
    this.#work = new NumberWork(manager.clock);
    this.#room = new WakeRoom(manager.clock, () => this.#link.store);
    const report = (error: unknown): void => log.warn({ err: error }, 'recovery mode: it goes on as it was');
    this.#cascade = new Cascade(this.#link, this.#registry, report);
    this.recoverer = new Recoverer({
      link: this.#link,
      registry: this.#registry,
      cascade: this.#cascade,
      log,
      loopLagMs,
    });
  }

  stream<Op>(name: string, options: SequenceOptions = {}): OpenStream<Op> {
    checkStream(name);
    checkOptions(options);
    if (options.durability === 'accept-loss') this.#link.acceptLoss(name);
    this.#link.checkStore();
    const parts = {
      link: this.#link,
      room: this.#room,
      work: this.#work,
      recoverer: this.recoverer,
      registry: this.#registry,
      unblock: (stream: string) => this.recoverer.unblock(stream),
      keeper: options.spool === undefined ? undefined : this.#spool(options.spool),
      stretched: (ttlMs: number) => this.#cascade.stretched(ttlMs),
    };
    return new OpenStream<Op>(parts, name);
  }

  async list(query: { after?: string; limit?: number } = {}): Promise<{ items: StreamFigures[]; more: boolean }> {
    const asked = {
      limit: query.limit ?? LIMITS.rowsPerStep,
      ...(query.after === undefined ? {} : { after: query.after }),
    };
    const { streams, more } = await this.#link.call('streams', (store) => store.streams(asked));
    return { items: [...streams], more };
  }

  /** Nothing new is begun; whoever only waits is told. */
  stopIntake(): void {
    this.#link.stopIntake();
  }

  /** No number is held or being committed any more, or the time is over. */
  idle(withinMs: number): Promise<void> {
    return this.#work.idle(withinMs);
  }

  /** Answers that are nearly there are waited for; a number that is being recovered is settled; what could not be committed goes to its
   *  spool, whose file is closed last, and kept when there is something in it. */
  async close(): Promise<void> {
    this.#link.stopIntake();
    await this.#work.settled(LAST_CALLS_MS);
    this.#link.close();
    await Promise.all([this.recoverer.idle(), this.#cascade.leave(), this.#closeSpools()]);
  }

  async #closeSpools(): Promise<void> {
    await this.#work.settled(LAST_CALLS_MS);
    await Promise.all([...this.#spools.values()].map((spool) => spool.close()));
  }

  #spool(folder: string): Spool {
    const known = this.#spools.get(folder);
    if (known) return known;
    const spool = new Spool(this.#link, folder, this.#log, this.#place);
    this.#spools.set(folder, spool);
    spool.start();
    return spool;
  }
}

const KNOWN: ReadonlySet<string> = new Set<keyof SequenceOptions>(['spool', 'durability']);

function checkOptions(options: SequenceOptions): void {
  checkKeys(options, KNOWN, 'of sequence');
  const { spool, durability } = options;
  if (spool !== undefined && (typeof spool !== 'string' || spool === ''))
    throw invalid(`spool is a folder of this machine, got ${shown(spool)}`);
  if (durability !== undefined && durability !== 'accept-loss')
    throw invalid(`durability is 'accept-loss' or left out, got ${shown(durability)}`);
}
