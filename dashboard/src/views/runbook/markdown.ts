// As much of Markdown as this project's own pages use, as data: headings, paragraphs, lists, tables, blocks of commands; in
// a line code, emphasis and links. Pure. What is not known is text: nothing here can become markup by itself.
export type Inline =
  | { readonly is: 'text' | 'code' | 'strong' | 'em'; readonly text: string }
  | { readonly is: 'link'; readonly text: string; readonly to: string };

export type Block =
  | { readonly is: 'heading'; readonly level: number; readonly words: readonly Inline[] }
  | { readonly is: 'paragraph'; readonly words: readonly Inline[] }
  | { readonly is: 'list'; readonly items: readonly (readonly Inline[])[] }
  | { readonly is: 'code'; readonly language: string; readonly text: string }
  | { readonly is: 'table'; readonly head: readonly (readonly Inline[])[]; readonly rows: readonly Row[] };
type Row = readonly (readonly Inline[])[];

export function parseMarkdown(source: string): Block[] {
  const lines = source.replaceAll(/<!--[\s\S]*?-->/g, '').split('\n');
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length;) {
    const [block, next] = blockAt(lines, at);
    if (block) blocks.push(block);
    at = next;
  }
  return blocks;
}

type Found = readonly [block: Block | undefined, next: number];

function blockAt(lines: readonly string[], at: number): Found {
  const line = lines[at] ?? '';
  if (line.trim() === '') return [undefined, at + 1];
  const [, marks, title] = /^(#{1,6}) (.*)$/.exec(line) ?? [];
  if (marks !== undefined) return [{ is: 'heading', level: marks.length, words: inlineOf(title ?? '') }, at + 1];
  if (line.startsWith('```')) return codeAt(lines, at);
  if (line.startsWith('|')) return tableAt(lines, at);
  if (isItem(line)) return listAt(lines, at);
  const end = endOf(lines, at, (one) => one.trim() === '' || /^(#{1,6} |```|\|)/.test(one) || isItem(one));
  return [{ is: 'paragraph', words: inlineOf(lines.slice(at, end).join(' ')) }, end];
}

function codeAt(lines: readonly string[], at: number): Found {
  const end = endOf(lines, at, (one) => one.startsWith('```'));
  const language = (lines[at] ?? '').slice(3).trim();
  return [{ is: 'code', language, text: lines.slice(at + 1, end).join('\n') }, end + 1];
}

function tableAt(lines: readonly string[], at: number): Found {
  const end = endOf(lines, at, (one) => !one.startsWith('|'));
  const rows = lines.slice(at, end).map((line) => cellsOf(line).map(inlineOf));
  const [head = [], , ...body] = rows;
  return [{ is: 'table', head, rows: body }, end];
}

/** A bar inside code, or after a backslash, does not end a cell. */
function cellsOf(line: string): string[] {
  const inner = line.trim().replace(/^\|/, '').replace(/\|$/, '');
  const cells = inner.match(/(?:`[^`]*`|\\\||[^|])+|(?<=\|)(?=\|)|^(?=\|)/g) ?? [];
  return cells.map((cell) => cell.trim().replaceAll('\\|', '|'));
}

function listAt(lines: readonly string[], at: number): Found {
  const end = endOf(lines, at, (one) => one.trim() === '' || /^(#{1,6} |```|\|)/.test(one));
  const items: string[] = [];
  for (const line of lines.slice(at, end)) {
    if (isItem(line)) items.push(line.replace(/^\s*(?:[-*]|\d+\.) /, ''));
    else items.push(`${items.pop() ?? ''} ${line.trim()}`);
  }
  return [{ is: 'list', items: items.map(inlineOf) }, end];
}

function isItem(line: string): boolean {
  return /^\s*(?:[-*]|\d+\.) /.test(line);
}

/** The first line after this one that ends the block, or the end. */
function endOf(lines: readonly string[], at: number, ends: (line: string) => boolean): number {
  const found = lines.findIndex((line, n) => n > at && ends(line));
  return found === -1 ? lines.length : found;
}

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*]+)\*|!?\[([^\]]*)\]\(([^)\s]*)\)/g;

export function inlineOf(source: string): Inline[] {
  const words: Inline[] = [];
  let from = 0;
  const plain = (until: number): void => {
    if (until > from) words.push({ is: 'text', text: source.slice(from, until) });
  };
  for (const match of source.matchAll(INLINE)) {
    plain(match.index);
    const [whole, code, strong, em, text = '', to] = match;
    if (code !== undefined) words.push({ is: 'code', text: code });
    else if (strong !== undefined) words.push({ is: 'strong', text: strong.replaceAll('`', '') });
    else if (em !== undefined) words.push({ is: 'em', text: em });
    else words.push({ is: 'link', text: text.replaceAll('`', ''), to: to ?? '' });
    from = match.index + whole.length;
  }
  plain(source.length);
  return words;
}

/** Where a link of one page leads, as the name of another: 'runbooks/conflicts'. Undefined for what is no page of ours. */
export function pageOf(from: string, to: string): string | undefined {
  const [path = ''] = to.split('#');
  if (!path.endsWith('.md') || /^[a-z]+:|^\//i.test(path)) return undefined;
  const steps = from.split('/').slice(0, -1);
  for (const step of path.slice(0, -3).split('/')) {
    if (step === '..') steps.pop();
    else if (step !== '.') steps.push(step);
  }
  return steps.join('/');
}
