// What the rest of the server uses of the door.
export { door } from './door.js';
export { isLoopbackHost } from './foreign-requests.js';
export { RateLimit } from './rate-limit.js';
export { securityHeaders, SECURITY_HEADERS } from './security-headers.js';
export { boundedListener, guardServer, serverOptions } from './server-settings.js';
export { TicketLimit } from './ticket-limit.js';
export { Waits } from './waits.js';
