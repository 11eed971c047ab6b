// The counters as a service that writes under a fence (docs/guide/guards.md, HTTP): POST /fenced/claim and /fenced/write pass the
// gate, /open/claim and /open/write do not. Both are one step here, in one process with one gate.
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expressFence, memoryGate } from '../../../src/guards/index.js';
import type { Counted, IncrementRecord } from './verdict.js';

export interface CounterService {
  readonly port: number;
  read(): Counted;
  close(): Promise<void>;
}

export async function startCounterService(): Promise<CounterService> {
  const values = new Map<number, number>();
  const records: IncrementRecord[] = [];
  const fence = expressFence(memoryGate());
  const act = (path: string, asked: IncrementRecord): number => {
    if (path.endsWith('/write')) {
      const { op, n, epoch, value } = asked;
      values.set(n, value);
      records.push({ op, n, epoch, value });
    }
    return values.get(asked.n) ?? 0;
  };
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const handle = (): void => {
      bodyOf(request).then(
        (asked) =>
          response.setHeader('content-type', 'application/json').end(JSON.stringify({ value: act(path, asked) })),
        () => response.destroy(), // the request was cut off: nothing was done
      );
    };
    if (path.startsWith('/fenced/')) fence(request, response, handle);
    else handle();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    read: () => ({ records: [...records], values: new Map(values) }),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<IncrementRecord> {
  let text = '';
  for await (const bytes of request) text += String(bytes);
  return JSON.parse(text) as IncrementRecord;
}
