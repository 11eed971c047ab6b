// Three projects: `tidy` keeps the house rules (part of `make check`), `unit` stands beside the source, `conformance` spans
// parts: real stores, child processes, faults. An error nobody handled fails the run, always.

import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    dangerouslyIgnoreUnhandledErrors: false,
    projects: [
      { test: { name: 'tidy', include: ['test/tidy/**/*.test.ts'], testTimeout: 20_000 } },
      { test: { name: 'unit', include: ['src/**/*.test.ts'], testTimeout: 20_000 } },
      {
        test: {
          name: 'conformance',
          include: ['test/**/*.test.ts'],
          exclude: ['test/tidy/**'],
          pool: 'forks',
          fileParallelism: false, // timings and eight processes at a time want the machine to themselves
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
