// Connect loads some of its parts when they are first wanted, from a disk that knows nothing of virtual time. So they are
// loaded once before the first world.
import { connect } from '../../src/connect.js';
import { MemoryStore } from '../../src/stores/memory/index.js';
import { systemClock } from '../../src/system-clock.js';

let warm: Promise<void> | undefined;

export function warmUp(): Promise<void> {
  return (warm ??= connectOnce());
}

async function connectOnce(): Promise<void> {
  const clock = systemClock();
  const leases = await connect(new MemoryStore({ clock }), { clock, services: 'auto' });
  await leases.shutdown();
}
