// Starts and stops the services of a process together. One that fails to stop keeps none of the others from stopping.
import type { Logger } from '../observe/logger.js';
import type { Service } from './service.js';

export class Supervisor {
  readonly #services: Service[];
  readonly #logger: Logger;
  #isStopped = false;

  constructor(services: readonly Service[], logger: Logger) {
    this.#services = [...services];
    this.#logger = logger;
  }

  get names(): readonly string[] {
    return this.#services.map((service) => service.name);
  }

  /** One more, started at once; not after `stop`. */
  add(service: Service): void {
    if (this.#isStopped) return;
    this.#services.push(service);
    this.#startOne(service);
  }

  /** Like the `start` of a service: again is harmless, after `stop` too. */
  start(): void {
    this.#isStopped = false;
    for (const service of this.#services) this.#startOne(service);
  }

  #startOne(service: Service): void {
    try {
      service.start();
    } catch (error) {
      this.#logger.error({ err: error, service: service.name }, 'service could not be started');
    }
  }

  /** Stops all at once, waits for each, and answers what went wrong: nothing, unless a service breaks its contract. */
  async stop(): Promise<readonly unknown[]> {
    this.#isStopped = true;
    const stopping = this.#services.map(async (service) => service.stop());
    const ends = await Promise.allSettled(stopping);
    const errors: unknown[] = [];
    ends.forEach((end, i) => {
      if (end.status === 'fulfilled') return;
      errors.push(end.reason);
      this.#logger.error({ err: end.reason as unknown, service: this.names[i] }, 'service could not be stopped');
    });
    return errors;
  }
}
