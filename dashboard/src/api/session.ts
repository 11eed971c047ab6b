// Who the page speaks as, and what that role may do. What it may not do is not offered; the server refuses it in any case.
import { get } from './client.js';
import type { Role, Whoami } from './types.js';

const RANK: Readonly<Record<Role, number>> = { read: 0, write: 1, admin: 2 };

export type Deed = 'revoke' | 'changeSettings' | 'settleManual' | 'diagnose' | 'manageTokens' | 'sweep';

interface Need {
  readonly role: Role;
  /** Not for a token that is bound to a prefix. */
  readonly whole?: boolean;
}

const NEEDS: Readonly<Record<Deed, Need>> = {
  revoke: { role: 'admin' },
  settleManual: { role: 'admin' },
  changeSettings: { role: 'admin', whole: true },
  manageTokens: { role: 'admin' },
  diagnose: { role: 'read', whole: true },
  sweep: { role: 'write', whole: true },
};

export function mayDo(who: Whoami | undefined, deed: Deed): boolean {
  if (!who) return false;
  const { role, whole = false } = NEEDS[deed];
  return RANK[who.role] >= RANK[role] && !(whole && who.prefix !== undefined);
}

export function whoami(signal?: AbortSignal): Promise<Whoami> {
  return get<Whoami>('/v1/whoami', {}, signal);
}
