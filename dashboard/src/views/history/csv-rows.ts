// Counts the rows of CSV that comes in pieces, wherever it is cut: a line break inside quotes is not the end of a row.
const QUOTE = 0x22;
const LINE_FEED = 0x0a;

export class CsvRows {
  #count = 0;
  #isQuoted = false;

  get count(): number {
    return this.#count;
  }

  /** Answers how many rows ended so far, the heading included. Doubled quotes open and close again, which comes to the same. */
  add(bytes: Uint8Array): number {
    for (const byte of bytes) {
      if (byte === QUOTE) this.#isQuoted = !this.#isQuoted;
      else if (byte === LINE_FEED && !this.#isQuoted) this.#count += 1;
    }
    return this.#count;
  }
}
