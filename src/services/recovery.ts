// The recovery service (O1, V1): every sweep interval, where a stream was opened, what expired in any stream of the namespace
// is recovered by one process. Nothing depends on it: whoever waits or reads recovers what blocks it by itself.
import type { Recovered } from '../sequence/recovery/recoverer.js';
import type { Service } from './service.js';
import { turnService, type ServiceContext } from './turn-service.js';

export interface Recovers {
  run(order: { isSweep: boolean; signal: AbortSignal }): Promise<Recovered>;
}

export function recoveryService(context: ServiceContext, recoverer: Recovers): Service {
  return turnService(context, {
    name: 'recovery',
    everyMs: (settings) => Math.ceil(settings.cleanup_interval_seconds * 1_000),
    work: async ({ signal }) => ((await recoverer.run({ isSweep: true, signal })).more ? 'more' : 'done'),
  });
}
