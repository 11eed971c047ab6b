// A process that holds: node holder-child.mjs CONTENDER PLACE. It does what its parent says (lock, release) and tells when it
// asked, held, let go and was told that its lock is lost, on the clock all processes share. What does not renew itself is
// extended by hand at 0.6 of its time, as its documentation asks of the caller.
import { contender } from './contenders.mjs';

const EXTEND_AT = 0.6;
const [id, place] = process.argv.slice(2);
const now = () => Number(process.hrtime.bigint()) / 1e6;
const tell = (message) => process.connected && process.send(message);
const opened = await contender(id).open(JSON.parse(place));
let held;
let extending;

process.on('message', ({ lock, ttlMs, release, warm }) => {
  if (lock !== undefined) void take(lock, ttlMs);
  if (release) void letGo();
  if (warm) void warmUp(warm);
});
process.on('disconnect', () => process.exit(0));
// What a library throws into the void when its store is gone tells its holder as well.
process.on('unhandledRejection', told);
process.on('uncaughtException', told);
tell({ ready: true });

async function take(name, ttlMs) {
  const asked = opened.lock(`${id}/${name}`, ttlMs, told); // contenders of one server do not meet
  tell({ asked: true });
  held = await asked;
  tell({ heldAt: now() });
  if (held.extend) extending = setInterval(() => held.extend().catch(told), ttlMs * EXTEND_AT);
}

async function letGo() {
  clearInterval(extending);
  const releasedAt = now();
  await held.release();
  tell({ releasedAt });
}

async function warmUp(times) {
  for (let i = 0; i < times; i += 1) await (await opened.lock(`${id}/warm/${process.pid}`)).release();
  tell({ warm: true });
}

function told(reason) {
  tell({ toldAt: now(), why: String(reason?.message ?? reason?.type ?? reason) });
}
