// A worker as the test sees it: a process of the crowd (crowd-child.mjs) that dies with the test, what it said it tried and how
// that ended, and everything it said that nobody should have to say (S12).
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Counts } from './site.js';
import type { Attempt, Outcome } from './verdict.js';

const PROGRAM = fileURLToPath(new URL('crowd-child.mjs', import.meta.url));
/** What is kept of what it said, for the message of a failure. */
const TAIL = 30;

export interface WorkerOrder {
  readonly slot: number;
  readonly owner: string;
  readonly env: NodeJS.ProcessEnv;
  /** For crowd-child.mjs. */
  readonly content: object;
}

export class Worker {
  readonly slot: number;
  readonly owner: string;
  readonly attempts = new Map<string, Attempt>();
  readonly tail: string[] = [];
  /** Rejections and errors nobody handled, warnings of Node. */
  readonly unseen: string[] = [];
  readonly ended: Promise<number | string>;
  isOpen = false;
  isPaused = false;
  isOver = false;
  /** Whether the test has ended it; whoever else ends is a failure. */
  isKilled = false;
  done = 0;
  bye: { readonly before: Counts; readonly after: Counts } | undefined;
  readonly #process: ChildProcess;
  readonly #counts = new Map<string, (counts: Counts) => void>();
  #asked = 0;

  constructor({ slot, owner, env, content }: WorkerOrder) {
    this.slot = slot;
    this.owner = owner;
    const args = ['--pdeathsig', 'KILL', process.execPath, PROGRAM, JSON.stringify({ ...content, owner })];
    const child = spawn('setpriv', args, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'inherit'] });
    this.#process = child;
    child.stdin.on('error', () => undefined); // it has ended
    const reader = createInterface({ input: child.stdout });
    reader.on('line', (line) => this.#hear(line));
    this.ended = Promise.all([once(child, 'exit'), once(reader, 'close')]).then(([[code, signal]]) => {
      this.isOver = true;
      return (code ?? signal) as number | string;
    });
  }

  tell(order: 'pause' | 'resume' | 'stop' | `block ${number}`): void {
    if (order === 'resume') this.isPaused = false;
    this.#process.stdin?.write(`${order}\n`);
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void {
    if (signal === 'SIGKILL') this.isKilled = true;
    this.#process.kill(signal);
  }

  counts(): Promise<Counts> {
    this.#asked += 1;
    const key = String(this.#asked);
    this.#process.stdin?.write(`count ${key}\n`);
    return new Promise((resolve) => {
      this.#counts.set(key, resolve);
    });
  }

  #hear(line: string): void {
    const [word = '', key = '', ...rest] = line.split(' ');
    if (word !== 'counts') this.tail.push(line);
    if (this.tail.length > TAIL) this.tail.shift();
    switch (word) {
      case 'try':
        this.attempts.set(key, { op: key, n: Number(rest[0]), epoch: Number(rest[1]), outcome: 'open' });
        break;
      case 'done':
      case 'refused':
      case 'unknown': {
        const attempt = this.attempts.get(key);
        if (attempt) attempt.outcome = word satisfies Outcome;
        if (word === 'done') this.done += 1;
        break;
      }
      case 'open':
        this.isOpen = true;
        break;
      case 'paused':
        this.isPaused = true;
        break;
      case 'counts':
        this.#counts.get(key)?.(JSON.parse(rest.join(' ')) as Counts);
        this.#counts.delete(key);
        break;
      case 'bye':
        this.bye = JSON.parse(line.slice('bye '.length)) as { before: Counts; after: Counts };
        break;
      case 'unhandled':
      case 'warning':
        this.unseen.push(`${this.owner}: ${line}`);
        break;
      default:
        break;
    }
  }
}
