// How the page stands with its server, for the banner: the state of the event stream, and whether the first picture is complete.
import { signal } from '@preact/signals';
import type { LiveState } from '../api/live.js';

export const connection = signal<LiveState>({ is: 'connecting' });
/** The first whole snapshot is in: an empty list means an empty store from here on. */
export const isLoaded = signal(false);
