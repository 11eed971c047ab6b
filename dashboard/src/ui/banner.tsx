// Above every view, and only when it matters: the connection is gone and what is shown is old, the server has another version.
import { connection, isLoaded } from '../state/connection.js';
import { isOutdated } from '../state/session.js';
import { tick } from '../state/time.js';
import { Button, errorText } from './parts.js';
import { spanText } from './time-text.js';

/** A connection that is back within this was never missed by anybody. */
const UNNOTICED_MS = 1_500;

export function Banner() {
  return (
    <div aria-live="polite">
      <Gone />
      {isOutdated.value && (
        <div class="banner">
          <span>The server was updated while this page was open.</span>
          <Button onClick={() => location.reload()}>Reload the page</Button>
        </div>
      )}
    </div>
  );
}

function Gone() {
  const state = connection.value;
  if (state.is === 'unlogged') {
    return (
      <div class="banner">
        This namespace keeps no history: changes are shown every few seconds, and events are not known.
      </div>
    );
  }
  if (state.is !== 'gone') return null;
  // The tick draws this again every second.
  const sinceMs = tick.value >= 0 ? performance.now() - state.since : 0;
  if (sinceMs < UNNOTICED_MS && isLoaded.value) return null;
  return (
    <div class="banner" data-tone="bad">
      <strong>Not connected</strong>
      <span>{errorText(state.why)}. Trying again.</span>
      {isLoaded.value && <span aria-live="off">What you see is {spanText(sinceMs)} old.</span>}
    </div>
  );
}
