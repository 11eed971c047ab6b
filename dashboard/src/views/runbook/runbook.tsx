// A page of this project, shipped with the server: what an alert or a finding leads to can be read at night without a way to
// the internet. The pages are made from docs/ when the page is built, each loaded when it is opened.
import { place } from '../../router.js';
import { useAsked } from '../../state/asked.js';
import { Command } from '../../ui/copy.js';
import { EmptyState, ErrorNote, Loading, ViewHead } from '../../ui/parts.js';
import { pageOf, parseMarkdown, type Block, type Inline } from './markdown.js';
import './runbook.css';

const FILES = import.meta.glob<string>(
  ['../../../../docs/runbooks/*.md', '../../../../docs/guide/{deadlock,doctor,guards,choosing-durations}.md'],
  { query: '?raw', import: 'default' },
);
const PAGES = new Map(
  Object.entries(FILES).map(([path, load]) => [path.replace(/^.*\/docs\//, '').replace(/\.md$/, ''), load]),
);
const CONTENTS = 'runbooks/README';

export function Runbook() {
  const page = place.value.query['page'] ?? CONTENTS;
  const load = PAGES.get(page);
  const { value, error, again } = useAsked(`page ${page}`, async () => parseMarkdown((await load?.()) ?? ''));
  const [first, ...blocks] = value ?? [];
  const title = first?.is === 'heading' ? <Words words={first.words} page={page} /> : 'Runbook';
  return (
    <div class="view">
      <ViewHead title={title} actions={page !== CONTENTS && <a href="/runbook">All runbooks</a>} />
      {error !== undefined && <ErrorNote error={error} onRetry={again} />}
      {load === undefined && (
        <EmptyState title="There is no such page">
          <a href="/runbook">All runbooks</a>
        </EmptyState>
      )}
      {value === undefined && error === undefined && <Loading />}
      <article class="runbook">
        {blocks.map((block, n) => (
          <Part key={`${page} ${n}`} block={block} page={page} />
        ))}
      </article>
    </div>
  );
}

function Part({ block, page }: { readonly block: Block; readonly page: string }) {
  switch (block.is) {
    case 'heading':
      return block.level <= 2 ? (
        <h2>
          <Words words={block.words} page={page} />
        </h2>
      ) : (
        <h3>
          <Words words={block.words} page={page} />
        </h3>
      );
    case 'paragraph':
      return (
        <p>
          <Words words={block.words} page={page} />
        </p>
      );
    case 'list':
      return (
        <ul>
          {block.items.map((words, n) => (
            <li key={n}>
              <Words words={words} page={page} />
            </li>
          ))}
        </ul>
      );
    case 'code':
      return <Command text={block.text} label={block.text.slice(0, 60)} />;
    case 'table':
      return <TableBlock block={block} page={page} />;
  }
}

function TableBlock({ block, page }: { readonly block: Extract<Block, { is: 'table' }>; readonly page: string }) {
  const hasHead = block.head.some((words) => words.length > 0);
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Table">
      <table>
        {hasHead && (
          <thead>
            <tr>
              {block.head.map((words, n) => (
                <th key={n} scope="col">
                  <Words words={words} page={page} />
                </th>
              ))}
            </tr>
          </thead>
        )}
        <tbody>
          {block.rows.map((row, n) => (
            <tr key={n}>
              {row.map((words, column) =>
                column === 0 && !hasHead ? (
                  <th key={column} scope="row">
                    <Words words={words} page={page} />
                  </th>
                ) : (
                  <td key={column}>
                    <Words words={words} page={page} />
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Words({ words, page }: { readonly words: readonly Inline[]; readonly page: string }) {
  return (
    <>
      {words.map((word, n) => (
        <Word key={n} word={word} page={page} />
      ))}
    </>
  );
}

function Word({ word, page }: { readonly word: Inline; readonly page: string }) {
  if (word.is === 'code') return <code>{word.text}</code>;
  if (word.is === 'strong') return <strong>{word.text}</strong>;
  if (word.is === 'em') return <em>{word.text}</em>;
  const target = word.is === 'link' ? pageOf(page, word.to) : undefined;
  // What is not shipped with the page is only named.
  if (target === undefined || !PAGES.has(target)) return <>{word.text}</>;
  return <a href={`/runbook?page=${encodeURIComponent(target)}`}>{word.text}</a>;
}
