// proper-lockfile on the files of a folder.
import fs, { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lock as lockFile } from 'proper-lockfile';

const TTL_MS = 30_000;

/** A folder beside each file, made by mkdir; renewed by its time of change every half of `stale`. */
export function openProperLockfile(folder, onCall) {
  const known = new Set();
  const place = (name) => {
    const path = join(folder, ...name.split('/'));
    if (!known.has(path)) {
      mkdirSync(join(path, '..'), { recursive: true });
      writeFileSync(path, '');
      known.add(path);
    }
    return path;
  };
  const common = { realpath: false, ...(onCall ? { fs: counting(onCall) } : {}) };
  /** Without retries it would give up at once; a constant pause of 10 ms, like redis-semaphore's. */
  const retries = { forever: true, factor: 1, minTimeout: 10, maxTimeout: 10 };
  return {
    name: 'proper-lockfile',
    close: () => undefined,
    pair: async (i) => {
      const release = await lockFile(place(`bench/${i % 1_000}`), { ...common, stale: TTL_MS });
      await release();
    },
    lock: async (name, ttlMs = TTL_MS, onCompromised = () => undefined) => ({
      release: await lockFile(place(name), { ...common, stale: ttlMs, retries, onCompromised }),
    }),
  };
}

/** It takes its file system as an option; each call of it is one of the calls. */
function counting(onCall) {
  const counted = (call) => (typeof call === 'function' ? (...args) => (onCall(), call(...args)) : call);
  return new Proxy(fs, {
    get: (target, name) =>
      /^(mkdir|stat|utimes|rmdir|realpath)$/.test(String(name)) ? counted(target[name]) : target[name],
  });
}
