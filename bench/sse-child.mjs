// Many readers of a server's event stream in one process: node sse-child.mjs PORT CLIENTS. Says `open`; asked, it answers
// how many events each reader saw, how many of them twice, and how late they came (from the wall clock in the event).
import { request } from 'node:http';

const [port, count] = process.argv.slice(2).map(Number);
const WALL = '"wallAt":"';
const late = [];
const readers = Array.from({ length: count }, () => ({ ids: new Set(), twice: 0, left: '' }));

function open(reader) {
  return new Promise((resolve, reject) => {
    const asked = request({ port, host: '127.0.0.1', path: '/v1/events', agent: false });
    asked.once('error', reject);
    asked.once('response', (response) => {
      if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
      response.setEncoding('utf8').on('data', (text) => read(reader, text));
      resolve();
    });
    asked.end();
  });
}

function read(reader, text) {
  const blocks = (reader.left + text).split('\n\n');
  reader.left = blocks.pop() ?? '';
  const now = Date.now();
  for (const block of blocks) {
    const at = block.indexOf('data: ');
    if (at < 0 || !block.includes('"resource":"sse/')) continue;
    const id = /(?:^|\n)id: ?([^\n]+)/.exec(block)?.[1] ?? '';
    if (reader.ids.has(id)) reader.twice += 1;
    reader.ids.add(id);
    const wall = block.indexOf(WALL);
    if (wall > 0) late.push(now - Date.parse(block.slice(wall + WALL.length, wall + WALL.length + 24)));
  }
}

await Promise.all(readers.map(open));
process.on('message', () => {
  const sorted = Float64Array.from(late).sort();
  const seen = readers.map(({ ids }) => ids.size);
  const twice = readers.reduce((sum, reader) => sum + reader.twice, 0);
  process.send({ seen, twice, p99: sorted[Math.floor(sorted.length * 0.99)] ?? NaN, measured: sorted.length });
});
process.on('disconnect', () => process.exit(0));
process.send('open');
