// Where in the page we are: the address is the state. Views read `place`, filters live in its query, and every address can be
// sent to somebody else. Names are in the query, never in the path: they hold slashes.
import { signal } from '@preact/signals';

export interface Place {
  /** Without a slash at the end; '/' is '/now'. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
}

export type Changes = Readonly<Record<string, string | undefined>>;

export const place = signal<Place>(placeOf(location.pathname, location.search));

addEventListener('popstate', () => {
  place.value = placeOf(location.pathname, location.search);
});

export function placeOf(pathname: string, search: string): Place {
  const path = pathname.replace(/\/+$/, '');
  return { path: path === '' ? '/now' : path, query: Object.fromEntries(new URLSearchParams(search)) };
}

/** The address of a place; what is empty or undefined is left out. */
export function hrefOf(path: string, query: Changes = {}): string {
  const known = Object.entries(query).filter((pair): pair is [string, string] => (pair[1] ?? '') !== '');
  const text = new URLSearchParams(known).toString();
  return text === '' ? path : `${path}?${text}`;
}

export function resourceHref(name: string): string {
  return hrefOf('/resource', { name });
}

export function navigate(href: string): void {
  if (href === location.pathname + location.search) return;
  history.pushState(null, '', href);
  const { pathname, search } = new URL(href, location.href);
  place.value = placeOf(pathname, search);
}

/** Changes the query of this place without a step in the history: for filters that are being typed. */
export function setQuery(changes: Changes): void {
  const { path, query } = place.peek();
  const href = hrefOf(path, { ...query, ...changes });
  history.replaceState(null, '', href);
  place.value = placeOf(path, href.slice(path.length));
}

/** Plain clicks on links of the page stay in the page; everything else is the browser's. */
export function onLinkClick(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
    return;
  const link = (event.target as Element | null)?.closest('a');
  if (!link || link.target !== '' || link.hasAttribute('download') || link.origin !== location.origin) return;
  if (link.hash !== '' || /^\/(v1|metrics|openapi)/.test(link.pathname)) return;
  event.preventDefault();
  navigate(link.pathname + link.search);
}
