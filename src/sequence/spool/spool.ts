// The spool (V7): results that could not be committed are kept on this machine's disk and stored when the store is back:
// under their own lease while it lives, else moved. Storing is by operation id, so a result is never stored twice, whoever
// asks how often. What the store refuses for good is set aside in a file of its own, for a person; it is not lost either.
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { TimerHandle } from '../../domain/clock.js';
import type { ResultKeeper } from '../result-keeper.js';
import type { RecoveryLog } from '../recovery/recoverer.js';
import type { SequenceLink } from '../sequence-link.js';
import { SpoolFile } from './spool-file.js';
import { homeOf } from './spool-owner.js';
import type { SpooledResult } from './spool-record.js';

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** JSON, one result a line. */
const REFUSED = 'refused.jsonl';

export class Spool implements ResultKeeper {
  readonly #link: SequenceLink;
  readonly #folder: string;
  readonly #log: RecoveryLog;
  /** Where the store is, as far as that is known. */
  readonly #place: string | undefined;
  #opening: Promise<SpoolFile> | undefined;
  #timer: TimerHandle | undefined;
  #pauseMs = FIRST_PAUSE_MS;
  #isClosed = false;
  #draining: Promise<void> | undefined;

  constructor(link: SequenceLink, folder: string, log: RecoveryLog, place?: string) {
    this.#link = link;
    this.#folder = folder;
    this.#log = log;
    this.#place = place;
  }

  /** Opens the folder and goes on with what was left there. Trouble is told by the first result that has to be kept. */
  start(): void {
    this.#file().then(
      (file) => {
        const { foreign, behind } = file;
        if (file.results.length > 0 || behind) this.#later(0);
        if (foreign.length > 0)
          this.#log.warn(
            { folder: this.#folder, foreign },
            'the spool has files of other machines, or for other stores or namespaces: they are let be',
          );
      },
      (error: unknown) => this.#log.warn({ err: error, folder: this.#folder }, 'the spool cannot be opened'),
    );
  }

  /** Also after it was closed: what comes late finds a file of its own. */
  async keep(result: SpooledResult): Promise<void> {
    await (await this.#file()).keep(result);
    if (this.#isClosed) return this.close();
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#later(this.#pauseMs);
  }
  async drop(stream: string, operationId: string): Promise<void> {
    await (await this.#file()).done(stream, operationId);
  }
  /** How many results wait. */
  async waiting(): Promise<number> {
    return (await this.#file()).results.length;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#draining;
    const opening = this.#opening;
    this.#opening = undefined;
    const file = await opening?.catch(() => undefined);
    await file?.close();
  }

  #file(): Promise<SpoolFile> {
    const home = homeOf(this.#link.manager.link.store, this.#place);
    this.#opening ??= SpoolFile.open(this.#folder, this.#link.clock, home).catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  #later(ms: number): void {
    this.#timer?.cancel();
    if (this.#link.life.aborted) return;
    // It keeps the process alive: what is in the spool was finished work.
    this.#timer = this.#link.clock.after(ms, () => this.#drain(), true);
  }

  #drain(): void {
    this.#draining ??= this.#storeAll()
      .catch((error: unknown) => {
        this.#log.warn({ err: error, folder: this.#folder }, 'the spool waits for the store');
        return true;
      })
      .then((isLeft) => {
        this.#draining = undefined;
        if (!isLeft) return;
        this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
        this.#later(this.#pauseMs);
      });
  }

  /** True when something is left to be tried again. */
  async #storeAll(): Promise<boolean> {
    const file = await this.#file();
    let isLeft = false;
    for (const result of file.results) {
      if (this.#link.life.aborted) return true;
      if (await this.#storeOne(result)) await file.done(result.stream, result.operationId);
      else isLeft = true;
    }
    if (!file.behind) return isLeft || file.results.length > 0; // some may have come meanwhile, and found this under way
    await file.takeOver(this.#folder, this.#link.clock);
    if (file.behind)
      this.#log.warn({ err: file.behind, folder: this.#folder }, 'the spool has more than it can take over');
    return true;
  }

  /** False when it is to be asked again: only what is refused for good is given up. */
  async #storeOne(result: SpooledResult): Promise<boolean> {
    const request = { ...result, owner: this.#link.owner, type: 'spool' } as const;
    const { results } = await this.#link.call('append', (store) => store.append([request]));
    const [answer] = results;
    if (answer?.outcome === 'stored') return true;
    if (answer?.outcome === 'busy') return false;
    if (answer?.outcome === 'failed' && answer.error.retryable) return false; // not now: the number is in a transaction, say
    const why = answer?.outcome === 'failed' ? answer.error.message : 'stored already with other content';
    await setAside(join(this.#folder, REFUSED), JSON.stringify({ why, ...result }));
    const facts = { stream: result.stream, operationId: result.operationId, why };
    this.#log.warn(facts, `a spooled result was refused: it is kept in ${REFUSED}`);
    return true;
  }
}

/** A line of its own, also after one that a full disk cut short. */
async function setAside(path: string, line: string): Promise<void> {
  const file = await open(path, 'a+');
  try {
    const { size } = await file.stat();
    const last = Buffer.from('\n');
    if (size > 0) await file.read(last, 0, 1, size - 1);
    await file.appendFile(`${last.toString() === '\n' ? '' : '\n'}${line}\n`);
    await file.datasync();
  } finally {
    await file.close();
  }
}
