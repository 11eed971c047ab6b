// Which lease is being revoked on this page, if any. Held here and not in the row the button stands in: the row goes when the
// lease ends, and the dialog has to tell that it did.
import { signal } from '@preact/signals';
import type { LeaseRecord } from '../api/types.js';

export const revoking = signal<LeaseRecord | undefined>(undefined);
