// A small server of values by number, in each of the three frameworks: PUT /fenced/N/VALUE behind the fence, PUT /open/N/VALUE
// without it, GET /values. `slow` holds every handler below /fenced until it is told to go on, `early` what comes before its fence.
// PUT /fenced/endless/VALUE is answered by a stream that never ends (express and fastify).
import { serve as serveHono } from '@hono/node-server';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import type { ServerResponse } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { Readable } from 'node:stream';
import type { Clock } from '../../src/domain/clock.js';
import { expressFence, fastifyFence, honoFence, memoryGate } from '../../src/guards/index.js';
import { systemClock } from '../../src/system-clock.js';

export const FRAMEWORKS = ['hono', 'express', 'fastify'] as const;
export type Framework = (typeof FRAMEWORKS)[number];

export interface FencedServer {
  readonly url: string;
  readonly values: Map<string, string>;
  /** Handlers wait for this, when it is there. */
  slow: Promise<void> | undefined;
  /** Requests wait for this before the fence, when it is there; which came and which lost their client is counted. */
  early: Promise<void> | undefined;
  readonly came: number;
  readonly left: number;
  /** Values whose handler has begun. */
  readonly begun: string[];
  close(): Promise<void>;
}

const HOST = '127.0.0.1';

export async function serve(framework: Framework, clock: Clock = systemClock()): Promise<FencedServer> {
  const values = new Map<string, string>();
  const nothing = undefined as Promise<void> | undefined;
  const state = { slow: nothing, early: nothing, came: 0, left: 0, begun: [] as string[] };
  const put = async (n: string, value: string): Promise<void> => {
    state.begun.push(value);
    await state.slow;
    values.set(n, value);
  };
  const before = async (response: ServerResponse): Promise<void> => {
    state.came += 1;
    response.once('close', () => (state.left += 1));
    await state.early;
  };
  const { port, close } = await open(framework, { put, before, clock, all: () => [...values.values()] });
  return Object.assign(state, { url: `http://${HOST}:${port}`, values, close });
}

interface Site {
  readonly put: (n: string, value: string) => Promise<void>;
  readonly before: (response: ServerResponse) => Promise<void>;
  readonly all: () => string[];
  readonly clock: Clock;
}
type Opened = Promise<{ port: number; close: () => Promise<void> }>;

const endless = (): Readable => new Readable({ read: () => undefined });

async function open(framework: Framework, { put, before, all, clock }: Site): Opened {
  const gate = memoryGate();
  if (framework === 'fastify') {
    const app = fastify({ forceCloseConnections: true });
    await app.register(async (fenced) => {
      fenced.addHook('onRequest', async (_request, reply) => before(reply.raw));
      fenced.addHook('preHandler', fastifyFence(gate, { clock }));
      fenced.put<{ Params: { value: string } }>('/fenced/endless/:value', async ({ params }, reply) => {
        await put('endless', params.value);
        return reply.send(endless());
      });
      fenced.put<{ Params: { n: string; value: string } }>('/fenced/:n/:value', async ({ params }) => {
        await put(params.n, params.value);
        return 'written';
      });
    });
    app.put<{ Params: { n: string; value: string } }>('/open/:n/:value', async ({ params }) => {
      await put(params.n, params.value);
      return 'written';
    });
    app.get('/values', async () => all());
    await app.listen({ host: HOST, port: 0 });
    return { port: (app.server.address() as AddressInfo).port, close: () => app.close() };
  }
  if (framework === 'express') {
    const app = express();
    app.use('/fenced', async (_request, response, next) => {
      await before(response);
      next();
    });
    app.use('/fenced', expressFence(gate, { clock }));
    app.put('/fenced/endless/:value', async (request, response) => {
      await put('endless', request.params.value);
      endless().pipe(response);
    });
    app.put(['/fenced/:n/:value', '/open/:n/:value'], async (request, response) => {
      const { n, value } = request.params as { n: string; value: string };
      await put(n, value);
      response.send('written');
    });
    app.get('/values', (_request, response) => void response.json(all()));
    return listening(app.listen(0, HOST));
  }
  const app = new Hono();
  app.use('/fenced/*', honoFence(gate));
  for (const path of ['/fenced/:n/:value', '/open/:n/:value'] as const) {
    app.put(path, async (context) => {
      await put(context.req.param('n'), context.req.param('value'));
      return context.text('written');
    });
  }
  app.get('/values', (context) => context.json(all()));
  return listening(serveHono({ fetch: app.fetch, hostname: HOST, port: 0 }));
}

async function listening(server: Server & { closeAllConnections?: () => void }): Opened {
  await new Promise<void>((resolve) => {
    if (server.listening) resolve();
    else server.once('listening', resolve);
  });
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections?.();
    });
  return { port: (server.address() as AddressInfo).port, close };
}
