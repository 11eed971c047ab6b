// The same story twice, with the guard and without it: one reads a counter under its lease, is stopped past the ttl, and another
// takes over, counts and ends. Then the first goes on and writes what it had read, raised by one.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Site } from './site.js';

const PROGRAM = fileURLToPath(new URL('twin-child.mjs', import.meta.url));
/** No slot of the crowd's: straight to the server. */
const NO_SLOT = 1_000;

export interface TwinOrder {
  readonly site: Site;
  readonly ttl: number;
  /** The counter. */
  readonly n: number;
  readonly guarded: boolean;
}

/** What became of the late write: `wrote 1`, or `refused STALE_EPOCH`. */
export async function tellTwinStory({ site, ttl, n, guarded }: TwinOrder): Promise<string> {
  const start = (name: string): Half => {
    const owner = `${guarded ? 'guarded' : 'unguarded'}-${name}`;
    const content = { url: site.url(NO_SLOT), counters: site.counters(NO_SLOT), owner, ttl, n, guarded };
    return new Half(content, site.grounds.env('workers'));
  };
  const halves: Half[] = [];
  try {
    const late = start('late');
    halves.push(late);
    await late.says('read');
    late.process.kill('SIGSTOP');
    const next = start('next');
    halves.push(next);
    await next.says('read'); // not before the lease of the other has run out
    next.tell('go');
    await next.says('wrote');
    late.tell('go');
    late.process.kill('SIGCONT');
    const answer = await late.says(guarded ? 'refused' : 'wrote');
    for (const half of halves) half.tell('stop');
    await Promise.all(halves.map((half) => half.ended));
    return answer;
  } finally {
    for (const half of halves) half.process.kill('SIGKILL');
  }
}

class Half {
  readonly process;
  readonly ended: Promise<unknown>;
  readonly #lines: string[] = [];
  readonly #watchers = new Set<() => void>();

  constructor(content: object, env: NodeJS.ProcessEnv) {
    const args = ['--pdeathsig', 'KILL', process.execPath, PROGRAM, JSON.stringify(content)];
    this.process = spawn('setpriv', args, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'inherit'] });
    this.process.stdin.on('error', () => undefined);
    const reader = createInterface({ input: this.process.stdout });
    reader.on('line', (line) => {
      this.#lines.push(line);
      for (const watcher of [...this.#watchers]) watcher();
    });
    this.ended = once(reader, 'close').then(() => {
      this.#lines.push('ended');
      for (const watcher of [...this.#watchers]) watcher();
    });
  }

  tell(order: string): void {
    this.process.stdin.write(`${order}\n`);
  }

  /** Rejects when it ended without saying that. */
  says(word: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const line = this.#lines.find((one) => one.startsWith(word));
        if (line === undefined && !this.#lines.includes('ended')) return;
        this.#watchers.delete(look);
        if (line === undefined) reject(new Error(`it never said "${word}": ${this.#lines.join(' | ')}`));
        else resolve(line);
      };
      this.#watchers.add(look);
      look();
    });
  }
}
