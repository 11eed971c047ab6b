// What this store was granted itself and at most renewed since, so that a release can say what it believes of the lease instead of
// having its row taken apart (lua/end-list.ts). Only a hint, and bounded: what is not remembered, or not true any more, is released
// like any other lease.
import { Recent } from '../../domain/recent.js';

/** As many as are held for a moment at the same time. */
const MOST = 10_000;

/** What leases of one answer share, as it stands in their rows. */
export interface SharedFigures {
  readonly acquiredAt: number;
  readonly expiresAt: number;
  /** `expiresAt acquiredAt` */
  readonly times: string;
}
export interface OwnLease {
  readonly id: string;
  readonly owner: string;
  readonly name: string;
  readonly epoch: number;
  readonly shared: SharedFigures;
}

interface Renewed {
  readonly outcome?: string;
  readonly expiresAt?: number;
}
const nothing = (): void => undefined;

export class OwnLeases {
  readonly #leases = new Recent<OwnLease>(MOST);

  remember(lease: OwnLease): void {
    this.#leases.set(lease.id, lease);
  }

  /** Whoever is about to change a lease; also where it comes to nothing. */
  forget(requests: readonly { readonly id?: unknown }[]): void {
    if (this.#leases.isEmpty) return;
    for (const request of requests as readonly ({ readonly id?: unknown } | null)[]) {
      this.#leases.take(request?.id as string);
    }
  }

  /** Not remembered until it is known what became of it: the answer is given to the function that comes back. */
  beingRenewed(requests: readonly { readonly id?: unknown }[]): (results: readonly Renewed[]) => void {
    if (this.#leases.isEmpty) return nothing;
    const leases = (requests as readonly ({ readonly id?: unknown } | null)[]).map((request) =>
      this.#leases.take(request?.id as string),
    );
    return (results) => {
      let last: SharedFigures | undefined;
      for (const [i, lease] of leases.entries()) {
        const { outcome, expiresAt } = results[i] ?? {};
        if (!lease || outcome !== 'renewed' || expiresAt === undefined) continue;
        last = sharedFigures({ acquiredAt: lease.shared.acquiredAt, expiresAt }, last);
        this.remember({ ...lease, shared: last });
      }
    };
  }

  /** Remembered no longer. */
  take(id: string, epoch: number | undefined): OwnLease | undefined {
    const lease = this.#leases.take(id);
    return lease?.epoch === epoch ? lease : undefined;
  }
}

/** The same object for neighbours that have the same figures. */
export function sharedFigures(
  { acquiredAt, expiresAt }: Pick<SharedFigures, 'acquiredAt' | 'expiresAt'>,
  last: SharedFigures | undefined,
): SharedFigures {
  if (last && last.expiresAt === expiresAt && last.acquiredAt === acquiredAt) return last;
  return { acquiredAt, expiresAt, times: `${expiresAt} ${acquiredAt}` };
}
