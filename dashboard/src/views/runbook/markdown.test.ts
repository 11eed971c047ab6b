// The pages of this project as data: what they use is understood, and what is not stays text.
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { inlineOf, pageOf, parseMarkdown } from './markdown.js';

const text = (...words: string[]) => words.map((one) => ({ is: 'text', text: one }));

describe('pages', () => {
  test('headings, paragraphs over several lines, lists, commands and tables', () => {
    const source = [
      '# A *title*',
      '',
      'One',
      'line.',
      '- first',
      '  goes on',
      '- second',
      '',
      '<!-- run -->',
      '```sh postgres',
      'a | b',
      '',
      'c',
      '```',
      '| | |',
      '|---|---|',
      '| a | `x|y` |',
    ].join('\n');
    expect(parseMarkdown(source)).toEqual([
      { is: 'heading', level: 1, words: [...text('A '), { is: 'em', text: 'title' }] },
      { is: 'paragraph', words: text('One line.') },
      { is: 'list', items: [text('first goes on'), text('second')] },
      { is: 'code', language: 'sh postgres', text: 'a | b\n\nc' },
      { is: 'table', head: [[], []], rows: [[text('a'), [{ is: 'code', text: 'x|y' }]]] },
    ]);
  });

  test('in a line: code, emphasis, links; markup of others is text', () => {
    expect(inlineOf('run `a *b*`, **now**, see [the `page`](../x.md) <script>')).toEqual([
      ...text('run '),
      { is: 'code', text: 'a *b*' },
      ...text(', '),
      { is: 'strong', text: 'now' },
      ...text(', see '),
      { is: 'link', text: 'the page', to: '../x.md' },
      ...text(' <script>'),
    ]);
  });

  test('a link leads to another page, and nowhere else', () => {
    expect(pageOf('runbooks/conflicts', 'clock-skew.md')).toBe('runbooks/clock-skew');
    expect(pageOf('runbooks/conflicts', '../guide/guards.md#x')).toBe('guide/guards');
    expect(pageOf('runbooks/conflicts', 'https://example.com/a.md')).toBeUndefined();
    expect(pageOf('runbooks/conflicts', '/etc/passwd.md')).toBeUndefined();
    expect(pageOf('runbooks/conflicts', '../../src/x.ts')).toBeUndefined();
  });

  test('every runbook is read as a title, blocks of commands and no mark left over', () => {
    const folder = new URL('../../../../docs/runbooks/', import.meta.url);
    for (const name of readdirSync(folder)) {
      const blocks = parseMarkdown(readFileSync(new URL(name, folder), 'utf8'));
      expect(blocks[0], name).toMatchObject({ is: 'heading', level: 1 });
      const words = blocks.flatMap((block) => ('words' in block ? block.words : []));
      const left = words.filter(({ is, text: one }) => is === 'text' && /\*\*|\]\(|```|^\|/.test(one));
      expect(left, name).toEqual([]);
    }
  });
});
