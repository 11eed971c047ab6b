// What is set with setTimeout, by hand: a spy of vitest on a faked timer would be put back once more at the end of its file, over the
// real one, for every file that comes after it in the same process.
export interface RecordedTimeouts {
  readonly set: { readonly ms: number | undefined; readonly timeout: NodeJS.Timeout }[];
  readonly restore: () => void;
}

export function recordTimeouts(): RecordedTimeouts {
  const before = globalThis.setTimeout;
  const set: RecordedTimeouts['set'] = [];
  const recording = (fn: () => void, ms?: number): NodeJS.Timeout => {
    const timeout = before(fn, ms);
    set.push({ ms, timeout });
    return timeout;
  };
  globalThis.setTimeout = recording as typeof setTimeout;
  return {
    set,
    restore: () => {
      globalThis.setTimeout = before;
    },
  };
}
