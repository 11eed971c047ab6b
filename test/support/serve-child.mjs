// A server in a process of its own: node serve-child.mjs STORE PORT. SIGTERM drains it.
import { serve } from '../../dist/server/index.js';

const [store, port] = process.argv.slice(2);
const limits = { ratePerSecond: 1_000_000, rateBurst: 1_000_000 };
const server = await serve({ store, port: Number(port), drain: 2_000, limits });
await server.ready;
process.once('SIGTERM', () => void server.stop());
process.stdout.write(`listening ${server.port}\n`);
