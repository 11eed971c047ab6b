// The least that a line of waiters costs: who lets go tells the next, who then asks. Three scripts over whatever sends them (a plain
// socket, a client library), without an epoch, a log, a look at who has died, or anybody's second try. No lock to use.
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { asText, openBareSocket } from './bare-socket.mjs';

const JOIN = `if redis.call('EXISTS', KEYS[1]) == 0 and redis.call('LLEN', KEYS[2]) == 0 then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', 30000) return 1 end
redis.call('RPUSH', KEYS[2], ARGV[1]) return 0`;
const CLAIM = `if redis.call('LINDEX', KEYS[2], 0) == ARGV[1] and redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', 30000) then
  redis.call('LPOP', KEYS[2]) return 1 end
return 0`;
const FREE = `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
local next = redis.call('LINDEX', KEYS[2], 0)
if next then redis.call('PUBLISH', next, 'go') end
return 1`;

/** `call` sends a command and resolves with its answer; `hear` listens to one channel. */
export async function smallLock(name, { call, hear, close }) {
  const own = `${name}:${process.pid}`;
  let isTold = () => undefined;
  await hear(own, () => isTold());
  const [join, claim, free] = await Promise.all([JOIN, CLAIM, FREE].map((script) => call(['SCRIPT', 'LOAD', script])));
  const run = async (sha, key) =>
    Number(await call(['EVALSHA', sha, '2', `${name}:${key}`, `${name}:${key}:line`, own]));
  const told = () =>
    new Promise((resolve) => {
      isTold = resolve;
    });
  const lock = async (key) => {
    let turn = told();
    if ((await run(join, key)) === 0) {
      do {
        await turn;
        turn = told();
      } while ((await run(claim, key)) === 0);
    }
    return { release: () => run(free, key) };
  };
  return { name, lock, close };
}

export async function overSockets(url) {
  const [commands, hints] = [await openBareSocket(url), await openBareSocket(url)];
  let line = Promise.resolve();
  /** One at a time: a bare socket takes whatever comes for the answer. */
  const call = (args) => (line = line.then(async () => answerOf(await commands.ask(asText(args)))));
  const hear = async (channel, listener) => {
    await hints.ask(asText(['SUBSCRIBE', channel]));
    hints.hear(listener);
  };
  const close = () => [commands, hints].forEach((socket) => socket.close());
  return { call, hear, close };
}

/** `:1` or a text with its length before it. */
const answerOf = (bytes) => (bytes.startsWith(':') ? bytes.slice(1).trim() : bytes.split('\r\n')[1]);

export async function overRedis(url) {
  const [commands, hints] = [createClient({ url }), createClient({ url })];
  await Promise.all([commands.connect(), hints.connect()]);
  return {
    call: (args) => commands.sendCommand(args),
    hear: (channel, listener) => hints.subscribe(channel, listener),
    close: () => [commands, hints].forEach((client) => client.destroy()),
  };
}

export async function overIoredis(url) {
  const [commands, hints] = [new Redis(url), new Redis(url)];
  return {
    call: ([command, ...args]) => commands.call(command, ...args),
    hear: async (channel, listener) => {
      await hints.subscribe(channel);
      hints.on('message', listener);
    },
    close: () => [commands, hints].forEach((client) => client.disconnect()),
  };
}
