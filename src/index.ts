// The public face of holdfast: re-exports only.
export { LeaseError, type LeaseErrorCode } from './domain/errors.js';
