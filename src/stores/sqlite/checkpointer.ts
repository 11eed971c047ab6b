// Checkpoints in a worker (S20): copying the WAL into the file and the fsyncs that go with it never happen on the loop.
// The worker is started after the first few hundred commits, so a short command never pays for it.
//
// Orders and answers pass through shared memory, not messages: a program that keeps its loop busy with promises alone
// still gets its checkpoints. The worker first copies what it can without disturbing anybody (PASSIVE); when the WAL
// stays long because writers never pause, it takes the write lock for the short rest (RESTART), and the next writer
// begins the WAL anew. Commits that wait for the disk wait twice as long while the WAL still grows (docs/decisions/0005),
// so where there are such commits it is begun anew much sooner.
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';

const COMMITS_BEFORE_FIRST = 256;
const COMMITS_BETWEEN = 512;
/** Pages in the WAL from which the worker asks for the write lock; the second once a commit has waited for the disk. */
const LONG_WAL_PAGES = 4_096;
const LONG_DURABLE_WAL_PAGES = 1_000;
/** As how many a commit counts that waits for the disk: it writes more pages, and each costs it more. */
const DURABLE_WEIGHT = 4;
const STOP = -1;
const LONG_WAL = 2;

/** Plain JavaScript, so that it runs alike from the sources under test and from the built package. */
const WORKER_CODE = `
const { parentPort, workerData } = require('node:worker_threads');
const Driver = require(workerData.driver);
const [ORDERED, DONE, LONG_WAL] = [0, 1, 2];
const { shared } = workerData;
const db = new Driver(workerData.path, { timeout: 20, fileMustExist: true });
for (let done = 0; ; ) {
  Atomics.wait(shared, ORDERED, done);
  const ordered = Atomics.load(shared, ORDERED);
  if (ordered === ${STOP}) break;
  try {
    const [{ log }] = db.pragma('wal_checkpoint(PASSIVE)');
    if (log > Atomics.load(shared, LONG_WAL)) db.pragma('wal_checkpoint(RESTART)');
  } catch (error) {
    if (!String(error.code).startsWith('SQLITE_BUSY')) parentPort.postMessage(error.message);
  }
  done = ordered;
  Atomics.store(shared, DONE, done);
}
db.close();
`;

export class Checkpointer {
  readonly #path: string;
  readonly #shared = new Int32Array(new SharedArrayBuffer(12));
  #worker: Worker | undefined;
  #exited: Promise<unknown> = Promise.resolve();
  #commits = 0;
  /** The last trouble a checkpoint had: shown by info(), for nothing depends on one checkpoint. */
  trouble: string | undefined;

  constructor(path: string) {
    this.#path = path;
    this.#shared[LONG_WAL] = LONG_WAL_PAGES;
  }

  /** Never throws: a checkpoint that cannot be ordered is trouble, and no reason to fail a write that is done. */
  committed(isDurable: boolean): void {
    try {
      if (isDurable) Atomics.store(this.#shared, LONG_WAL, LONG_DURABLE_WAL_PAGES);
      this.#count(isDurable ? DURABLE_WEIGHT : 1);
    } catch (error) {
      this.trouble = error instanceof Error ? error.message : 'the checkpoint worker could not be started';
    }
  }

  #count(weight: number): void {
    this.#commits += weight;
    if (this.#commits < (this.#worker ? COMMITS_BETWEEN : COMMITS_BEFORE_FIRST)) return;
    const ordered = Atomics.load(this.#shared, 0);
    if (ordered !== Atomics.load(this.#shared, 1)) return;
    this.#commits = 0;
    this.#worker ??= this.#start();
    this.#order(ordered + 1);
  }

  #order(order: number): void {
    Atomics.store(this.#shared, 0, order);
    Atomics.notify(this.#shared, 0);
  }

  #start(): Worker {
    const driver = createRequire(import.meta.url).resolve('better-sqlite3');
    const workerData = { path: this.#path, driver, shared: this.#shared };
    const worker = new Worker(WORKER_CODE, { eval: true, workerData, execArgv: [] });
    worker.unref();
    this.#exited = new Promise((resolve) => {
      worker.once('exit', resolve);
    });
    worker.once('exit', () => this.#over(worker));
    worker.on('message', (message: string) => {
      this.trouble = message;
    });
    worker.on('error', (error) => {
      this.trouble = (error as Partial<Error> | undefined)?.message ?? 'the checkpoint worker failed';
    });
    return worker;
  }

  /** A worker that ended, however it did, owes nothing more: the next order starts another. */
  #over(worker: Worker): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    Atomics.store(this.#shared, 0, 0);
    Atomics.store(this.#shared, 1, 0);
  }

  async stop(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    if (!worker) return;
    worker.ref();
    this.#order(STOP);
    await this.#exited;
  }
}
