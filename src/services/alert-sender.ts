// Sends notices of alerts to the webhook beside the monitor's ticks, so that a receiver that hangs holds up no look at the
// figures. What has been sent is told once, when the monitor asks; the monitor crosses it off in the store.
import type { Clock } from '../domain/clock.js';
import { sendNotice, type Notice } from '../observe/webhook.js';
import type { Logger } from '../observe/logger.js';

export class AlertSender {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #underWay = new Map<string, Promise<void>>();
  #sent = new Set<string>();
  #life = new AbortController();

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  isSending(id: string): boolean {
    return this.#underWay.has(id);
  }

  /** Ids that were taken since the last time this was asked. */
  takeSent(): ReadonlySet<string> {
    const sent = this.#sent;
    this.#sent = new Set();
    return sent;
  }

  send(url: string, secret: string, notice: Notice): void {
    if (this.#underWay.has(notice.id)) return;
    const { signal } = this.#life;
    const sending = sendNotice({ url, secret, clock: this.#clock, signal }, notice)
      .then(
        () => void this.#sent.add(notice.id),
        (error: unknown) => {
          if (!signal.aborted) this.#logger.warn({ err: error, notice: notice.id }, 'an alert could not be sent');
        },
      )
      .finally(() => this.#underWay.delete(notice.id));
    this.#underWay.set(notice.id, sending);
  }

  /** Ends what is under way; it stays in the outbox, and whoever comes next sends it. */
  async stop(): Promise<void> {
    this.#life.abort();
    await Promise.all(this.#underWay.values());
    this.#life = new AbortController();
  }
}
