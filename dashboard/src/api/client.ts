// Asking the server: JSON in, JSON out, every failure an ApiError with a sentence for a person. The token lives in this module's
// memory and in the Authorization header, nowhere else: not in an address, not in storage; a closed tab has forgotten it.
export interface Query {
  readonly [key: string]: string | number | boolean | undefined;
}

interface Problem {
  readonly status?: number;
  readonly code?: string;
  readonly detail?: string;
  readonly retryable?: boolean;
  readonly [fact: string]: unknown;
}

/** What went wrong. `status` is 0 where no answer came. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly retryable: boolean;
  readonly facts: Readonly<Record<string, unknown>>;

  constructor({ status = 0, code = 'UNREACHABLE', detail, retryable = false, ...facts }: Problem) {
    super(detail ?? `the server answered ${status}`);
    this.status = status;
    this.code = code;
    this.retryable = retryable;
    this.facts = facts;
  }
}

/** How long an answer may take before the page stops waiting for it. */
const ANSWER_MS = 15_000;

let token: string | undefined;
let onRefusal: (status: 401 | 403, why: string) => void = () => undefined;

export function setToken(text: string | undefined): void {
  token = text;
}
export function hasToken(): boolean {
  return token !== undefined;
}
/** Told whenever the server does not know who asks (401), or does not allow it (403): the token may have changed since. */
export function whenRefused(listener: typeof onRefusal): void {
  onRefusal = listener;
}

export function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  return ask<T>('GET', withQuery(path, query), undefined, signal);
}
export function post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  return ask<T>('POST', path, body, signal);
}
export function patch<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  return ask<T>('PATCH', path, body, signal);
}
/** Whatever changes something says application/json, with or without a body. */
export function remove<T>(path: string, signal?: AbortSignal): Promise<T> {
  return ask<T>('DELETE', path, undefined, signal);
}

/** An answer of any kind, for downloads and streams. Answers that are no success are thrown. */
export async function request(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  signal?: AbortSignal,
  body?: string,
): Promise<Response> {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const init: RequestInit = {
    method,
    headers: { ...headers, ...authorization },
    cache: 'no-store',
    credentials: 'omit',
  };
  const sentWith = token;
  let response: Response;
  try {
    response = await fetch(path, { ...init, ...(signal ? { signal } : {}), ...(body === undefined ? {} : { body }) });
  } catch (error) {
    if (signal?.aborted === true && !isTimeout(signal.reason)) throw error;
    throw new ApiError({ detail: 'the server does not answer', retryable: true });
  }
  if (response.ok) return response;
  const problem = await problemOf(response);
  const { status } = response;
  if ((status === 401 || status === 403) && sentWith === token) onRefusal(status, problem.message);
  throw problem;
}

export function withQuery(path: string, query: Query): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(pairs.map(([key, value]) => [key, String(value)])).toString();
  return text === '' ? path : `${path}?${text}`;
}

/** A request that was given up on purpose: nothing to tell anybody. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

async function ask<T>(method: string, path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const patience = AbortSignal.timeout(ANSWER_MS);
  const ends = signal ? AbortSignal.any([signal, patience]) : patience;
  const isChange = method !== 'GET';
  const headers = isChange ? { 'content-type': 'application/json' } : {};
  const response = await request(method, path, headers, ends, body === undefined ? undefined : JSON.stringify(body));
  return (await response.json()) as T;
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError';
}

async function problemOf(response: Response): Promise<ApiError> {
  const { status } = response;
  try {
    return new ApiError({ ...((await response.json()) as Problem), status });
  } catch {
    // Something between the page and the server answered, in words of its own.
    return new ApiError({
      status,
      code: 'UNEXPECTED',
      detail: `unexpected answer ${status}`,
      retryable: status >= 500,
    });
  }
}
