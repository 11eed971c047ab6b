// The log of a server: one JSON document a line on standard error, for whoever collects it. Lines of one turn of the loop are
// written together; what is waiting is bounded, and counted when it is too much. Nothing that looks like a token is written.
import type { Clock } from '../domain/clock.js';
import type { Logger } from '../observe/logger.js';

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type Level = (typeof LEVELS)[number];
const MOST_WAITING = 10_000;
const SECRETS = /hf_[0-9a-f]{16}_[A-Za-z0-9_-]*/g;

export class JsonLog implements Logger {
  readonly #clock: Clock;
  readonly #write: (text: string) => void;
  readonly #least: number;
  #waiting: string[] = [];
  #dropped = 0;

  constructor(clock: Clock, least: Level, write: (text: string) => void) {
    this.#clock = clock;
    this.#least = LEVELS.indexOf(least);
    this.#write = write;
  }

  debug(facts: object, message: string): void {
    this.#log('debug', facts, message);
  }
  info(facts: object, message: string): void {
    this.#log('info', facts, message);
  }
  warn(facts: object, message: string): void {
    this.#log('warn', facts, message);
  }
  error(facts: object, message: string): void {
    this.#log('error', facts, message);
  }

  flush(): void {
    if (this.#waiting.length === 0) return;
    const lines = this.#waiting;
    this.#waiting = [];
    if (this.#dropped > 0) lines.push(this.#line('warn', { dropped: this.#dropped }, 'log lines were dropped'));
    this.#dropped = 0;
    this.#write(lines.join(''));
  }

  #log(level: Level, facts: object, message: string): void {
    if (LEVELS.indexOf(level) < this.#least) return;
    if (this.#waiting.length >= MOST_WAITING) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(this.#line(level, facts, message));
    if (this.#waiting.length === 1) this.#clock.soon(() => this.flush());
  }

  #line(level: Level, facts: object, message: string): string {
    const time = new Date(this.#clock.wall()).toISOString();
    const text = JSON.stringify({ time, level, message, ...facts }, (_, value: unknown) => plain(value));
    return `${text.replace(SECRETS, 'hf_…')}\n`;
  }
}

/** An error has nothing that JSON shows. */
function plain(value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  const { name, message, stack, cause, code } = value as Error & { code?: unknown };
  const isOurs = name === 'LeaseError';
  return { name, code, message, ...(isOurs ? {} : { stack }), ...(cause === undefined ? {} : { cause }) };
}
