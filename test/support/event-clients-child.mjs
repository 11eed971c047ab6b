// Many clients of one event stream in a process of its own, told what to do by lines of JSON: { open, url, headers } opens so
// many and says when all are open; { sum: count } waits until every client has seen so many events and says what they saw:
// how many, a checksum over their ids in order, and for the first ten clients how long after its writing each event came.
import { request } from 'node:http';
import { createInterface } from 'node:readline';
import { createHash } from 'node:crypto';

const clients = [];
let wanted = Infinity;
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

function take(client, text) {
  const all = client.left + text;
  let from = 0;
  for (let end = all.indexOf('\n\n', from); end !== -1; end = all.indexOf('\n\n', from)) {
    const data = all.indexOf('\ndata: ', from);
    if (data !== -1 && data < end && all.startsWith('id: ', from)) {
      client.hash.update(all.slice(from + 4, data));
      client.count += 1;
      if (client.isTimed) {
        const { wallAt } = JSON.parse(all.slice(data + 7, end));
        client.lateMs.push(Date.now() - Date.parse(wallAt));
      }
    }
    from = end + 2;
  }
  client.left = all.slice(from);
  if (clients.every(({ count }) => count >= wanted)) report();
}

function report() {
  wanted = Infinity;
  const lateMs = clients.flatMap((client) => client.lateMs).sort((a, b) => a - b);
  const at = (share) => lateMs[Math.min(lateMs.length - 1, Math.floor(lateMs.length * share))];
  say({
    counts: [...new Set(clients.map(({ count }) => count))],
    sums: [...new Set(clients.map(({ hash }) => hash.copy().digest('hex')))],
    late: { p50: at(0.5), p99: at(0.99), max: lateMs.at(-1), of: lateMs.length },
  });
}

function open(count, url, headers) {
  let left = count;
  for (let n = 0; n < count; n += 1) {
    const client = { left: '', count: 0, hash: createHash('sha1'), isTimed: n < 10, lateMs: [] };
    clients.push(client);
    request(url, { headers, agent: false }, (response) => {
      response.setEncoding('utf8').once('data', () => (left -= 1) === 0 && say({ open: count }));
      response.on('data', (text) => take(client, text)).on('end', () => say({ ended: n }));
    }).end();
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const order = JSON.parse(line);
  if (order.open) open(order.open, order.url, order.headers);
  if (order.sum) {
    wanted = order.sum;
    if (clients.every(({ count }) => count >= wanted)) report();
  }
});
