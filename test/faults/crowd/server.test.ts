// The crowd through `holdfast serve`.
import { testCrowd } from './run-store.js';

testCrowd(
  'server',
  'W2, S1, S2, S11, S12, S15, G4: through a server, processes, connections, it, its disk and clocks fail',
);
