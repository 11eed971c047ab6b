// Fencing of HTTP requests (G4): a write names what it writes and under which epoch in two headers, and a stale one is
// answered with a problem before the handler runs.
//
//   Holdfast-Resource: orders/0            percent-encoded; several with commas; `;shared`, `;subtree` where it is so
//   Holdfast-Epoch: 42
//
// With a gate that can be kept (memoryGate) it is kept until the handler has finished, so that nobody newer is let in while
// an older write is still happening. Over any other gate, or where each of several processes has a gate of its own, the fence
// advises: it refuses what it knows to be stale, and says at its start that this is all.
import cluster from 'node:cluster';
import { checkKeys } from '../domain/check-keys.js';
import { invalid, LeaseError } from '../domain/errors.js';
import type { HeldLease } from '../manager/face.js';
import { checkWrites, writesOf, type FenceWrite } from './fence.js';
import { isKeeping, type FenceGate } from './gate.js';
import { problem } from './http-problem.js';

export const RESOURCE_HEADER = 'Holdfast-Resource';
export const EPOCH_HEADER = 'Holdfast-Epoch';
/** These change nothing: without the headers they pass. */
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

export interface HttpFenceOptions {
  /** Whether other processes serve the same resources; found out for workers of node:cluster. */
  processes?: 'one' | 'several';
}
/** What is read of a request; a web `Request` is one. */
export interface FencedRequest {
  readonly method: string;
  readonly headers: { get(name: string): string | null };
  readonly signal?: AbortSignal;
}

/** With a handler: its response, or the problem; the gate is kept while it runs. Without one: the problem, or undefined when
 *  the request is admitted now, which says nothing about the moment its effect happens. */
export interface HttpFence {
  (request: FencedRequest): Promise<Response | undefined>;
  <T>(request: FencedRequest, handle: () => Promise<T>): Promise<T | Response>;
  /** Why it only advises; undefined when it enforces. */
  readonly advises: string | undefined;
}

const KNOWN: ReadonlySet<string> = new Set<keyof HttpFenceOptions>(['processes']);

export function httpFence(gate: FenceGate, options: HttpFenceOptions = {}): HttpFence {
  checkKeys(options, KNOWN, 'of a fence');
  const advises = whyAdvising(gate, options);
  if (advises !== undefined) {
    process.emitWarning(`holdfast: this HTTP fence advises, it does not enforce: ${advises}`, {
      code: 'HOLDFAST_FENCE_ADVISES',
    });
  }
  const fence = async <T>(request: FencedRequest, handle?: () => Promise<T>): Promise<T | Response | undefined> => {
    const { signal } = request;
    let hasBegun = false;
    const effect = async (): Promise<T | undefined> => {
      hasBegun = true;
      return handle?.();
    };
    try {
      const writes = writesIn(request);
      if (writes === undefined) return await effect();
      if (isKeeping(gate)) return await gate.during(writes, effect, signal === undefined ? {} : { signal });
      await gate.admit(writes);
    } catch (error) {
      if (!hasBegun && error instanceof LeaseError) return problem(error); // what the handler throws is the handler's
      throw error;
    }
    return effect();
  };
  return Object.assign(fence as HttpFence, { advises });
}

/** The headers a holder sends with a write: of all it holds, or of the one thing below a subtree that it writes. */
export function fenceHeaders(lease: HeldLease, resource?: string): Record<string, string> {
  const writes =
    resource === undefined ? writesOf(lease) : checkWrites({ ...writeUnder(lease, resource), epoch: lease.epoch });
  const items = writes.map(({ resource: name, mode, scope }) => {
    const path = name.split('/').map(encodeURIComponent).join('/');
    return `${path}${mode === 'shared' ? ';shared' : ''}${scope === 'subtree' ? ';subtree' : ''}`;
  });
  return { [RESOURCE_HEADER]: items.join(', '), [EPOCH_HEADER]: String(lease.epoch) };
}

function writeUnder(lease: HeldLease, resource: string): Omit<FenceWrite, 'epoch'> {
  const part = lease.parts.find(
    ({ name, scope }) => name === resource || (scope === 'subtree' && resource.startsWith(`${name}/`)),
  );
  if (!part) throw invalid(`${resource} is not part of this lease: ${lease.resources.join(', ')} is`);
  writesOf({ parts: [part], epoch: lease.epoch }); // a part with a limit cannot be fenced
  return { resource, mode: part.mode };
}

function writesIn({ method, headers }: FencedRequest): FenceWrite[] | undefined {
  const [names, epochText] = [headers.get(RESOURCE_HEADER), headers.get(EPOCH_HEADER)];
  if (names === null && epochText === null) {
    if (SAFE.has(method.toUpperCase())) return undefined;
    throw unfenced();
  }
  if (names === null || epochText === null) throw unfenced();
  if (!/^[1-9]\d{0,15}$/.test(epochText.trim()))
    throw invalid(`${EPOCH_HEADER} is a whole number, as the lease has it`);
  const epoch = Number(epochText);
  return names.split(',').map((item) => {
    const [path = '', ...words] = item.trim().split(';');
    const unknown = words.find((word) => word !== 'shared' && word !== 'subtree');
    if (unknown !== undefined) throw invalid(`${RESOURCE_HEADER} knows ;shared and ;subtree only`);
    return {
      resource: decoded(path),
      epoch,
      mode: words.includes('shared') ? 'shared' : 'exclusive',
      scope: words.includes('subtree') ? 'subtree' : 'node',
    };
  });
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw invalid(`${RESOURCE_HEADER} is not percent-encoded UTF-8`);
  }
}

function unfenced(): LeaseError {
  const message = `this is written under a lease: send ${RESOURCE_HEADER} and ${EPOCH_HEADER} with the request`;
  return new LeaseError('INVALID_ARGUMENT', message, { details: { status: 428 } });
}

function whyAdvising(gate: FenceGate, { processes }: HttpFenceOptions): string | undefined {
  if (!isKeeping(gate))
    return 'its gate cannot be kept while a handler runs; let the handler write through the gate itself';
  const isSeveral = processes === undefined ? cluster.isWorker : processes === 'several';
  return isSeveral ? 'several processes serve, and each has a gate of its own' : undefined;
}
