// Worlds in as many processes as there are cores to run them on. They are bundled once, as the package itself is, because what a
// test runner puts around every import costs a world a third of its time.
import { fork, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import type { Batch, BatchResult } from './batch.js';

const MOST_PROCESSES = 2;
/** Loaded on demand by what no world asks for. */
const DRIVERS = /^(?:better-sqlite3|ioredis|pg|prom-client|redis|@opentelemetry)(?:\/|$)/;

type Reply = { readonly result: BatchResult } | { readonly error: string };

export class SeedsPool {
  readonly #folder: string;
  readonly #children: readonly ChildProcess[];

  private constructor(folder: string, children: readonly ChildProcess[]) {
    this.#folder = folder;
    this.#children = children;
  }

  static async start(): Promise<SeedsPool> {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-worlds-'));
    const bundle = await rolldown({
      input: { 'seeds-child': fileURLToPath(new URL('./seeds-child.ts', import.meta.url)) },
      platform: 'node',
      external: [/^node:/, DRIVERS],
      logLevel: 'silent',
    });
    await bundle.write({
      dir: folder,
      format: 'esm',
      entryFileNames: '[name].mjs',
      chunkFileNames: '[name]-[hash].mjs',
    });
    await bundle.close();
    // Young objects die young in a world; a crashed process of a world leaves its files open, which Node would remark on.
    const execArgv = ['--max-semi-space-size=32', '--no-warnings'];
    const many = Math.min(MOST_PROCESSES, availableParallelism());
    const children = Array.from({ length: many }, () =>
      fork(join(folder, 'seeds-child.mjs'), { execArgv, serialization: 'advanced' }),
    );
    return new SeedsPool(folder, children);
  }

  /** In order, each by whoever is free. After a failure nothing new is begun. */
  async run(batches: readonly Batch[]): Promise<BatchResult[]> {
    const results: BatchResult[] = [];
    let next = 0;
    const work = async (child: ChildProcess): Promise<void> => {
      for (let batch = batches[next]; batch; batch = batches[next]) {
        next += 1;
        const result = await ask(child, batch);
        results.push(result);
        if (result.failure) next = batches.length;
      }
    };
    await Promise.all(this.#children.map(work));
    return results;
  }

  async stop(): Promise<void> {
    for (const child of this.#children) child.disconnect();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function ask(child: ChildProcess, batch: Batch): Promise<BatchResult> {
  return new Promise((resolve, reject) => {
    const died = (code: number | null): void =>
      reject(new Error(`the worlds ${JSON.stringify(batch)} ended with ${code}`));
    child.once('exit', died);
    child.once('message', (reply: Reply) => {
      child.off('exit', died);
      if ('result' in reply) resolve(reply.result);
      else reject(new Error(reply.error));
    });
    child.send(batch);
  });
}
