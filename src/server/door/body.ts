// The body of a request, read within its bound (W5): a length that is announced is compared before a byte is read, one that is
// not (chunked) is counted while it comes. A body that stops half-way is Node's to end (server-settings.ts).
import { invalid } from '../../domain/errors.js';
import { withStatus } from '../problem.js';
import { parseStrictJson } from './strict-json.js';

export interface BodyLimits {
  readonly bodyBytes: number;
  readonly depth: number;
}

/** The JSON value; undefined when nothing was sent. */
export async function readBody(request: Request, limits: BodyLimits): Promise<unknown> {
  const { headers, method } = request;
  const announced = headers.get('content-length');
  const isChunked = headers.has('transfer-encoding');
  const isBodyless = method === 'GET' || method === 'HEAD';
  if (announced === null && !isChunked) return undefined;
  if (announced !== null && Number(announced) > limits.bodyBytes) throw tooLarge(limits);
  if (isBodyless) {
    if (announced === '0') return undefined;
    throw invalid(`a ${method} takes no body: put what you ask for in the query`);
  }
  const bytes = await (isChunked ? counted(request, limits) : whole(request));
  return bytes.length === 0 ? undefined : parseStrictJson(bytes, limits.depth);
}

async function whole(request: Request): Promise<Uint8Array> {
  try {
    return new Uint8Array(await request.arrayBuffer());
  } catch {
    throw halfOnly();
  }
}

async function counted(request: Request, limits: BodyLimits): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = (request.body as ReadableStream<Uint8Array> | null)?.getReader();
  for (;;) {
    const piece = await reader?.read().catch(() => {
      throw halfOnly();
    });
    if (piece?.value === undefined) break;
    length += piece.value.length;
    if (length > limits.bodyBytes) {
      reader?.cancel().catch(() => undefined);
      throw tooLarge(limits);
    }
    chunks.push(piece.value);
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

function tooLarge({ bodyBytes }: BodyLimits): Error {
  return withStatus(413, 'INVALID_ARGUMENT', `a body here is at most ${bodyBytes} bytes: send less at once`);
}

function halfOnly(): Error {
  return invalid('the body did not arrive whole');
}
