// A proxy on the loopback address that reads what a client sends and counts the questions in it: a Sync or a simple Query of
// PostgreSQL, a command of Redis, a message of gRPC. Each is one round trip, whatever its size; nothing the driver does on the side is missed.
import { once } from 'node:events';
import { connect as dial, createServer } from 'node:net';

export async function countingProxy(url, newCounter) {
  const target = new URL(url);
  const there = { host: target.hostname, port: Number(target.port) };
  const counts = new Map();
  const sockets = new Set();
  const server = createServer((client) => {
    const upstream = dial(there);
    const count = newCounter((kind) => counts.set(kind, (counts.get(kind) ?? 0) + 1));
    client.on('data', (bytes) => {
      count(bytes);
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => client.write(bytes));
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ]) {
      one.setNoDelay(true);
      sockets.add(one);
      one.on('close', () => other.destroy());
      one.on('error', () => other.destroy());
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  target.port = String(server.address().port);
  return {
    url: target.href,
    /** How many of each kind since the last reset. */
    counts: () => Object.fromEntries(counts),
    reset: () => counts.clear(),
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** PostgreSQL's messages: a start-up packet without a type, then a type byte and a length; the kind is the statement's name. */
export function postgresCounter(counted) {
  let rest = Buffer.alloc(0);
  let isStarted = false;
  let kind = '';
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    for (;;) {
      const at = isStarted ? 1 : 0;
      if (rest.length < at + 4) return;
      const length = at + rest.readInt32BE(at);
      if (rest.length < length) return;
      const type = isStarted ? String.fromCharCode(rest[0]) : '';
      // A TLS or GSS request is a start-up packet of eight bytes that another one follows.
      if (!isStarted) isStarted = length > 8;
      if (type === 'B') kind = named(rest.subarray(5, length));
      if (type === 'S' || type === 'Q') {
        counted(
          type === 'Q'
            ? rest
                .subarray(5, length - 1)
                .toString()
                .slice(0, 40)
            : kind,
        );
        kind = '';
      }
      rest = rest.subarray(length);
    }
  };
}

/** A Bind names its portal, then its statement. */
function named(body) {
  const portalEnd = body.indexOf(0);
  return body.subarray(portalEnd + 1, body.indexOf(0, portalEnd + 1)).toString();
}

/** Redis commands: `*n`, then n times `$length` and that many bytes; the kind is the command, with the script of EVALSHA. */
export function redisCounter(counted) {
  let rest = Buffer.alloc(0);
  return (bytes) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    for (;;) {
      const command = readCommand(rest);
      if (command === undefined) return;
      const [name, script] = command.words;
      counted(/^evalsha$/i.test(name) ? `EVALSHA ${script.slice(0, 8)}` : name.toUpperCase());
      rest = rest.subarray(command.end);
    }
  };
}

function readCommand(bytes) {
  const line = (from) => {
    const end = bytes.indexOf('\r\n', from);
    return end === -1 ? undefined : { value: Number(bytes.subarray(from + 1, end).toString()), next: end + 2 };
  };
  const head = bytes.length === 0 ? undefined : line(0);
  if (head === undefined) return undefined;
  const words = [];
  let at = head.next;
  for (let i = 0; i < head.value; i += 1) {
    const size = line(at);
    if (size === undefined || bytes.length < size.next + size.value + 2) return undefined;
    if (i < 2) words.push(bytes.subarray(size.next, size.next + size.value).toString());
    at = size.next + size.value + 2;
  }
  return { words, end: at };
}

/** HTTP/2: a preface of 24 bytes, then frames of a length, a type and a stream; a DATA frame with something in it is a message. */
export function grpcCounter(counted) {
  const [PREFACE, HEAD, DATA] = [24, 9, 0];
  let rest = Buffer.alloc(0);
  let isStarted = false;
  return (bytes) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    if (!isStarted) {
      if (rest.length < PREFACE) return;
      rest = rest.subarray(PREFACE);
      isStarted = true;
    }
    while (rest.length >= HEAD) {
      const length = rest.readUIntBE(0, 3);
      if (rest.length < HEAD + length) return;
      if (rest[3] === DATA && length > 0) counted('message');
      rest = rest.subarray(HEAD + length);
    }
  };
}
