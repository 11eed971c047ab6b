// Who is signed in. A page opened on a server without tokens is admin without asking; otherwise it asks for one.
//
//   unknown --whoami answers--> known --401, or the stream says so--> refused --sign in--> unknown
//      └──401--> refused
import { computed, signal } from '@preact/signals';
import { setToken } from '../api/client.js';
import { mayDo, type Deed } from '../api/session.js';
import type { Whoami } from '../api/types.js';

export type Session =
  | { readonly is: 'unknown' }
  | { readonly is: 'known'; readonly who: Whoami }
  | { readonly is: 'refused'; readonly why: string };

export const session = signal<Session>({ is: 'unknown' });
export const who = computed(() => (session.value.is === 'known' ? session.value.who : undefined));

/** Counts up whenever somebody signs in or out: what is under way for the one before is given up. */
export const signedIn = signal(0);

/** The version of the server the page was loaded from, and whether another one answers now. */
let loadedVersion: string | undefined;
export const isOutdated = signal(false);

export function may(deed: Deed): boolean {
  return mayDo(who.value, deed);
}

export function recognised(me: Whoami): void {
  loadedVersion ??= me.version;
  if (me.version !== loadedVersion) isOutdated.value = true;
  if (session.value.is !== 'known' || JSON.stringify(session.value.who) !== JSON.stringify(me)) {
    session.value = { is: 'known', who: me };
  }
}

export function refused(why: string): void {
  session.value = { is: 'refused', why };
}

export function signIn(token: string): void {
  setToken(token);
  session.value = { is: 'unknown' };
  signedIn.value += 1;
}

export function signOut(): void {
  setToken(undefined);
  session.value = { is: 'unknown' };
  signedIn.value += 1;
}
