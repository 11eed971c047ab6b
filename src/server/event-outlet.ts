// One client of the event stream, as a body that is written to (W1). It takes whole events only, so wherever it is cut the last
// `id` a client has seen is one to resume at. What a client does not read is kept up to a bound; past it, or when nothing was
// taken for half a minute, the client is cut.
//
//   open --finish--> closing (what is queued still goes out) --> over
//     └──cut | client gone--> over
import type { ServerRequest } from './context.js';

const encoder = new TextEncoder();
/** What a client that reads may have under way before catching up pauses for it. */
const COMFORTABLE_BYTES = 64 * 1_024;
const SILENT_BEATS = 2;

export class EventOutlet {
  readonly body: ReadableStream<Uint8Array>;
  readonly #mostBytes: number;
  readonly #destroy: (() => void) | undefined;
  readonly #onOver: () => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #onRoom: (() => void) | undefined;
  #waiting: Promise<void> | undefined;
  #isOver = false;
  #beatsUnread = 0;

  /** `destroy` ends the connection where there is one; `onOver` is called once, whatever the end was. */
  constructor(mostBytes: number, destroy: (() => void) | undefined, onOver: () => void) {
    this.#mostBytes = mostBytes;
    this.#destroy = destroy;
    this.#onOver = onOver;
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => {
          this.#beatsUnread = 0;
          this.#room();
        },
        cancel: () => this.#over(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: COMFORTABLE_BYTES }),
    );
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** True at the end too: there is nothing to wait for. */
  get isRoomy(): boolean {
    return this.#isOver || (this.#controller?.desiredSize ?? 1) > 0;
  }

  /** Whole events. One that comes upon a full queue cuts the client. */
  send(events: Uint8Array | string): void {
    if (this.#isOver) return;
    const controller = this.#controller as ReadableStreamDefaultController<Uint8Array>;
    if (this.#queuedBytes(controller) > this.#mostBytes) this.cut();
    else controller.enqueue(typeof events === 'string' ? encoder.encode(events) : events);
  }

  /** The same for a sign of life: a client that let two of them lie is gone. */
  beat(text: string): void {
    this.#beatsUnread += 1;
    const isStuck = this.#controller !== undefined && this.#queuedBytes(this.#controller) > 0;
    if (isStuck && this.#beatsUnread > SILENT_BEATS) this.cut();
    else this.send(text);
  }

  /** Resolves when there is room again, or at the end. */
  async hasRoom(): Promise<void> {
    if (this.isRoomy) return;
    this.#waiting ??= new Promise<void>((resolve) => {
      this.#onRoom = resolve;
    });
    await this.#waiting;
  }

  finish(last: string): void {
    if (this.#isOver) return;
    if (last !== '') this.send(last);
    if (!this.#isOver) this.#controller?.close();
    this.#over();
  }

  cut(): void {
    if (this.#isOver) return;
    this.#over();
    if (this.#destroy) this.#destroy();
    else this.#controller?.error(new Error('the client does not read'));
  }

  #queuedBytes({ desiredSize }: ReadableStreamDefaultController<Uint8Array>): number {
    return COMFORTABLE_BYTES - (desiredSize ?? 0);
  }

  #room(): void {
    this.#onRoom?.();
    this.#onRoom = undefined;
    this.#waiting = undefined;
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#room();
    this.#onOver();
  }
}

/** What ends the connection of a client that does not read: there is nothing left to tell it. */
export function destroyerOf({ env }: ServerRequest): (() => void) | undefined {
  const { outgoing } = (env ?? {}) as { outgoing?: { destroy(): void } };
  return outgoing && (() => outgoing.destroy());
}
