// A failing world as a file that somebody else can run: the order, the rule, and the commit it was recorded at. A seed means
// something only to the code that drew it, so whoever runs a story of another commit is told so.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { KINDS, orderText, type WorldOrder } from './worlds.js';

export interface Story {
  /** The commit whose code failed; `unknown` outside a repository, with `+` where files had been changed. */
  readonly commit: string;
  readonly message: string;
  readonly order: WorldOrder;
}

export function currentCommit(): string {
  try {
    const git = (...args: string[]): string =>
      execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    const isChanged = git('status', '--porcelain', '--untracked-files=no') !== '';
    return `${git('rev-parse', '--short=12', 'HEAD')}${isChanged ? '+' : ''}`;
  } catch {
    return 'unknown';
  }
}

export function writeStory(path: string, { commit, message, order }: Story): void {
  writeFileSync(
    path,
    `${JSON.stringify({ commit, message, order: JSON.parse(orderText(order)) as unknown }, null, 2)}\n`,
  );
}

export function readStory(path: string): Story {
  let story: Partial<Story> | null;
  try {
    story = JSON.parse(readFileSync(path, 'utf8'), revived) as Partial<Story> | null;
  } catch (cause) {
    throw new Error(`STORY=${path} is no story: name a file that a failing run wrote`, { cause });
  }
  const { commit, message, order } = story ?? {};
  const isOrder = Number.isSafeInteger(order?.seed) && KINDS.some((kind) => kind === order?.kind);
  if (typeof commit !== 'string' || typeof message !== 'string' || !order || !isOrder)
    throw new Error(`STORY=${path} lacks its commit, its message or its order: name a file that a failing run wrote`);
  return { commit, message, order };
}

function revived(_key: string, value: unknown): unknown {
  return value === 'forever' ? Infinity : value;
}

/** What a reader must know before it trusts what it sees. */
export function otherCommitText({ commit }: Pick<Story, 'commit'>, here: string): string | undefined {
  if (commit === here) return undefined;
  return `recorded at commit ${commit}, and this is ${here}: the same order may tell another story here; check out ${commit.replace('+', '')} to see that one`;
}
