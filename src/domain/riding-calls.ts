// Which calls of the port may ride with others in one round trip over HTTP (S18, S20). What reads or acts on up to a thousand
// rows goes by itself: beside others in one request it would hold up every renewal of the process, and as many of them as a
// batch has calls would be more than a server can keep in its memory. The HTTP store sends by this, and the server holds every
// client to it.

const RIDING: ReadonlySet<string> = new Set([
  ...['acquire', 'renew', 'end', 'change', 'failTicket', 'get', 'settings', 'time'],
  ...['sequences.ready', 'sequences.lease', 'sequences.progress', 'sequences.commit', 'sequences.release'],
  ...['sequences.append', 'sequences.fill', 'sequences.renewClaims', 'sequences.settle'],
  ...['sequences.barrier', 'sequences.cursor'],
]);

/** Leases one riding `get` may ask for: all of a batch together are about one page of a list. */
const RIDING_IDS = 16;

/** `args` as the port takes them; what is wrong with them is not judged here. */
export function mayRide(method: string, args: readonly unknown[]): boolean {
  const [ids] = args;
  if (method === 'get' && Array.isArray(ids) && ids.length > RIDING_IDS) return false;
  return RIDING.has(method);
}
