// A store that freezes: every process of the server is stopped, or another process is stopped inside a write transaction of the
// file. From that moment until the holder is told, by whatever the library tells with: our signal, `onLockLost` of
// redis-semaphore, the failing campaign of etcd3; a holder that extends by hand is told when that is refused. All side by side.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { scaled } from '../scale.mjs';
import { attempt } from './attempt.mjs';
import { takingPart } from './contenders.mjs';
import { Holder } from './holder.mjs';
import { serverOf } from './places.mjs';
import { PATIENCE_MS, TTL_MS } from './rows.mjs';
import { summary } from './takeover.mjs';

const ROUNDS = scaled(3, 1);
const START_MS = 120_000;
const WRITER = fileURLToPath(new URL('../frozen-store-child.mjs', import.meta.url));
const now = () => Number(process.hrtime.bigint()) / 1e6;

export async function frozen(say, places) {
  const results = takingPart('frozen').map((one) => ({
    one,
    waits: [],
    result: { contender: one.id, measure: 'frozen' },
  }));
  for (let round = 0; round < ROUNDS; round += 1) {
    say(`public: frozen stores, round ${round + 1} of ${ROUNDS}`);
    await playRound(round, results, places);
  }
  return results.map(({ result, waits }) => ({ ...result, ...(result.dash === undefined ? summary(waits) : {}) }));
}

async function playRound(round, results, places) {
  const playing = results.filter(({ result }) => result.dash === undefined);
  await Promise.all(playing.map((player) => attempt(player.one, player.result, () => hold(player, round, places))));
  await delay(300 + ((round + Math.random()) * TTL_MS) / ROUNDS); // any moment of its renewals
  const isHolding = playing.filter(({ result }) => result.dash === undefined);
  const frozenAt = await freezeAll(isHolding, places);
  await Promise.all(
    isHolding.map((player) =>
      attempt(player.one, player.result, async () => {
        const told = await player.holder.next('toldAt', PATIENCE_MS);
        if (told !== undefined && told.toldAt < frozenAt.get(player)) throw new Error(`lost before: ${told.why}`);
        player.waits.push(told === undefined ? Infinity : told.toldAt - frozenAt.get(player));
      }),
    ),
  );
  for (const server of Object.values(places.servers)) server.thaw();
  await Promise.all(playing.flatMap(({ holder, writer }) => [holder?.end(), writer && endWriter(writer)]));
}

async function hold(player, round, places) {
  const place = places.of(player.one);
  player.holder = await Holder.start(player.one, place);
  player.writer = undefined;
  player.holder.send({ lock: `frozen/${round}`, ttlMs: TTL_MS });
  if ((await player.holder.next('heldAt', START_MS)) === undefined) throw new Error('not held');
}

/** When each store froze. */
async function freezeAll(players, places) {
  const frozenAt = new Map();
  await Promise.all(
    players
      .filter(({ one }) => one.file)
      .map(async (player) => {
        player.writer = fork(WRITER, [places.of(player.one).file], { stdio: 'inherit' });
        await once(player.writer, 'message');
        player.writer.kill('SIGSTOP');
        frozenAt.set(player, now());
      }),
  );
  for (const [kind, server] of Object.entries(places.servers)) {
    for (const player of players) if (serverOf(player.one) === kind) frozenAt.set(player, now());
    server.freeze();
  }
  return frozenAt;
}

async function endWriter(writer) {
  const gone = once(writer, 'exit');
  writer.kill('SIGKILL');
  await gone;
}
