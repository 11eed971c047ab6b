// expressFence before plain node:http, where `next` is the handler itself: it runs once and behind the gate, or not at all.
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { createServer as createSocketServer, type AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { expressFence, memoryGate, type FenceGate } from '../../src/guards/index.js';

let server: Server;
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

type Handler = (error: unknown, response: ServerResponse) => void;
async function serve(gate: FenceGate, handle: Handler): Promise<string> {
  const fence = expressFence(gate);
  server = createServer((request, response) => fence(request, response, (error) => handle(error, response)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
const put = (url: string, epoch = 41): Promise<Response> =>
  fetch(url, { method: 'PUT', headers: { 'holdfast-resource': 'orders/0', 'holdfast-epoch': String(epoch) } });

test('G4, S12: a handler that throws has run once, ends its request, and opens the gate', async () => {
  const calls: unknown[] = [];
  const url = await serve(memoryGate(), (error, response) => {
    calls.push(error);
    if (calls.length > 1) response.end('written');
    else throw new Error('mine');
  });
  await expect(put(url)).rejects.toThrow(/fetch failed/);
  expect(calls).toEqual([undefined]);
  expect(await (await put(url, 42)).text()).toBe('written');
  expect(calls).toEqual([undefined, undefined]);
});

/** A gate of the caller's own, kept by a service that is gone. */
async function goneGate(): Promise<FenceGate> {
  const socket = createSocketServer().listen(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address() as AddressInfo;
  socket.close();
  const ask = async (): Promise<void> => {
    await fetch(`http://127.0.0.1:${port}`);
  };
  return { claim: ask, admit: ask };
}

test('G4, S11: a gate that cannot be asked admits nothing: the handler is told, and answers 503', async () => {
  const written: string[] = [];
  const url = await serve(await goneGate(), (error, response) => {
    if (error) return void response.writeHead(503).end();
    written.push('written');
    response.end('written');
  });
  expect((await put(url)).status).toBe(503);
  expect(written).toEqual([]);
});

test('G4, S12: a handler that throws at the error it is told of ends its request', async () => {
  const calls: unknown[] = [];
  const url = await serve(await goneGate(), (error) => {
    calls.push(error);
    throw error;
  });
  await expect(put(url)).rejects.toThrow(/fetch failed/);
  expect(calls).toMatchObject([{ message: 'fetch failed' }]);
});
