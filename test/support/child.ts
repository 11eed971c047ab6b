// Child processes for tests: a program under test/support started with node, spoken to by lines. They run what was
// built into dist/, as a user's processes would.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface Child {
  readonly process: ChildProcess;
  /** Lines it printed so far. */
  readonly lines: readonly string[];
  /** Waits for a line that begins with `text`. Rejects when the child ends without one. */
  line(text: string): Promise<string>;
  tell(text: string): void;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
}

export function startChild(program: string, ...args: readonly string[]): Child {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines: string[] = [];
  const watchers = new Set<() => void>();
  const reader = createInterface({ input: child.stdout });
  reader.on('line', (line) => {
    lines.push(line);
    for (const watcher of [...watchers]) watcher();
  });
  let isOver = false;
  const ended = Promise.all([once(child, 'exit'), once(reader, 'close')]).then(([[code, signal]]) => {
    isOver = true;
    for (const watcher of [...watchers]) watcher();
    return (code ?? signal) as number | string;
  });
  const line = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = lines.find((one) => one.startsWith(text));
        if (found === undefined && !isOver) return;
        watchers.delete(look);
        if (found === undefined)
          reject(new Error(`the child ended without a line "${text}": ${lines.slice(-5).join(' | ')}`));
        else resolve(found);
      };
      watchers.add(look);
      look();
    });
  return { process: child, lines, line, ended, tell: (text) => child.stdin.write(`${text}\n`) };
}
