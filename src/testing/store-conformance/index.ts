// The conformance suite: what any store must pass. A store's own test hands in a harness and its test framework.
export { conformanceCases } from './cases/index.js';
export { fullTitle, type CaseNeeds, type ConformanceCase } from './conformance-case.js';
export type { CaseContext, Client } from './context.js';
export type { HarnessCapabilities, Opened, Runner, StoreHarness } from './harness.js';
export { runCase, storeConformance } from './named-cases.js';
