// Where those who wait here are told: each owner has a channel of its own, so that a freed name wakes the process that is next and not
// every process that waits for something. A channel is heard from the first ticket of its owner on, and kept after the last one for
// the next: usually a process is one owner. Until it is heard, and after it was left, the scripts find nobody there and tell
// everybody (lua/step.ts), so coming late loses nothing.
import type { LinkListener } from './link.js';

/** A server waits for many owners, who come and go. */
const KEPT_IDLE = 32;

export interface OwnerListener {
  message(payload: string): void;
  /** Heard from now on; another process of that name may have been told meanwhile. */
  up(owner: string): void;
}

interface Channel {
  tickets: number;
  readonly leave: () => void;
}

export class OwnerChannels {
  readonly #subscribe: (owner: string, listener: LinkListener) => () => void;
  readonly #listener: OwnerListener;
  readonly #channels = new Map<string, Channel>();
  /** The owners without a ticket, the longest so first. */
  readonly #idle = new Set<string>();

  constructor(subscribe: (owner: string, listener: LinkListener) => () => void, listener: OwnerListener) {
    this.#subscribe = subscribe;
    this.#listener = listener;
  }

  joined(owner: string): void {
    const known = this.#channels.get(owner);
    if (known) known.tickets += 1;
    else this.#channels.set(owner, { tickets: 1, leave: this.#hear(owner) });
    this.#idle.delete(owner);
  }

  left(owner: string): void {
    const channel = this.#channels.get(owner);
    if (!channel) return;
    channel.tickets -= 1;
    if (channel.tickets > 0) return;
    this.#idle.add(owner);
    const [oldest] = this.#idle;
    if (this.#idle.size > KEPT_IDLE && oldest !== undefined) this.#leave(oldest);
  }

  close(): void {
    for (const owner of [...this.#channels.keys()]) this.#leave(owner);
  }

  #hear(owner: string): () => void {
    return this.#subscribe(owner, {
      message: (payload) => this.#listener.message(payload),
      down: () => undefined, // the channel for all says so
      up: () => this.#listener.up(owner),
    });
  }

  #leave(owner: string): void {
    this.#channels.get(owner)?.leave();
    this.#channels.delete(owner);
    this.#idle.delete(owner);
  }
}
