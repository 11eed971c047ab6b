// A process that connects, perhaps takes and gives back a lease, and then has nothing more to do: does it end by itself?
// node quiet-child.mjs URL connect|lease|hook|shutdown   It prints the native modules it has loaded, then `quiet`.
import { connect } from 'holdfast';
import { say } from './child-orders.mjs';

const [url, deed] = process.argv.slice(2);
const leases = await connect(url);
if (deed === 'lease') {
  const lease = await leases.acquire('door', { ttl: '60s' });
  const more = await leases.tryAcquire('door');
  say('released', (await lease.release()).outcome, more.ok);
}
if (deed === 'hook') leases.releaseOnExit();
if (deed === 'shutdown') await leases.shutdown();
process.report.excludeNetwork = true;
const { sharedObjects } = process.report.getReport();
const native = sharedObjects.filter((path) => path.endsWith('.node')).map((path) => path.split('/').at(-1));
say('native', native.join(' '));
say('quiet');
