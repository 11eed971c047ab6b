// Where the time of a hand-over on Redis goes: the rounds of bench/queue.mjs, ours and the peers as there, with a note of when sockets were
// written to and read from. A turn is three pieces: release is called, written; the next has the message that it was handed over, holds. The notes cost a little, so the figures of the hand-over itself are those of the suite `redis`.
import { fileURLToPath } from 'node:url';
import { median, percentile, shown } from './measure.mjs';
import { playRounds } from './queue.mjs';
import { OURS } from './rivals.mjs';
import { startRedis } from './servers.mjs';

const CHILD = fileURLToPath(new URL('pieces-child.mjs', import.meta.url));
const PIECES = ['released to written', 'to the message', 'to holding'];

export async function benchPieces(say) {
  say('pieces: where a hand-over on Redis goes (about three minutes)');
  const server = await startRedis();
  const turns = [];
  try {
    await playRounds({ kind: 'redis', url: server.url, child: CHILD }, (rival, played, releasedAt) => {
      if (rival === OURS) turns.push(...piecesOf(played, releasedAt));
    });
  } finally {
    await server.remove();
  }
  return rowsOf(turns);
}

/** Of the gate's release it is not known when it was written: a first turn has its first two pieces in one. */
function piecesOf(played, gateReleasedAt) {
  const asServed = [...played].sort((a, b) => a.heldAt - b.heldAt);
  return asServed.map(({ heldAt, marks }, i) => {
    const before = asServed[i - 1];
    const releasedAt = before?.releasedAt ?? gateReleasedAt;
    const own = marks.filter(([, at]) => at >= releasedAt && at <= heldAt);
    const written = before?.marks.find(([what, at]) => what === 'written' && at >= releasedAt)?.[1] ?? releasedAt;
    const message = own.find(([what]) => what === 'read')?.[1];
    const moments = [releasedAt, written, message, heldAt];
    return { isFirst: i === 0, whole: heldAt - releasedAt, pieces: PIECES.map((_, k) => moments[k + 1] - moments[k]) };
  });
}

function rowsOf(turns) {
  const of = (name, values) =>
    shown({ name, store: 'redis', concurrency: 8, unit: 'ms', figures: [median(values), p99(values)] });
  const later = turns.filter(({ isFirst }) => !isFirst);
  const first = turns.filter(({ isFirst }) => isFirst);
  return [
    of(
      'a turn: median; p99',
      turns.map(({ whole }) => whole),
    ),
    ...PIECES.map((name, k) =>
      of(
        `of it, ${name}: median; p99`,
        later.map(({ pieces }) => pieces[k]),
      ),
    ),
    of(
      'of a first turn, released to the message: median; p99',
      first.map(({ pieces }) => pieces[0] + pieces[1]),
    ),
  ];
}

function p99(values) {
  return percentile(
    [...values].sort((a, b) => a - b),
    0.99,
  );
}
