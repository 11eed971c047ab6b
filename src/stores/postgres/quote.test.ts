// The schema's name in the texts of migrations: whatever it is made of, it is the name and nothing else.
import { describe, expect, test } from 'vitest';
import { inSchema } from './quote.js';

describe('O4: texts for a schema of any name', () => {
  test('stand for the name as an identifier, inside a literal, and as a literal', () => {
    expect(inSchema(`SELECT {s}.f('{s}.t', {l})`, 'plain')).toBe(`SELECT "plain".f('"plain".t', 'plain')`);
    expect(inSchema(`SELECT {s}.f('{s}.t', {l})`, `it's "x"`)).toBe(
      `SELECT "it's ""x""".f('"it''s ""x""".t', 'it''s "x"')`,
    );
  });

  test.each(['{s}', '{l}', '{tuned}', '{quick}', "'{s}.", '{s}{l}'])('%s in the name is part of it', (piece) => {
    const [name, literal] = [`"a${piece}b"`, `'a${piece.replaceAll("'", "''")}b'`];
    expect(inSchema('{s} {l}', `a${piece}b`)).toBe(`${name} ${literal}`);
    expect(inSchema("'{s}.t'", `a${piece}b`)).toBe(`'${name.replaceAll("'", "''")}.t'`);
  });

  test('say how statements are planned', () => {
    expect(inSchema('{quick}', 'a')).toMatch(/^SET enable_seqscan = off/);
    expect(inSchema('{tuned}', 'a')).toMatch(/SET jit = off$/);
  });
});
