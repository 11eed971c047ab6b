// Names of file leases as text: what is escaped, that nothing is lost by it, and what is too long.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkName } from '../domain/resource-name.js';
import { baseOfName, baseOfPath, escapeSegment, nameOf, placeOf, sectionOf, unescapeSegment } from './file-name.js';

const segment = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 12 })
  .filter((text) => text !== '.' && text !== '..' && !/[/\0]/.test(text));
const awkward = fc
  .array(
    fc.constantFrom(
      '%',
      '#',
      '\n',
      '\u0301',
      'e',
      'A',
      'é',
      '\u001b',
      '\ufeff',
      '%0A',
      '\u0344',
      '\u2126',
      '\u{1f600}',
      '.',
    ),
    {
      minLength: 1,
      maxLength: 6,
    },
  )
  .map((units) => units.join(''))
  .filter((text) => text !== '.' && text !== '..');
const names = fc.oneof(segment, awkward);

test('A12: whatever a file is called, its resource is a valid name that leads back to it', () => {
  fc.assert(
    fc.property(names, (text) => {
      const escaped = escapeSegment(text);
      expect(checkName(`file:app/${escaped}`)).toBe(`file:app/${escaped}`);
      expect(escaped.startsWith('#')).toBe(false);
      expect(unescapeSegment(escaped)).toBe(text);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ['a plain name', 'a.ts', 'a.ts'],
  ['a space and a letter beyond ASCII', 'müller 1.txt', 'müller 1.txt'],
  ['a percent sign', '100%', '100%25'],
  ['what looks like an escape', '%0A', '%250A'],
  ['a line break', 'a\nb', 'a%0Ab'],
  ['an escape sequence of a terminal', '\u001b[2J', '%1B[2J'],
  ['a mark that would join the last digit of an escape', '\n\u0301', '%0A%CC%81'],
  ['another Unicode form of é', 'e\u0301', 'e%CC%81'],
  ['é itself', 'é', 'é'],
  ['a hash in front', '#a#', '%23a#'],
])('A12: %s is written down so that it stays apart from all others', (_, text, escaped) => {
  expect(escapeSegment(text)).toBe(escaped);
});

test('A12: NAME is the given name, or the real path with its leading slash, and the two never meet', () => {
  expect(nameOf(baseOfName('team/app'), ['src', 'a.ts'])).toBe('file:team/app/src/a.ts');
  expect(nameOf(baseOfPath(['srv', 'app']), ['src', 'a.ts'])).toBe('file:/srv/app/src/a.ts');
  expect(nameOf(baseOfPath([]), ['etc'])).toBe('file:/etc');
  expect(nameOf(baseOfPath([]), [])).toBe('file:');
});

test.each(['', '/srv/app', 'app/', 'a//b', '../b', './b', 'a\nb', 'e\u0301', '\ud800', 'x'.repeat(600), 7, null])(
  'A12: %j is refused as the name of a root',
  (name) => {
    expect(() => baseOfName(name)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
  },
);

test('A12: a path that is too long is refused with the folder that can be leased instead', () => {
  const deep = Array.from({ length: 40 }, (_, i) => `d${i}`);
  expect(() => nameOf('file:app', deep)).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', details: { folder: deep.slice(0, 31).join('/') } }),
  );
  expect(() => nameOf('file:app', ['src', 'x'.repeat(510)])).toThrow(/lease the folder "src" instead/);
  expect(() => nameOf('file:app', ['e\u0301'.repeat(100)])).toThrow(/lease the folder "\." instead/);
  expect(() => nameOf(baseOfPath(deep), ['a.ts'])).toThrow(/give the root a name, files\(root, \{ name: 'app' \}\)/);
  expect(nameOf('file:app', ['x'.repeat(503)])).toHaveLength(512);
});

test('A12: a section lies below its file and is no name a real file can have', () => {
  expect(sectionOf('file:app/a.ts', 'imports')).toBe('file:app/a.ts/#imports');
  expect(sectionOf('file:app/a.ts', 'a/b')).toBe('file:app/a.ts/#a%2Fb');
  expect(nameOf('file:app', ['a.ts', '#imports'])).toBe('file:app/a.ts/%23imports');
  for (const bad of ['', 'e\u0301', '\ud800', 'x'.repeat(600), undefined]) {
    expect(() => sectionOf('file:app/a.ts', bad)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
  }
});

test('A12: a name is read back as the place it stands for, seen from the root', () => {
  expect(placeOf('file:app', 'file:app')).toEqual({ path: '.' });
  expect(placeOf('file:app', 'file:app/src/100%25')).toEqual({ path: 'src/100%' });
  expect(placeOf('file:app', 'file:app/a.ts/#a%2Fb')).toEqual({ path: 'a.ts', section: 'a/b' });
  expect(placeOf('file:/srv/app', 'file:/srv')).toEqual({ path: '.' });
  expect(placeOf('file:app', 'file:apple/a.ts')).toBeUndefined();
  expect(placeOf('file:app', 'orders/0')).toBeUndefined();
});
