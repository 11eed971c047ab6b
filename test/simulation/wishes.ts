// What an actor may wish for: few names, so that everything collides; tiny ttls, so that everything expires.
import type { AcquireOptions } from '../../src/manager/face.js';
import { TICKET_LIFE_MS } from '../../src/domain/limits.js';
import type { PartInput } from '../../src/domain/part.js';
import type { Random } from './random.js';

export const LONGEST_TURN_MS = 3 * TICKET_LIFE_MS;
const TOPS = ['a', 'b', 'c'] as const;
const LEAVES = ['a/x', 'a/y', 'b/x'] as const;

export interface Wish {
  readonly parts: PartInput[];
  readonly options: AcquireOptions;
  readonly waitMs: number;
}

export interface WishLimits {
  readonly mayWaitForever: boolean;
  readonly isShared?: boolean;
}

export function wishFrom(random: Random, limits: WishLimits): Wish {
  const parts = partsFrom(random, limits.isShared ?? random.chance(0.3));
  const isManual = random.chance(0.1);
  const wait = waitFrom(random, limits.mayWaitForever);
  const options: AcquireOptions = {
    ttl: random.pick([250, 300, 500, 1_000, 2_000]),
    wait,
    ...(isManual ? { renew: 'manual' } : {}),
    ...(random.chance(0.2) ? { priority: random.whole(-1, 1) } : {}),
    ...(random.chance(0.1) ? { minHold: random.whole(1, 300) } : {}),
    ...(random.chance(0.1) ? { lockDelay: random.whole(1, 300) } : {}),
    ...(random.chance(0.1) ? { maxRenewals: random.whole(0, 3) } : {}),
    ...(random.chance(0.1) ? { maxHold: random.whole(500, 2_500) } : {}),
    ...(random.chance(0.05) ? { reclaim: true } : {}),
    ...(random.chance(0.05) ? { progressWithin: random.whole(100, 600) } : {}),
  };
  return { parts, options, waitMs: wait === 'forever' ? Infinity : wait };
}

/** What a release may hand over: one name, and a ttl not much longer than a ticket lives. */
export function turnFrom(random: Random): Wish {
  const wait = waitFrom(random, true);
  const options: AcquireOptions = { ttl: random.pick([TICKET_LIFE_MS, LONGEST_TURN_MS]), wait };
  return { parts: [{ name: random.pick(TOPS) }], options, waitMs: wait === 'forever' ? Infinity : wait };
}

function waitFrom(random: Random, mayWaitForever: boolean): number | 'forever' {
  if (mayWaitForever && random.chance(0.35)) return 'forever';
  return random.pick([0, 20, 150, 700, 2_500, 8_000]);
}

function partsFrom(random: Random, isShared: boolean): PartInput[] {
  if (random.chance(0.15)) return [{ name: random.pick(TOPS), scope: 'subtree', ...modeFrom(random, isShared) }];
  const names = random.chance(0.25)
    ? random.shuffled([...TOPS, ...LEAVES]).slice(0, random.whole(2, 3))
    : [random.pick(random.chance(0.6) ? TOPS : LEAVES)];
  return names.map((name) => ({ name, ...modeFrom(random, isShared) }));
}

function modeFrom(random: Random, isShared: boolean): { mode?: 'shared'; limit?: number } {
  if (!isShared) return {};
  return random.chance(0.5) ? { mode: 'shared', limit: random.whole(1, 3) } : { mode: 'shared' };
}

export function wishText({ parts, options }: Wish): string {
  const names = parts.map(({ name, scope, mode, limit }) => {
    const many = mode === undefined ? '' : limit === undefined ? ' shared' : ` shared by ${limit}`;
    return `${name}${scope === 'subtree' ? '/**' : ''}${many}`;
  });
  const facts = Object.entries(options)
    .filter(([key]) => key !== 'operationId' && key !== 'signal')
    .map(([key, value]) => `${key} ${String(value)}`);
  return `${names.join(' + ')}, ${facts.join(', ')}`;
}
