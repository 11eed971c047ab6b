// What values look like on the wire, and what a connection is told: parse once, then bind, execute, sync.
import { describe, expect, test } from 'vitest';
import { parseArray } from './pool-types.js';
import { ReplyQuery, wireText } from './reply-query.js';

describe('values on their way to PostgreSQL', () => {
  test('are text, whatever they were', () => {
    expect([7, true, 'a b', 1.5, '', null, undefined].map(wireText)).toEqual([
      '7',
      'true',
      'a b',
      '1.5',
      '',
      null,
      null,
    ]);
    expect(wireText({ a: [1] })).toBe('{"a":[1]}');
    expect(wireText(Number.MAX_SAFE_INTEGER)).toBe('9007199254740991');
  });

  test('are lists in which every text comes through as it was', () => {
    const texts = ['a/b', 'file:x', '', ' ', 'null', 'NULL', 'a,b', '{}', 'q"uo\\te', 'ü', 'nullify', "it's", 'a\tb'];
    expect(parseArray(wireText(texts) as string, String)).toEqual(texts);
    expect(parseArray(wireText(['x', null, undefined]) as string, String)).toEqual(['x', null, null]);
    expect(wireText([])).toBe('{}');
    expect(wireText([1, 2.5, false])).toBe('{1,2.5,false}');
    expect(wireText([['a', 'b c'], []])).toBe('{{a,"b c"},{}}');
    expect(wireText([{ a: 1 }])).toBe('{"{\\"a\\":1}"}');
  });
});

/** What a connection of `pg` would be told. */
function wire(): { readonly told: string[]; readonly connection: object } {
  const told: string[] = [];
  const connection = {
    stream: { cork: () => told.push('cork'), uncork: () => told.push('uncork') },
    parsedStatements: {},
    submittedNamedStatements: {},
    parse: ({ name }: { name: string }) => told.push(`parse ${name}`),
    bind: ({ statement }: { statement: string }) => told.push(`bind ${statement}`),
    execute: () => told.push('execute'),
    sync: () => told.push('sync'),
  };
  return { told, connection };
}

test('a connection of an older pg, which does not say what was submitted, is told the name until it has been parsed', () => {
  const { told, connection } = wire();
  const older = { ...connection, submittedNamedStatements: undefined, parsedStatements: {} as Record<string, string> };
  const call = { name: 'hf', text: 'SELECT f($1)', values: [1] };
  new ReplyQuery(call, () => undefined).submit(older);
  older.parsedStatements['hf'] = call.text;
  new ReplyQuery(call, () => undefined).submit(older);
  expect(told.filter((one) => /parse|bind/.test(one))).toEqual(['parse hf', 'bind hf', 'bind hf']);
});

test('a statement is named once on a connection, and one without a name each time', () => {
  const { told, connection } = wire();
  const call = { name: 'hf', text: 'SELECT f($1)', values: [1] };
  new ReplyQuery(call, () => undefined).submit(connection);
  new ReplyQuery(call, () => undefined).submit(connection);
  expect(told.filter((one) => /parse|bind/.test(one))).toEqual(['parse hf', 'bind hf', 'bind hf']);
  const nameless = { ...call, name: '' };
  for (const one of [nameless, nameless]) new ReplyQuery(one, () => undefined).submit(connection);
  expect(told.slice(-5)).toEqual(['parse ', 'bind ', 'execute', 'sync', 'uncork']);
  expect(told.filter((one) => one === 'parse ')).toHaveLength(2);
});
