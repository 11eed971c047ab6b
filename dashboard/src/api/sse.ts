// Server-sent events out of a body, as fetch gives it: EventSource cannot send a header, and a token in an address is told to
// everybody. Only what the server sends is understood: id, event, data, retry, comments.
export interface Frame {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

/** Longer than any event the server writes; a line without an end is no event stream. */
const MOST_CHARS = 8 * 1_024 * 1_024;

/** Whole frames only: what a cut connection left half is dropped, and resumed by the id before it. */
export async function* readFrames(body: ReadableStream<Uint8Array>): AsyncGenerator<Frame[]> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true }).replaceAll('\r', '');
      const end = text.lastIndexOf('\n\n');
      if (end !== -1) {
        yield text.slice(0, end).split('\n\n').map(frameOf);
        text = text.slice(end + 2);
      } else if (text.length > MOST_CHARS) return;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

export function frameOf(text: string): Frame {
  let id: string | undefined;
  let event = 'message';
  const data: string[] = [];
  for (const line of text.split('\n')) {
    const colon = line.indexOf(':');
    if (colon <= 0) continue;
    const value = line.slice(colon + 1).replace(/^ /, '');
    const field = line.slice(0, colon);
    if (field === 'id') id = value;
    else if (field === 'event') event = value;
    else if (field === 'data') data.push(value);
  }
  return { id, event, data: data.join('\n') };
}
