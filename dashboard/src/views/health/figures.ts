// The samples the page has, kept while it is open: a view that is left and opened again begins with them.
import { signal } from '@preact/signals';
import { get } from '../../api/client.js';
import type { Figures } from '../../api/types.js';
import { signedIn } from '../../state/session.js';
import { joinFigures } from './series.js';

export const figures = signal<Figures | undefined>(undefined);

let askedAs = signedIn.peek();

/** Only what is new; everything where the samples at hand are of another server or of somebody else's session. */
export async function readFigures(stop: AbortSignal): Promise<Figures> {
  if (askedAs !== signedIn.peek()) figures.value = undefined;
  askedAs = signedIn.peek();
  const known = figures.peek();
  const after = known?.items.at(-1)?.at;
  let fresh = await get<Figures>('/v1/figures', { after }, stop);
  if (known && fresh.server !== known.server) fresh = await get<Figures>('/v1/figures', {}, stop);
  const joined = joinFigures(known, fresh);
  figures.value = joined;
  return joined;
}
