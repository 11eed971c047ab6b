// What is asked of the simulation by the environment: one world (SEED, KIND, STORY), or many (SEEDS, FIRST).
import { KINDS, type Kind, type WorldOrder } from './worlds.js';

export type Asked =
  | { readonly what: 'one'; readonly order: WorldOrder }
  | { readonly what: 'one'; readonly order?: undefined; readonly story: string }
  | { readonly what: 'many'; readonly first: number; readonly count: number };

const SEEDS = 20_000;
/** Seeds are 32 bits wide: a larger one would be another in disguise. */
const LARGEST = 4_294_967_295;

export function asked(environment: Readonly<Record<string, string | undefined>>): Asked {
  const given = (name: string): string | undefined => environment[name] || undefined;
  const number = (name: string, least: number): number | undefined => {
    const text = given(name);
    if (text === undefined) return undefined;
    if (/^\d{1,10}$/.test(text) && Number(text) >= least && Number(text) <= LARGEST) return Number(text);
    throw new Error(`${name} is a whole number from ${least} to ${LARGEST}, got ${JSON.stringify(text)}`);
  };
  const seed = number('SEED', 0);
  const story = given('STORY');
  const kind = kindFrom(given('KIND'));
  if (seed !== undefined && story !== undefined)
    throw new Error('SEED names one world and STORY another: give one of them');
  if (kind !== undefined && seed === undefined) throw new Error('KIND says which world of a SEED is meant: give both');
  if (story !== undefined) return { what: 'one', story };
  if (seed !== undefined) return { what: 'one', order: { kind: kind ?? 'leases', seed } };
  return { what: 'many', first: number('FIRST', 0) ?? 1, count: number('SEEDS', 1) ?? SEEDS };
}

function kindFrom(text: string | undefined): Kind | undefined {
  if (text === undefined) return undefined;
  const kind = KINDS.find((one) => one === text);
  if (kind) return kind;
  throw new Error(`KIND is one of ${KINDS.join(', ')}, got ${JSON.stringify(text)}`);
}
