// Whose tickets are whose: which client of the HTTP store joined a queue, so that a wake-up goes to the one who waits and to
// nobody else. It follows the questions of `acquire`, because a wake-up may overtake the answer, and the answers of `acquire` and
// `end`. What is missing here costs a waiter one refresh of its ticket (Q3), so the book is bounded and forgets the oldest
// entry first.
const MOST_TICKETS = 50_000;

export class Tickets {
  readonly #clients = new Map<string, string>();

  /** Whoever asks to join is woken by its id from now on. Where no answer comes it is asked for again, or forgotten in time. */
  asked(client: string, items: readonly object[]): void {
    for (const item of items) {
      const { id, join } = item as { readonly id?: string; readonly join?: boolean };
      if (id !== undefined && join === true && this.#mayKeep(id, client)) this.#add(id, client);
    }
  }

  /** Keeps the book by what the store answered; an answer that is not 'queued' ends the wait. */
  answered(client: string, items: readonly object[], results: readonly object[]): void {
    for (const [i, result] of results.entries()) {
      const { id } = items[i] as { readonly id?: string };
      if (id === undefined || !this.#mayKeep(id, client)) continue;
      this.#clients.delete(id);
      if ((result as { readonly outcome?: string }).outcome === 'queued') this.#add(id, client);
    }
  }

  clientOf(ticketId: string): string | undefined {
    return this.#clients.get(ticketId);
  }

  /** An id is its client's: who names the ticket of another does not come by its wake-ups. */
  #mayKeep(id: string, client: string): boolean {
    return (this.#clients.get(id) ?? client) === client;
  }

  #add(id: string, client: string): void {
    this.#clients.set(id, client);
    if (this.#clients.size <= MOST_TICKETS) return;
    const [oldest] = this.#clients.keys();
    if (oldest !== undefined) this.#clients.delete(oldest);
  }
}
