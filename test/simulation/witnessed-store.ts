// A store that is reached by HTTP, with the witness at the port: what a process asks and is answered there is what its trust
// follows from (S7), however it travels below.
import type { HttpStore } from '../../src/stores/http/http-store.js';
import type { Store } from '../../src/stores/store.js';
import type { Call, Witness } from './faulty-network.js';
import type { SimulatedProcess } from './simulated-process.js';
import { answerText, callText } from './words.js';

type Method = (...args: readonly unknown[]) => unknown;

const WITNESSED: ReadonlySet<string> = new Set(['acquire', 'renew', 'end', 'change', 'get', 'revoke', 'failTicket']);

export function witnessed(store: HttpStore, witness: Witness, process: SimulatedProcess): Store {
  const { sequences } = store;
  const streams = sequences && new Proxy(sequences, { get: (target, key) => member(target, key, 'sequence.') });
  return new Proxy<Store>(store, {
    get: (target, key) => (key === 'sequences' ? streams : member(target, key, '')),
  });

  function member(target: object, key: string | symbol, prefix: '' | 'sequence.'): unknown {
    const value = (target as Record<string | symbol, unknown>)[key];
    if (typeof value !== 'function') return value;
    const method = (value as Method).bind(target);
    const isWitnessed = prefix === '' ? WITNESSED.has(String(key)) : key !== 'subscribe';
    return isWitnessed ? (asked: unknown) => call(`${prefix}${String(key)}` as Call, method, asked) : method;
  }

  async function call(name: Call, method: Method, asked: unknown): Promise<unknown> {
    const items: readonly unknown[] = Array.isArray(asked) ? asked : [asked];
    const sentAt = process.clock.monotonic();
    process.world.tell(() => `${process.name} asks for ${callText(name, items)}`);
    witness.sent(process, name, items);
    const answer = await method(asked);
    process.world.tell(() => `${process.name} has its answer: ${callText(name, items)} → ${answerText(answer)}`);
    witness.answered(process, name, items, answer, sentAt);
    return answer;
  }
}
