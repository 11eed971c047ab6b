// A client that costs little: keep-alive connections that write requests as text and read answers by their length, one at a
// time each. So that what is measured is the server.
import { connect } from 'node:net';

export class RawConnection {
  #socket;
  #left = Buffer.alloc(0);
  #answer;

  static open(port) {
    const connection = new RawConnection();
    return new Promise((resolve, reject) => {
      connection.#socket = connect(port, '127.0.0.1', () => resolve(connection));
      connection.#socket.setNoDelay(true);
      connection.#socket.once('error', reject);
      connection.#socket.on('error', (error) => connection.#answer?.reject(error));
      connection.#socket.on('data', (bytes) => connection.#read(bytes));
    });
  }

  /** The status and the body as text. */
  post(path, body) {
    const text = JSON.stringify(body);
    return this.#ask(
      `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    );
  }
  get(path) {
    return this.#ask(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`);
  }
  /** Sends and does not wait for an answer. */
  send(path, body) {
    this.post(path, body).catch(() => undefined);
  }
  close() {
    this.#socket.destroy();
  }

  #ask(text) {
    return new Promise((resolve, reject) => {
      this.#answer = { resolve, reject };
      this.#socket.write(text);
    });
  }

  #read(bytes) {
    this.#left = this.#left.length === 0 ? bytes : Buffer.concat([this.#left, bytes]);
    const end = this.#left.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = this.#left.toString('latin1', 0, end);
    const length = /content-length: *(\d+)/i.exec(head)?.[1];
    const isChunked = /transfer-encoding: *chunked/i.test(head);
    const body = isChunked ? chunked(this.#left, end + 4) : plain(this.#left, end + 4, Number(length ?? 0));
    if (body === undefined) return;
    this.#left = this.#left.subarray(body.end);
    this.#answer?.resolve({ status: Number(head.slice(9, 12)), text: body.text });
  }
}

function plain(bytes, start, length) {
  if (bytes.length < start + length) return undefined;
  return { text: bytes.toString('utf8', start, start + length), end: start + length };
}

function chunked(bytes, start) {
  const pieces = [];
  for (let at = start; ;) {
    const line = bytes.indexOf('\r\n', at);
    if (line < 0) return undefined;
    const length = Number.parseInt(bytes.toString('latin1', at, line), 16);
    const end = line + 2 + length + 2;
    if (bytes.length < end) return undefined;
    if (length === 0) return { text: Buffer.concat(pieces).toString(), end };
    pieces.push(bytes.subarray(line + 2, line + 2 + length));
    at = end;
  }
}
