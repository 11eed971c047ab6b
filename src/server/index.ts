// holdfast/server: a server over any store, in this process.
export { DEFAULT_LIMITS, type ServerLimits } from './context.js';
export { DEFAULT_PORT, serve, type RunningServer, type ServeOptions } from './serve.js';
export type { TlsFiles } from './tls.js';
