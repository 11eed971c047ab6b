// A list of requests through one script and back: a bad item fails alone and is not sent (S21), every answer finds its place. A
// list of plain requests, and one of releases of what this store was granted itself, goes in the form that costs the server least.
import { checkItem, isRequestId } from '../../domain/check-request.js';
import { LeaseError } from '../../domain/errors.js';
import type { AcquireRequest, EndRequest } from '../../domain/requests.js';
import type { AcquireResult, Answers, EndResult, Failed } from '../store.js';
import { AcquireItem, endItem, endResult, type Answer, type Item, type Moment } from './items.js';
import type { Script } from './link.js';
import { SCRIPTS } from './lua/scripts.js';
import type { Answered } from './namespace.js';
import { sharedFigures, type OwnLeases, type SharedFigures } from './own-leases.js';
import { acquireCall, endCall, type OwnRelease } from './plain-lists.js';

type Run = (script: Script, args: readonly string[]) => Promise<Answered>;

/** The items that can be sent, and what the others came to. */
function prepare<Q, I>(requests: readonly Q[], encode: (request: Q) => I): (I | Failed)[] {
  return requests.map((request) => {
    try {
      checkItem(request);
      return encode(request);
    } catch (error) {
      if (error instanceof LeaseError) return { outcome: 'failed', error };
      throw error;
    }
  });
}

function isSent<I extends Item<unknown>>(item: I | Failed): item is I {
  return 'read' in item;
}

/** Sends what can be sent in one script, and puts the answers in their places. */
export async function askItems<Q extends object, R>(
  run: (args: readonly string[]) => Promise<Answered>,
  requests: readonly Q[],
  encode: (request: Q) => Item<R>,
): Promise<Answers<R>> {
  const items = prepare(requests, encode);
  return inPlace(items, await run(items.filter(isSent).map((item) => item.text())));
}

function inPlace<R>(items: readonly (Item<R> | Failed)[], answered: Answered): Answers<R> {
  const { moment, rest } = answered;
  let at = 0;
  return answersOf(
    answered,
    items.map((item) => (isSent(item) ? item.read(rest[at++] as Answer, moment) : item)),
  );
}

export async function askAcquires(
  run: Run,
  requests: readonly AcquireRequest[],
  own: OwnLeases,
  mayBeHanded: boolean,
): Promise<Answers<AcquireResult>> {
  const items = prepare(requests, (request) => new AcquireItem(request, mayBeHanded));
  const sent = items.filter(isSent);
  const call = acquireCall(sent) ?? { script: SCRIPTS.acquire, args: sent.map((item) => item.text()) };
  const answered = await run(call.script, call.args);
  const [count, epoch] = answered.rest;
  if (typeof count !== 'number') return inPlace(items, answered);
  // A text: a client may round whole numbers this large (S17).
  return answersOf(answered, allGranted(items, answered.moment, Number(epoch), own));
}

/** Epochs are drawn in the order of the list. */
function allGranted(
  items: readonly (AcquireItem | Failed)[],
  moment: Moment,
  firstEpoch: number,
  own: OwnLeases,
): (AcquireResult | Failed)[] {
  let shared: SharedFigures | undefined;
  let epoch = firstEpoch;
  return items.map((item) => {
    if (!isSent(item)) return item;
    const result = item.granted(epoch, moment);
    const { id, owner, name } = item;
    shared = sharedFigures(result.lease, shared);
    own.remember({ id, owner, name, epoch, shared });
    epoch += 1;
    return result;
  });
}

function answersOf<R>({ reply }: Answered, results: (R | Failed)[]): Answers<R> {
  const { now, incarnation, settingsVersion } = reply;
  return { now, incarnation, settingsVersion, results };
}

const RELEASED = { outcome: 'released', again: false, blockedMs: 0 } as const;

export async function askEnds(run: Run, requests: readonly EndRequest[], own: OwnLeases): Promise<Answers<EndResult>> {
  const releases = ownReleases(requests, own);
  const call = releases && endCall(releases);
  if (!call) {
    own.forget(requests);
    return askItems((args) => run(SCRIPTS.end, args), requests, endItem);
  }
  const answered = await run(call.script, call.args);
  const { rest } = answered;
  const isDone = typeof rest[0] === 'number';
  return answersOf(
    answered,
    releases.map((_, i) => (isDone ? released(rest[1], rest[2]) : endResult(rest[i] as Answer))),
  );
}

/** Of a call with one item it is said what was handed over. */
function released(id: unknown, epoch: unknown): EndResult {
  return typeof id === 'string' ? { ...RELEASED, handedTo: { id, epoch: Number(epoch) } } : RELEASED;
}

/** All of them, or nothing; those that were looked at are remembered no longer. */
function ownReleases(requests: readonly EndRequest[], own: OwnLeases): readonly OwnRelease[] | undefined {
  const releases: OwnRelease[] = [];
  for (const request of requests as readonly (EndRequest | null)[]) {
    const lease = request && own.take(request.id, request.epoch);
    if (!lease || !isRequestId(request.requestId)) return undefined;
    releases.push({ lease, requestId: request.requestId });
  }
  return releases;
}
