// The crowd on one SQLite file.
import { testCrowd } from './run-store.js';

testCrowd(
  'sqlite',
  'S1, S2, S11, S12, S13, G2: SQLite, processes killed, stopped and blocked, a disk that is full or slow',
);
