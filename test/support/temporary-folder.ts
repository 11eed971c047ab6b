// A folder of its own for a test, gone with everything in it when the test is done.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TemporaryFolder {
  readonly path: string;
  remove(): void;
}

export function temporaryFolder(within = tmpdir()): TemporaryFolder {
  const path = mkdtempSync(join(within, 'holdfast-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
