// Hand-over against the peers: 8 processes ask for one name, one after the other, while somebody holds it; then it is let go
// and each has one turn. Measured from the call of release in one process to the moment the next has the lock; compared with
// the order in which they asked. Rounds of ours and of each peer alternate. A process that takes its own lock again at once
// is no hand-over, which is why nobody has a second turn within a round.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { median, percentile, row, shown } from './measure.mjs';
import { ADVISORY, openRivals, OURS } from './rivals.mjs';
import { scaled } from './scale.mjs';

const PROCESSES = 8;
const ROUNDS = scaled(60, 3);
/** Not counted: compilers and statements are cold at first, on all sides. */
const WARM_UP_ROUNDS = scaled(10, 1);
/** A question has arrived by then: the order in which they asked is known. */
const ASKED_MS = 10;
/** Those who poll ask, and are let in, at no particular moment of each other's pauses. */
const APART_MS = 40;
const PAUSE_MS = 300;
const CHILD = fileURLToPath(new URL('queue-child.mjs', import.meta.url));

export async function queueHandOver(kind, url) {
  const results = new Map();
  await playRounds({ kind, url, child: CHILD }, (rival, turns, releasedAt) => {
    if (!results.has(rival)) results.set(rival, { waits: [], outOfTurn: 0 });
    tally(results.get(rival), turns, releasedAt);
  });
  return rowsOf(kind, results);
}

/** `each` is told of every round that counts: whose it was, the turns in the order in which the processes asked, and when the first began. */
export async function playRounds({ kind, url, child: program }, each) {
  const rivals = await openRivals(kind, url);
  const children = Array.from({ length: PROCESSES }, () => fork(program, [kind, url], { stdio: 'inherit' }));
  await Promise.all(children.map((child) => once(child, 'message')));
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round += 1) {
    for (const rival of rivals) {
      const { turns, releasedAt } = await playRound(rival, shuffled(children));
      if (round >= 0) each(rival.name, turns, releasedAt);
    }
  }
  for (const child of children) child.send({ end: true });
  await Promise.all(children.map((child) => once(child, 'exit')));
  await Promise.all(rivals.map((rival) => rival.close()));
}

/** The turns in the order in which the processes asked. */
async function playRound(rival, line) {
  const gate = await rival.lock('baton');
  for (const child of line) {
    const asked = once(child, 'message');
    child.send({ rival: rival.name });
    await asked;
    await delay(ASKED_MS + Math.random() * APART_MS);
  }
  await delay(Math.random() * PAUSE_MS);
  const reports = line.map((child) => once(child, 'message'));
  const releasedAt = Number(process.hrtime.bigint()) / 1e6;
  await gate.release();
  return { turns: (await Promise.all(reports)).map(([turn]) => turn), releasedAt };
}

function tally(result, turns, gateReleasedAt) {
  const asServed = turns.map((turn, asked) => ({ ...turn, asked })).sort((a, b) => a.heldAt - b.heldAt);
  let releasedAt = gateReleasedAt;
  const line = turns.map((_, asked) => asked);
  for (const turn of asServed) {
    result.waits.push(turn.heldAt - releasedAt);
    releasedAt = turn.releasedAt;
    if (line[0] !== turn.asked) result.outOfTurn += 1;
    line.splice(line.indexOf(turn.asked), 1);
  }
}

function rowsOf(store, results) {
  const figures = [...results].map(([name, { waits, outOfTurn }]) => ({
    name,
    outOfTurn,
    middle: median(waits),
    p99: percentile(
      [...waits].sort((a, b) => a - b),
      0.99,
    ),
  }));
  const ours = figures.find(({ name }) => name === OURS);
  const peers = figures.filter(({ name }) => name !== OURS && name !== ADVISORY).sort((a, b) => a.p99 - b.p99);
  const [best] = peers;
  const same = { store, concurrency: PROCESSES, unit: 'ms' };
  return [
    row({
      ...same,
      name: 'hand-over between processes, p99',
      ours: ours.p99,
      baseline: best.p99,
      baselineName: best.name,
      ratio: ours.p99 / best.p99,
      target: 0.2,
      atMost: true,
    }),
    row({
      ...same,
      name: 'hand-over, grants out of turn',
      unit: 'grants',
      ours: ours.outOfTurn,
      baseline: best.outOfTurn,
      baselineName: best.name,
      ratio: ours.outOfTurn,
      target: 0,
      atMost: true,
    }),
    ...figures.map(({ name, middle, p99: late, outOfTurn }) =>
      shown({ ...same, name: `hand-over of ${name}: median; p99; ${outOfTurn} out of turn`, figures: [middle, late] }),
    ),
  ];
}

function shuffled(items) {
  const rest = [...items];
  return items.map(() => rest.splice(Math.floor(Math.random() * rest.length), 1)[0]);
}
