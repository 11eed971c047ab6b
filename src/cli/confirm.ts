// Asking for a name to be typed, on a terminal. Without one nobody can be asked, and the answer is no.
import { createInterface } from 'node:readline/promises';
import { safe } from './escape.js';

export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

export async function typed(name: string, question: string, end: AbortSignal): Promise<boolean> {
  const asker = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await asker.question(`${safe(question)} `, { signal: end })).trim() === name;
  } catch {
    return false; // ^C or ^D
  } finally {
    asker.close();
  }
}
