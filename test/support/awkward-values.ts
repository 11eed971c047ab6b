// Values a careless message trips over: String() or JSON.stringify() throws on each of them. Beside each stands how a
// message shows it.

const cyclic: Record<string, unknown> = {};
cyclic['self'] = cyclic;
const cyclicList: unknown[] = [];
cyclicList.push(cyclicList);

export const AWKWARD: readonly (readonly [what: string, value: unknown, shownAs: string])[] = [
  ['an object without a prototype', Object.create(null), 'an object'],
  ['a toString that is no function', { toString: 1 }, 'an object'],
  ['a toString that throws', { toString: () => refuse() }, 'an object'],
  ['a toPrimitive that is no function', { [Symbol.toPrimitive]: 1 }, 'an object'],
  ['a toJSON that throws', { toJSON: () => refuse() }, 'an object'],
  ['a proxy that throws', new Proxy({}, { get: () => refuse(), has: () => refuse() }), 'an object'],
  ['a cyclic object', cyclic, 'an object'],
  ['a cyclic list', cyclicList, 'an array'],
  ['a list of an object without a prototype', [Object.create(null)], 'an array'],
  ['a function with a toString that is none', Object.assign(() => 1, { toString: 1 }), 'a function'],
  ['a BigInt', 10n, '10'],
];

function refuse(): never {
  throw new TypeError('nobody was to ask');
}
