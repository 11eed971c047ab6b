// What the rest of the server uses of the door.
export { door, type DoorAccess } from './door.js';
export { isLoopbackHost } from './foreign-requests.js';
export { securityHeaders, SECURITY_HEADERS } from './security-headers.js';
export { boundedListener, guardServer, serverOptions } from './server-settings.js';
export { TicketLimit } from './ticket-limit.js';
export { withoutTokens } from './token-in-url.js';
export { Waits, type Stay } from './waits.js';
