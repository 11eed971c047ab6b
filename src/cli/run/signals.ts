// The signals `run` is sent. While it waits for the lease they end the wait; while the command runs they are the command's.
// Ctrl-Z is nobody's: a holder that is stopped cannot renew, and would be killed for it.

const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
const PASSED = ['SIGUSR1', 'SIGUSR2', 'SIGWINCH'] as const;
const IGNORED = ['SIGTSTP'] as const;

export class Signals {
  readonly #controller = new AbortController();
  readonly #handlers: (readonly [NodeJS.Signals, () => void])[];
  #receiver: ((name: NodeJS.Signals) => void) | undefined;
  /** The first signal that told `run` to end. */
  told: NodeJS.Signals | undefined;

  constructor() {
    this.#handlers = [
      ...ENDING.map((name) => [name, () => this.#end(name)] as const),
      ...PASSED.map((name) => [name, () => this.#receiver?.(name)] as const),
      ...IGNORED.map((name) => [name, () => undefined] as const),
    ];
    for (const [name, handler] of this.#handlers) process.on(name, handler);
  }

  /** Aborts when `run` is told to end. */
  get ending(): AbortSignal {
    return this.#controller.signal;
  }

  passTo(receiver: ((name: NodeJS.Signals) => void) | undefined): void {
    this.#receiver = receiver;
  }

  dispose(): void {
    for (const [name, handler] of this.#handlers) process.off(name, handler);
  }

  #end(name: NodeJS.Signals): void {
    this.told ??= name;
    this.#controller.abort();
    this.#receiver?.(name);
  }
}
