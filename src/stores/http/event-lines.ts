// The lines of an event stream (text/event-stream) as far as hints need them: `event` and `data`, ended by an empty line;
// comments and everything else only show that the other side lives. A line that never ends is cut off.
const MOST_CHARACTERS = 4 * 1024 * 1024;

export class EventLines {
  readonly #onEvent: (event: string, data: string) => void;
  #rest = '';
  #event = '';
  #data: string[] = [];

  constructor(onEvent: (event: string, data: string) => void) {
    this.#onEvent = onEvent;
  }

  /** Throws when what came is no event stream of bounded lines. */
  add(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > MOST_CHARACTERS) throw new Error('a line of the event stream does not end');
    for (const line of lines) this.#line(line.endsWith('\r') ? line.slice(0, -1) : line);
  }

  #line(line: string): void {
    if (line === '') {
      if (this.#event !== '' || this.#data.length > 0) this.#onEvent(this.#event, this.#data.join('\n'));
      this.#event = '';
      this.#data = [];
      return;
    }
    const [, field = '', value = ''] = /^([a-z]+): ?(.*)$/s.exec(line) ?? [];
    if (field === 'event') this.#event = value;
    else if (field === 'data') this.#data.push(value);
  }
}
