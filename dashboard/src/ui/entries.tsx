// A short list of things with a few words about each, which reads as well on a phone: what leads (a number, a state), what it
// is, and what can be done about it.
import type { ComponentChildren } from 'preact';
import { cutMiddle, plainName } from './name-text.js';
import './entries.css';

export function Entries({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    <ul class="entries" aria-label={label}>
      {children}
    </ul>
  );
}

export interface EntryProps {
  readonly lead: ComponentChildren;
  readonly children: ComponentChildren;
  /** In small words below. */
  readonly about?: ComponentChildren;
  readonly aside?: ComponentChildren;
}

export function Entry({ lead, children, about, aside }: EntryProps) {
  return (
    <li class="entry">
      <div class="lead">{lead}</div>
      <div class="what">
        <div>{children}</div>
        {about !== undefined && <div class="about">{about}</div>}
      </div>
      {aside !== undefined && <div class="aside">{aside}</div>}
    </li>
  );
}

/** A sentence of somebody else: always text, kept apart from the direction of what is around it, the whole of it on hover. */
export function Sentence({ text, most = 240 }: { readonly text: string; readonly most?: number }) {
  const shown = cutMiddle(text, most);
  return <bdi title={shown === text ? undefined : plainName(text)}>{plainName(shown)}</bdi>;
}
