// Streams of one namespace of a file (N1 to N6): the sequence protocol in one BEGIN IMMEDIATE a step, committed with
// synchronous=FULL, so that what was answered survives a power cut whatever the leases beside it do.
//
// Whoever waits in another process is told by a bell of their own (docs/decisions/0008), rung only while somebody waited
// lately, and finds what it missed by the poll of `data_version`.
import { SequencesOverRows, SettledListeners } from '../protocol/sequence/over-rows.js';
import type { SequenceStep } from '../protocol/sequence/rows.js';
import type { SequenceListener, SequenceStore } from '../sequence-store.js';
import type { Reply } from '../store.js';
import { Bell } from './bell.js';
import { Neighbours } from './neighbours.js';
import { SqlSequenceRows } from './sequence-rows.js';
import { SequenceStatements } from './sequence-statements.js';
import type { SqliteFile } from './sqlite-file.js';

const DURABILITY = 'a committed operation survives a power cut: streams are written with synchronous=FULL';

export class FileSequences {
  readonly store: SequenceStore;
  readonly #file: SqliteFile;
  readonly #namespace: string;
  readonly #changed: () => void;
  readonly #listeners = new SettledListeners();
  readonly #bell: Bell;
  readonly #neighbours: Neighbours;
  #statements: SequenceStatements | undefined;
  #version: unknown;

  /** `changed` is called after every step that wrote. */
  constructor(file: SqliteFile, namespace: string, changed: () => void) {
    this.#file = file;
    this.#namespace = namespace;
    this.#changed = changed;
    this.#bell = new Bell(`${file.path}-streams`);
    const heard = (streams: readonly string[]): void => this.#tell(streams.filter((name) => name !== ''));
    this.#neighbours = new Neighbours(this.#bell, file.clock, () => this.#look(), heard);
    this.store = new SequencesOverRows({
      step: (act) => this.#step(act),
      look: (act) => this.#read(act),
      subscribe: (listener) => this.#subscribe(listener),
      durability: DURABILITY,
    });
  }

  close(): void {
    this.#listeners.clear();
    this.#neighbours.stop();
    this.#bell.close();
  }

  get #sql(): SequenceStatements {
    return (this.#statements ??= new SequenceStatements(this.#file.db));
  }

  async #step<T extends object>(act: (step: SequenceStep) => T): Promise<T & Reply> {
    const settled = new Set<string>();
    const isWatched = new Set<string>();
    const answer = await this.#file.write(
      this.#namespace,
      ({ now, rows: leaseRows, space }) => {
        settled.clear();
        isWatched.clear();
        let logged = space.epoch;
        const rows = new SqlSequenceRows(this.#sql, space.id, (entry) => {
          leaseRows.log(entry);
          logged = space.epoch;
        });
        const reply = act({ now, rows, space, settled });
        // S2: the last log row carries the counter; what was drawn after it must be written down by itself.
        if (logged !== space.epoch) this.#file.spaces.save(space);
        for (const name of settled) if ((rows.stream(name)?.watchedUntil ?? 0) > now) isWatched.add(name);
        return { ...this.#reply(now, space.settingsVersion), ...reply };
      },
      'durable',
    );
    if (settled.size > 0) this.#file.clock.soon(() => this.#tell([...settled]));
    if (isWatched.size > 0) this.#bell.ring([...isWatched]);
    this.#changed();
    return answer;
  }

  #read<T extends object>(act: (step: SequenceStep) => T): Promise<T & Reply> {
    return this.#file.readInTurn(this.#namespace, ({ now, space }) => {
      const rows = new SqlSequenceRows(this.#sql, space.id, () => undefined);
      return { ...this.#reply(now, space.settingsVersion), ...act({ now, rows, space, settled: new Set() }) };
    });
  }

  #reply(now: number, settingsVersion: number): Reply {
    return { now, incarnation: this.#file.anchor.incarnation, settingsVersion };
  }

  #subscribe(listener: SequenceListener): () => void {
    const leave = this.#listeners.add(listener);
    this.#neighbours.start();
    return () => {
      leave();
      if (this.#listeners.size === 0) this.#neighbours.stop();
    };
  }

  /** Somebody else wrote: perhaps to a stream. Which one is not known, so all that are waited for are named. */
  #look(): void {
    try {
      const version = this.#file.dataVersion();
      if (version === this.#version) return;
      this.#version = version;
      this.#tell([]);
    } catch {
      // A hint that could not be read; whoever waits looks again by itself.
    }
  }

  #tell(streams: readonly string[]): void {
    this.#listeners.tell(streams);
  }
}
