// One of the crowd: node crowd-child.mjs {url, options, counters, drill, owner, ttl, wait, resources}. It takes a lease, reads the counter
// of that name behind the guard, thinks, writes it back raised by one, and so on until it is told otherwise. What it does is a
// line each, written before and after the step, so that whoever kills it knows what is known:
//   try OP N EPOCH · done OP · refused OP CODE · unknown OP CODE · open · paused · counts KEY JSON · bye JSON
// Refused is what the guard refused. Everything else that is not done is unknown: it may have landed.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from 'holdfast';
import { obey, say } from '../../support/child-orders.mjs';
import { openCounters } from './counters.mjs';

const { url, options, counters, drill, owner, ttl, wait, resources } = JSON.parse(process.argv[2]);
const random = Math.random; // only the misfortunes are drawn from the seed
const REFUSED = ['STALE_EPOCH', 'LEASE_LOST'];
/** What a day with faults is made of; anything else is a bug and ends the process. */
const EXPECTED = ['ACQUIRE_TIMEOUT', 'STORE_UNAVAILABLE', ...REFUSED];
const PAUSE_MS = 20;
const TCP = 'fd connection';
const SOCKET = 'fd socket';
const CLOSING_TURNS = 500;
/** The first few names are wanted by many, so that there is a queue. */
const WANTED = 3;

/** Descriptors by what they lead to, and what keeps the loop alive. Connections have a name of their own. */
function counts() {
  const tally = { [TCP]: 0 };
  const add = (what) => (tally[what] = (tally[what] ?? 0) + 1);
  const tables = ['tcp', 'tcp6'].map((name) => readFileSync(`/proc/self/net/${name}`, 'utf8'));
  const connections = new Set(
    tables
      .join('\n')
      .split('\n')
      .map((line) => line.trim().split(/\s+/)[9]),
  );
  for (const fd of readdirSync('/proc/self/fd')) {
    try {
      const [what, number] = readlinkSync(`/proc/self/fd/${fd}`).split(/:\[(\d+)\]$/);
      add(what === 'socket' && connections.has(number) ? TCP : `fd ${basename(what)}`);
    } catch {
      // the one that lists them
    }
  }
  for (const handle of process.getActiveResourcesInfo()) if (handle !== 'TCPSocketWrap') add(`handle ${handle}`);
  return tally;
}

say('born');
let gate = Promise.resolve();
let open = () => undefined;
let isPaused = false;
let isOver = false;
let ended = Promise.resolve();
let number = 0;

obey({
  /** Blocks the event loop, as a long computation would. */
  block: async (ms) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(ms)),
  pause: async () => {
    if (isPaused) return;
    isPaused = true;
    gate = new Promise((resolve) => {
      open = resolve;
    });
  },
  resume: async () => {
    isPaused = false;
    open();
  },
  count: async (key) => say('counts', key, JSON.stringify(counts())),
  stop: async () => {
    isOver = true;
    open();
    await ended;
    await data.close();
    await leases.shutdown();
    await untilClosed(atStart);
    say('bye', JSON.stringify({ before: atStart, after: counts() }));
    process.exit(0);
  },
});

/** A connection that was told to close does so in one of the next turns of the loop. One that the other side has reset is in no
 *  table any more while its descriptor is still there. */
async function untilClosed(before = {}) {
  const isOpen = ([what, count]) => (what === TCP ? count > 0 : what === SOCKET && count > (before[what] ?? Infinity));
  for (let turn = 0; turn < CLOSING_TURNS && Object.entries(counts()).some(isOpen); turn += 1) await delay(PAUSE_MS);
}

async function patiently(todo) {
  for (;;) {
    try {
      return await todo();
    } catch (error) {
      check(error);
      await delay(PAUSE_MS * 5);
    }
  }
}

/** Errors of a driver or of fetch are what a fault looks like to an application; of Holdfast only some are. */
function check(error) {
  if (error?.name === 'LeaseError' && !EXPECTED.includes(error.code)) throw error;
}

/** Connects, works and shuts down once: what Node itself opens for good is open before anything is counted. */
async function comeAndGo() {
  const leases = await connect(url, { ...options, owner, ttl });
  try {
    const data = await openCounters(counters);
    await rehearse(leases).finally(() => data.close());
  } finally {
    await leases.shutdown();
  }
}

await patiently(comeAndGo);
await untilClosed();
const atStart = { ...counts(), [TCP]: 0 };
const leases = await patiently(() => connect(url, { ...options, owner, ttl }));
const data = await patiently(() => openCounters(counters));
say('open');

async function increment(lease, n, value) {
  number += 1;
  const op = `${owner}-${number}`;
  say('try', op, n, lease.epoch);
  try {
    await data.write(lease, n, op, value);
    say('done', op);
    return true;
  } catch (error) {
    check(error);
    const isRefused = error.name === 'LeaseError' && REFUSED.includes(error.code);
    say(isRefused ? 'refused' : 'unknown', op, error.code ?? error.name, error.message.replaceAll('\n', ' '));
    return false;
  }
}

async function turn() {
  const n = Math.floor(random() < 0.3 ? random() * WANTED : random() * resources);
  const lease = await leases.acquire(`stock/${n}`, { wait });
  try {
    let value = await data.claim(lease, n);
    for (let times = 1 + Math.floor(random() * 3); times > 0; times -= 1) {
      await delay(random() < 0.03 ? 1.3 * ttl : random() * 60); // now and then it lives by renewal
      if (!(await increment(lease, n, value + 1))) break;
      value += 1;
    }
  } finally {
    await lease.release();
  }
}

/** Does what opens things for good (the first wait, many looks at once, many writes), so that all have them open when counted. */
async function rehearse(leases) {
  const name = `drill/${owner}`;
  for (let round = 0; round < drill.rounds; round += 1) await (await leases.acquire(name, { wait })).release();
  await Promise.all(Array.from({ length: drill.looks }, () => leases.list({ limit: 1 })));
  const held = await leases.acquire(name, { owner: `${owner}-holds`, wait });
  const waiting = leases.acquire(name, { owner: `${owner}-waits`, wait });
  const [next] = await Promise.all([waiting, delay(PAUSE_MS).then(() => held.release())]);
  await next.release();
}

async function work() {
  for (;;) {
    if (isPaused) {
      await patiently(() => rehearse(leases));
      say('paused');
    }
    await gate;
    if (isOver) return;
    try {
      await turn();
    } catch (error) {
      check(error);
      say('trouble', error.code ?? error.name, error.message.replaceAll('\n', ' '));
    }
    await delay(random() * PAUSE_MS);
  }
}
ended = work();
await ended;
