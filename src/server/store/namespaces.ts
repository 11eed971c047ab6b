// Which namespaces beside its own the server was asked for (W5). A store keeps what is written in a namespace for good, so those
// that are written in are counted for good; those that were only looked at are remembered while they are among the last, or while
// somebody hears their hints. Of both one token brings in so many at once and then a few: it can shut out itself, and nobody else.
//
//   (not met) --look--> looked at --the oldest of too many, and nobody hears it--> (not met)
//        └───────────────────┴──write──> written in, until the server ends
import type { Clock } from '../../domain/clock.js';
import { LeaseError } from '../../domain/errors.js';
import type { Caller } from '../context.js';
import { RateLimit } from '../door/index.js';

/** Of each kind. */
const MOST_NAMESPACES = 10_000;
/** New ones of one token: at once, and a second after that. */
const AT_ONCE = 1_000;
const A_SECOND = 1;
/** Of the oldest, for each one that is added when there are that many. */
const LOOKED_AT = 16;

export class Namespaces {
  readonly #isHeard: (namespace: string) => boolean;
  readonly #rate: RateLimit;
  readonly #written = new Set<string>();
  /** The one that was asked for longest ago first. */
  readonly #looked = new Set<string>();

  constructor(clock: Clock, isHeard: (namespace: string) => boolean) {
    this.#isHeard = isHeard;
    this.#rate = new RateLimit(clock, A_SECOND, AT_ONCE);
  }

  /** Throws RATE_LIMITED for one too many. */
  meet(namespace: string, { tokenId = '' }: Caller, mayWrite: boolean): void {
    if (this.#written.has(namespace)) return;
    const tooMany = this.#looked.has(namespace) ? undefined : this.#rate.take(tokenId);
    if (tooMany) throw tooMany;
    if (mayWrite) this.#write(namespace);
    else this.#look(namespace);
  }

  #write(namespace: string): void {
    if (this.#written.size >= MOST_NAMESPACES) throw full();
    this.#looked.delete(namespace);
    this.#written.add(namespace);
  }

  #look(namespace: string): void {
    const isKnown = this.#looked.delete(namespace);
    if (!isKnown && this.#looked.size >= MOST_NAMESPACES) this.#forgetOldest();
    this.#looked.add(namespace); // at the end, also where it was known
  }

  #forgetOldest(): void {
    let lookedAt = 0;
    for (const namespace of this.#looked) {
      this.#looked.delete(namespace);
      if (!this.#isHeard(namespace)) return;
      this.#looked.add(namespace);
      lookedAt += 1;
      if (lookedAt === LOOKED_AT) throw full();
    }
  }
}

function full(): LeaseError {
  return new LeaseError('RATE_LIMITED', `this server has met ${MOST_NAMESPACES} namespaces: use fewer`);
}
