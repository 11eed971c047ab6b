// Where those who wait here are told: each owner has a channel of its own, so that a freed name wakes the process that is next and not
// every process that waits for something. A channel is heard from the first ticket of its owner on, and kept after the last one for
// the next: usually a process is one owner. Until it is heard, and after it was left, the scripts find nobody there and tell
// everybody (lua/step.ts), so coming late loses nothing.
import type { LinkListener } from './link.js';

/** A server waits for many owners, who come and go. */
const KEPT_IDLE = 32;

export interface OwnerListener {
  message(payload: string): void;
  /** Heard from now on; another process of that name may have been told of these meanwhile. */
  up(tickets: readonly string[]): void;
}

interface Channel {
  readonly tickets: Set<string>;
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

  joined(owner: string, ticket: string): void {
    const known = this.#channels.get(owner);
    if (known) known.tickets.add(ticket);
    else this.#channels.set(owner, this.#hear(owner, new Set([ticket])));
    this.#idle.delete(owner);
  }

  left(owner: string, ticket: string): void {
    const channel = this.#channels.get(owner);
    if (!channel?.tickets.delete(ticket) || channel.tickets.size > 0) return;
    this.#idle.add(owner);
    const [oldest] = this.#idle;
    if (this.#idle.size > KEPT_IDLE && oldest !== undefined) this.#leave(oldest);
  }

  close(): void {
    for (const owner of [...this.#channels.keys()]) this.#leave(owner);
  }

  #hear(owner: string, tickets: Set<string>): Channel {
    const leave = this.#subscribe(owner, {
      message: (payload) => this.#listener.message(payload),
      down: () => undefined, // the channel for all says so
      up: () => this.#listener.up([...tickets]),
    });
    return { tickets, leave };
  }

  #leave(owner: string): void {
    this.#channels.get(owner)?.leave();
    this.#channels.delete(owner);
    this.#idle.delete(owner);
  }
}
