// What a run of the crowd stands on, whatever its store: a folder of its own (on a disk that can be full, where this user may
// mount one), wall clocks that can be stepped and flushes that can be slow (where there is a C compiler). What this machine
// cannot do is named, and left out.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { StepClock } from '../../support/servers/step-clock.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { SlowDisk } from './slow-disk.js';
import { SmallDisk } from './small-disk.js';

export interface Grounds {
  /** Where stores and servers keep their files. */
  readonly place: string;
  /** The folder for temporary files of every process of the run. */
  readonly temporary: string;
  readonly disk: SmallDisk | undefined;
  readonly slowDisk: SlowDisk | undefined;
  /** Wall clocks: of the workers, and of the server. */
  readonly clocks: { readonly workers: StepClock; readonly server: StepClock } | undefined;
  /** Misfortunes that cannot happen here, each with its reason. */
  readonly leftOut: string[];
  env(of: 'workers' | 'server'): NodeJS.ProcessEnv;
  remove(): void;
}

export function prepareGrounds(diskMegabytes: number): Grounds {
  const folder = temporaryFolder();
  const within = (name: string): string => {
    const path = join(folder.path, name);
    mkdirSync(path);
    return path;
  };
  chmodSync(folder.path, 0o755); // PostgreSQL runs as a user of its own
  const leftOut: string[] = [];
  const place = within('place');
  const temporary = within('temporary');
  chmodSync(temporary, 0o1777);
  const disk = SmallDisk.mount(place, diskMegabytes);
  if (disk === undefined) leftOut.push('full disk: mounting a file system is not allowed here');
  const hasCompiler = spawnSync('cc', ['--version']).status === 0;
  if (!hasCompiler) leftOut.push('stepped clock, slow fsync: there is no C compiler (cc) here');
  const clockIn = (name: string): StepClock => new StepClock(within(name));
  const clocks = hasCompiler ? { workers: clockIn('workers'), server: clockIn('server') } : undefined;
  const slowDisk = hasCompiler ? new SlowDisk(within('slow')) : undefined;
  return {
    ...{ place, temporary, disk, slowDisk, clocks, leftOut },
    env(of) {
      const preloaded = [clocks?.[of].env() ?? {}, slowDisk?.env() ?? {}];
      const libraries = preloaded.flatMap(({ LD_PRELOAD }) => LD_PRELOAD ?? []).join(':');
      return { TMPDIR: temporary, ...preloaded[0], ...preloaded[1], ...(libraries ? { LD_PRELOAD: libraries } : {}) };
    },
    remove() {
      disk?.unmount();
      folder.remove();
    },
  };
}
