// Where the command writes. Standard output carries the answer and nothing else: text for people, or with `--json` one
// document (one a line for streams). Everything else goes to standard error. Colours only on a terminal, never with
// NO_COLOR. A reader that went away ends the command quietly.
import { safe, safeJson } from './escape.js';

export type Colour = 'bold' | 'dim' | 'red' | 'green' | 'yellow';

const CODES: Readonly<Record<Colour, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
};

export class Output {
  readonly #out: NodeJS.WriteStream;
  readonly #gone = new AbortController();
  /** Why standard output cannot be written to, when it is not that its reader has left. */
  trouble: Error | undefined;

  constructor(out: NodeJS.WriteStream = process.stdout) {
    this.#out = out;
    out.on('error', (error: NodeJS.ErrnoException) => this.#failed(error));
    process.stderr.on('error', () => undefined);
  }

  /** Aborts when nobody reads standard output any more. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  get isTerminal(): boolean {
    return this.#out.isTTY;
  }

  get hasColours(): boolean {
    const { NO_COLOR: no, TERM: term } = process.env;
    return this.isTerminal && (no === undefined || no === '') && term !== 'dumb';
  }

  /** COLUMNS, else the terminal's; a pipe has no edge. */
  get width(): number {
    const asked = Number(process.env['COLUMNS']);
    if (Number.isInteger(asked) && asked > 0) return asked;
    return this.isTerminal && this.#out.columns > 0 ? this.#out.columns : Infinity;
  }

  get height(): number {
    return this.isTerminal && this.#out.rows > 0 ? this.#out.rows : Infinity;
  }

  /** Text as it is: whatever in it came from elsewhere has been through `safe`. */
  write(text: string): void {
    if (!this.gone.aborted && text !== '') this.#out.write(text);
  }

  line(text = ''): void {
    this.write(`${text}\n`);
  }

  json(value: unknown): void {
    this.line(safeJson(value));
  }

  /** Waits until all is written, or cannot be. */
  async flush(): Promise<void> {
    if (this.gone.aborted) return;
    await new Promise<void>((resolve) => {
      this.#out.write('', (error) => {
        if (error) this.#failed(error); // told here first
        resolve();
      });
    });
  }

  #failed(error: NodeJS.ErrnoException): void {
    if (error.code !== 'EPIPE') this.trouble ??= error;
    this.#gone.abort();
  }

  paint(colour: Colour, text: string): string {
    const [on, off] = CODES[colour];
    return this.hasColours ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  }
}

export function cannotBeWritten(trouble: Error): string {
  return `standard output cannot be written: ${trouble.message}`;
}

/** One line on standard error, whatever is in the text. */
export function tell(text: string): void {
  process.stderr.write(`holdfast: ${safe(text.trim())}\n`);
}
