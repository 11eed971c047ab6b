// Through the server: `holdfast serve` over a SQLite file, workers that come by HTTP, each behind a proxy of its own, and counters
// in a service behind the fence, to which they also go through proxies.
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect } from '../../../src/connect.js';
import { openSqlite } from '../../../src/stores/sqlite/index.js';
import { systemClock } from '../../../src/system-clock.js';
import { startCutProxy } from '../../support/servers/cut-proxy.js';
import { freePort, startProcess, stopProcess, untilReady, type Started } from '../../support/servers/server-process.js';
import { startCounterService } from './counter-service.js';
import type { Grounds } from './grounds.js';
import { descriptorsOf, filesIn, openConnections, waitOnce, type Site } from './site.js';

const COMMAND = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
/** A worker for checkpoints is started after 256 commits. */
const WARM_ROUNDS = 150;
const PATIENCE_MS = 5_000;

export async function serverSite(grounds: Grounds, slots: number): Promise<Site> {
  const store = `sqlite:${join(grounds.place, 'leases.db')}`;
  const port = await freePort();
  const service = await startCounterService();
  let started: Started | undefined;
  const answers = async (): Promise<boolean> => {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const [response] = (await once(get({ port, path: '/readyz', agent: false, signal }), 'response')) as [
      IncomingMessage,
    ];
    response.resume();
    return response.statusCode === 200;
  };
  const start = async (): Promise<void> => {
    const args = [COMMAND, '--store', store, 'serve', '--port', String(port), '--log', 'warn'];
    const env = { ...process.env, ...grounds.env('server') };
    const running = startProcess(process.execPath, args, { cwd: grounds.temporary, env });
    started = running;
    await untilReady(running, () => answers().catch(() => false));
  };
  await start();
  const openStore = (): ReturnType<typeof openSqlite> => openSqlite(store, { clock: systemClock() });
  const keeper = await openStore(); // with it open the -wal and -shm stay where they are
  const proxies = (to: number): ReturnType<typeof startCutProxy>[] =>
    Array.from({ length: slots }, () => startCutProxy(to));
  const [links, counterLinks] = await Promise.all([port, service.port].map((to) => Promise.all(proxies(to))));
  const all = [...(links ?? []), ...(counterLinks ?? [])];
  return {
    name: 'server',
    grounds,
    connectionsPerWorker: 24 + 2, // docs/stores/http.md; one for hints, one counts
    isMonotonic: true,
    url: (slot) => `http://127.0.0.1:${links?.[slot]?.port ?? port}`,
    counters: (slot) => ({ kind: 'http', url: `http://127.0.0.1:${counterLinks?.[slot]?.port ?? service.port}` }),
    links: (slot) => [links, counterLinks].flatMap((some) => some?.slice(slot, slot + 1) ?? []),
    async warm() {
      const leases = await connect(`http://127.0.0.1:${port}`);
      for (let round = 0; round < WARM_ROUNDS; round += 1) await (await leases.acquire('warm')).release();
      await waitOnce(leases);
      await leases.shutdown();
    },
    server: {
      port,
      kill: async () => {
        if (started) await stopProcess(started, 'SIGKILL');
      },
      start,
      answers,
    },
    openStore,
    readCounters: async () => service.read(),
    counts: async () => ({
      ...descriptorsOf(started?.process.pid ?? 0),
      ...openConnections(all),
      ...filesIn(grounds.place, grounds.temporary),
    }),
    async remove() {
      await Promise.all(all.map((link) => link.close()));
      if (started) await stopProcess(started, 'SIGKILL');
      await keeper.close();
      await service.close();
    },
  };
}
