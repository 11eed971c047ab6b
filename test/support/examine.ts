// The doctor's word about a store, over a connection of its own that may only look: as the command asks for it.
import { diagnose, type Diagnosis, type DoctorOptions } from '../../src/doctor/diagnose.js';
import type { Check, Finding } from '../../src/doctor/finding.js';
import { openStore } from '../../src/stores/open-store.js';
import { systemClock } from '../../src/system-clock.js';

const clock = systemClock();

export async function examine(url: string, options: Partial<DoctorOptions> = {}): Promise<Diagnosis> {
  const store = await openStore(url, { clock, namespace: 'default', migrate: 'check', readOnly: true });
  try {
    return await diagnose(store, { clock, ...options });
  } finally {
    await store.close();
  }
}

/** What it found of one kind. */
export function found({ findings }: Diagnosis, check: Check): Finding[] {
  return findings.filter((one) => one.check === check);
}

/** Asks again until it finds something of this kind; the test's own time limit ends it. */
export async function untilFound(url: string, check: Check, severity: Finding['severity']): Promise<Finding> {
  for (;;) {
    const finding = found(await examine(url), check).find((one) => one.severity === severity);
    if (finding) return finding;
  }
}
