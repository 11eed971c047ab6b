// A list of requests through one script and back: a bad item fails alone and is not sent (S21), every answer finds its place. A
// list of plain requests, and one of releases of what this store was granted itself, goes in the form that costs the server least.
import { checkItem } from '../../domain/check-request.js';
import { LeaseError } from '../../domain/errors.js';
import type { AcquireRequest, EndRequest } from '../../domain/requests.js';
import type { AcquireResult, Answers, EndResult, Failed } from '../store.js';
import { acquireItem, endItem, type AcquireItem, type Answer, type Item, type Moment } from './items.js';
import type { Script } from './link.js';
import { SCRIPTS } from './lua/scripts.js';
import type { Answered } from './namespace.js';
import { sharedFigures, type OwnLease, type OwnLeases, type SharedFigures } from './own-leases.js';
import { acquireCall, endCall, type OwnRelease, type PlainRequest } from './plain-lists.js';

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

function inPlace<R>(items: readonly (Item<R> | Failed)[], { reply, moment, rest }: Answered): Answers<R> {
  let at = 0;
  const results = items.map((item) => (isSent(item) ? item.read(rest[at++] as Answer, moment) : item));
  return { ...reply, results };
}

export async function askAcquires(
  run: Run,
  requests: readonly AcquireRequest[],
  own: OwnLeases,
): Promise<Answers<AcquireResult>> {
  const items = prepare(requests, acquireItem);
  const sent = items.filter(isSent);
  const plain = plainOnes(sent);
  const [script, args] = (plain && acquireCall(plain)) ?? [SCRIPTS.acquire, sent.map((item) => item.text())];
  const answered = await run(script, args);
  const [epoch, arrival] = answered.rest;
  if (typeof epoch !== 'number') return inPlace(items, answered);
  const results = allGranted(items, answered.moment, [epoch, Number(arrival)], own);
  return { ...answered.reply, results };
}

/** Epochs and arrivals are drawn in the order of the list. */
function allGranted(
  items: readonly (AcquireItem | Failed)[],
  moment: Moment,
  [epoch, arrival]: readonly [number, number],
  own: OwnLeases,
): (AcquireResult | Failed)[] {
  let at = 0;
  let shared: SharedFigures | undefined;
  return items.map((item) => {
    if (!isSent(item)) return item;
    const result = item.granted(epoch + at, moment);
    const { id, owner, name } = item.plain as PlainRequest;
    shared = sharedFigures(result.lease, shared);
    own.remember({ id, owner, name, epoch: epoch + at, arrival: arrival + at, shared });
    at += 1;
    return result;
  });
}

function plainOnes(items: readonly AcquireItem[]): readonly PlainRequest[] | undefined {
  const all: PlainRequest[] = [];
  for (const { plain } of items) {
    if (!plain) return undefined;
    all.push(plain);
  }
  return all;
}

const RELEASED: EndResult = { outcome: 'released', again: false, blockedMs: 0 };

export async function askEnds(run: Run, requests: readonly EndRequest[], own: OwnLeases): Promise<Answers<EndResult>> {
  const items = prepare(requests, endItem);
  const sent = requests.filter((_, i) => isSent(items[i] as Item<EndResult> | Failed));
  const releases = ownReleases(sent, own);
  const texts = (): string[] => items.filter(isSent).map((item) => item.text());
  const [script, args] = (releases && endCall(releases)) ?? [SCRIPTS.end, texts()];
  const answered = await run(script, args);
  if (typeof answered.rest[0] !== 'number') return inPlace(items, answered);
  return { ...answered.reply, results: items.map((item) => (isSent(item) ? RELEASED : item)) };
}

/** All of them, or nothing; in either case they are remembered no longer. */
function ownReleases(requests: readonly EndRequest[], own: OwnLeases): readonly OwnRelease[] | undefined {
  const leases = requests.map(({ id, epoch }) => own.take(id, epoch));
  if (leases.includes(undefined)) return undefined;
  return requests.map(({ requestId }, i) => ({ lease: leases[i] as OwnLease, requestId }));
}
