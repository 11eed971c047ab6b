// A Redis (or Valkey) server of the tests' own, on loopback only, in a temporary folder: nothing is saved unless asked for.
import { temporaryFolder } from '../temporary-folder.js';
import { StepClock } from './step-clock.js';
import {
  accepts,
  findBinary,
  freePort,
  freezeProcess,
  startProcess,
  stopProcess,
  untilReady,
  type Started,
} from './server-process.js';

export interface RedisOptions {
  /** Arguments as in redis.conf, e.g. `{ maxmemory: '3mb' }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Its clock can be stepped through `clock`. */
  readonly stepClock?: boolean;
  /** The folder its own folder is made in; the system's for temporary files unless given. */
  readonly within?: string;
  /** More for its environment. */
  readonly env?: NodeJS.ProcessEnv;
}

export interface RedisServer {
  readonly port: number;
  readonly url: string;
  readonly folder: string;
  readonly clock: StepClock;
  readonly pid: number;
  start(): Promise<void>;
  /** SIGKILL is a crash; SIGTERM lets it say goodbye. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  freeze(): void;
  thaw(): void;
  remove(): Promise<void>;
}

export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const folder = temporaryFolder(options.within);
  const port = await freePort();
  const clock = new StepClock(folder.path);
  let started: Started | undefined;
  const settings = {
    bind: '127.0.0.1',
    port: String(port),
    dir: folder.path,
    save: '',
    appendonly: 'no',
    ...options.settings,
  };
  const server: RedisServer = {
    port,
    url: `redis://127.0.0.1:${port}`,
    folder: folder.path,
    clock,
    get pid() {
      return started?.process.pid ?? 0;
    },
    async start() {
      const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
      const env = { ...process.env, ...(options.stepClock ? clock.env() : {}), ...options.env };
      const running = startProcess(findBinary('redis-server'), args, { cwd: folder.path, env });
      started = running;
      await untilReady(running, () => accepts(port));
    },
    async stop(signal = 'SIGTERM') {
      if (started !== undefined) await stopProcess(started, signal);
    },
    freeze: () => {
      if (started?.process.pid !== undefined) freezeProcess(started.process.pid);
    },
    thaw: () => void started?.process.kill('SIGCONT'),
    async remove() {
      await server.stop('SIGKILL');
      folder.remove();
    },
  };
  await server.start();
  return server;
}
