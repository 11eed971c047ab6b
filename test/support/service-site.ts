// Where a service is tested: a memory store, a clock that is told to move, and a logger that remembers.
import type { Logger } from '../../src/observe/logger.js';
import type { Turn } from '../../src/services/turn.js';
import { MemoryStore } from '../../src/stores/memory/memory-store.js';
import { FakeClock } from '../../src/testing/fake-clock.js';

interface Line {
  readonly level: string;
  readonly message: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

export interface ServiceSite {
  readonly clock: FakeClock;
  readonly store: MemoryStore;
  readonly logger: Logger;
  readonly lines: Line[];
  readonly owner: string;
}

export function serviceSite(seed = 1): ServiceSite {
  const clock = new FakeClock({ seed });
  const lines: Line[] = [];
  const at = (level: string) => (facts: object, message: string) =>
    void lines.push({ level, message, facts: facts as Record<string, unknown> });
  const logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  return { clock, store: new MemoryStore({ clock }), logger, lines, owner: 'process-1' };
}

/** Everything that needs no time has happened: chains of promises, however long. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) {
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }
}

/** Time passes in steps that leave each tick its chain of promises. */
export async function pass(clock: FakeClock, ms: number, steps = 20): Promise<void> {
  for (let step = 0; step < steps; step += 1) {
    await clock.advance(ms / steps);
    await settled();
  }
}

/** A turn that lasts for as long as the test. */
export function endlessTurn(signal: AbortSignal = new AbortController().signal): Turn {
  return { signal, throwIfOver: () => signal.throwIfAborted() };
}
