// The page's files (W1, W4, W5) as the built server gives them: types, caching, compression, deep links, and who may have them.
// From sources there is no page, and the server says what to do.
import { get, type IncomingHttpHeaders } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { RunningServer, ServeOptions } from '../../src/server/index.js';
import { SECURITY_HEADERS } from '../../src/server/door/index.js';
import { commandSite } from '../support/command-site.js';
import { servedSite } from '../support/served-site.js';

interface Got {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** As it came over the wire: fetch would undo the compression. */
function fetched(url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Got> {
  return new Promise((resolve, reject) => {
    const request = get(url, { headers, method }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(pieces) }),
      );
    });
    request.on('error', reject);
  });
}

const built = new URL('../../dist/server/index.js', import.meta.url).href;
const site = servedSite();

async function withBuilt(
  work: (url: string, server: RunningServer) => Promise<void>,
  options: Partial<ServeOptions> = {},
) {
  const { serve } = (await import(built)) as { serve: (given: ServeOptions) => Promise<RunningServer> };
  const server = await serve({ store: site.url, port: 0, ...options });
  try {
    await server.ready;
    await work(server.url, server);
  } finally {
    await server.stop();
  }
}

function assetsIn(page: string): string[] {
  return Array.from(page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g), ([, path]) => path ?? '');
}

describe('the built page', () => {
  test('W1 W5: the document is checked at every visit, its files are kept for ever, all under the strict policy', async () => {
    await withBuilt(async (url) => {
      const page = await fetched(`${url}/`);
      expect(page).toMatchObject({
        status: 200,
        headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache', ...SECURITY_HEADERS },
      });
      const paths = assetsIn(page.body.toString());
      expect(paths.length).toBeGreaterThanOrEqual(2);
      for (const path of paths) {
        const file = await fetched(url + path);
        const type = path.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8';
        const caching = 'public, max-age=31536000, immutable';
        expect(file).toMatchObject({
          status: 200,
          headers: { 'content-type': type, 'cache-control': caching, ...SECURITY_HEADERS },
        });
      }
      const again = await fetched(`${url}/`, { 'if-none-match': page.headers.etag ?? '' });
      expect(again).toMatchObject({ status: 304 });
      expect(again.body).toHaveLength(0);
    });
  });

  test('W1: the document and its files hold no inline script or style and name no other host', async () => {
    await withBuilt(async (url) => {
      const page = (await fetched(`${url}/`)).body.toString();
      expect(page).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/);
      expect(page.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:\/\//);
    });
  });

  test('W1: each file comes in the best compression that is taken, and the first view is small', async () => {
    await withBuilt(async (url) => {
      const plain = await fetched(`${url}/`);
      expect(plain.headers['content-encoding']).toBeUndefined();
      let bytes = 0;
      for (const path of ['/', ...assetsIn(plain.body.toString())]) {
        const original = await fetched(url + path);
        const gzip = await fetched(url + path, { 'accept-encoding': 'gzip, deflate' });
        expect(gzip.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
        expect(gunzipSync(gzip.body).equals(original.body)).toBe(true);
        const brotli = await fetched(url + path, { 'accept-encoding': 'gzip, deflate, br' });
        expect(brotli.headers['content-encoding']).toBe('br');
        expect(brotliDecompressSync(brotli.body).equals(original.body)).toBe(true);
        const refused = await fetched(url + path, { 'accept-encoding': 'br;q=0, gzip;q=0.0, identity' });
        expect(refused.headers['content-encoding']).toBeUndefined();
        bytes += gzip.body.length;
      }
      expect(bytes).toBeLessThan(60 * 1_024);
    });
  });

  test('W1: every view has an address; what is none is not answered with the page', async () => {
    await withBuilt(async (url) => {
      const { body } = await fetched(`${url}/`);
      for (const path of [
        '/now',
        '/resource?name=a%2Fb',
        '/sequences',
        '/health',
        '/runbook?page=runbooks%2Fconflicts',
        '/history?type=x',
        '/settings',
        '/tokens',
      ]) {
        const deep = await fetched(url + path);
        expect(deep.status, path).toBe(200);
        expect(deep.body.equals(body), path).toBe(true);
      }
      expect(await fetched(`${url}/now`, {}, 'HEAD')).toMatchObject({ status: 200 });
      for (const path of [
        '/nowhere',
        '/assets/none.js',
        '/assets/..%2findex.html',
        '/assets/%2e%2e/%2e%2e/package.json',
      ])
        expect((await fetched(url + path)).status, path).toBe(404);
    });
  });

  test('W3 W4: the files need no token where there are some; without any only this machine gets them', async () => {
    await withBuilt(async (url) => {
      const foreign = await fetched(`${url}/`, { host: 'rebound.example' });
      expect(foreign.status).toBe(403);
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify({ name: 'root', role: 'admin' });
      expect((await fetch(`${url}/v1/tokens`, { method: 'POST', headers, body })).status).toBe(201);
      expect((await fetched(`${url}/v1/whoami`)).status).toBe(401);
      expect((await fetched(`${url}/now`)).status).toBe(200);
      expect((await fetched(`${url}/now?token=x`)).status).toBe(400);
    });
  });
});

test('W1 W5: while its store is away the server has the page already, which is told to wait', async () => {
  const { serve } = (await import(built)) as { serve: (given: ServeOptions) => Promise<RunningServer> };
  const server = await serve({ store: 'postgres://127.0.0.1:1/away', port: 0 });
  try {
    expect(await fetched(`${server.url}/now`)).toMatchObject({ status: 200, headers: SECURITY_HEADERS });
    const { status, body } = await fetched(`${server.url}/v1/whoami`);
    expect([status, JSON.parse(body.toString())]).toMatchObject([503, { code: 'STORE_UNAVAILABLE', retryable: true }]);
  } finally {
    await server.stop();
  }
});

describe('holdfast serve', () => {
  const command = commandSite();

  test('C10 W1: the command serves the page too', async () => {
    const live = command.start('serve', '--port', '0');
    const url = await live.says(/http:\/\/127\.0\.0\.1:\d+/);
    expect((await fetched(`${url}/`)).headers['content-type']).toBe('text/html; charset=utf-8');
    live.process.kill('SIGTERM');
    await live.ended;
  });
});

test('W1: run from its sources the server says that the page was not built', async () => {
  await (
    await site.start()
  ).ready;
  expect(await site.ask('GET', '/')).toMatchObject({
    status: 404,
    json: { detail: expect.stringMatching(/was not built: run `make build`/) as string },
  });
});
