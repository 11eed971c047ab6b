// A real `holdfast serve` over a SQLite file of its own, on a free port of the loopback address: killed, started again on the same
// port, started in another version, asked over HTTP; and processes that take leases in the same file.
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startChild, type Child } from '../../support/child.js';
import { MAIN } from '../../support/command-site.js';
import { freePort, startProcess, stopProcess, untilReady, type Started } from '../../support/servers/server-process.js';
import { temporaryFolder, type TemporaryFolder } from '../../support/temporary-folder.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

export interface Taken {
  readonly id: string;
  readonly epoch: number;
}

export class PageServer {
  readonly #folder: TemporaryFolder = temporaryFolder();
  readonly #children: Child[] = [];
  readonly #waiting = new AbortController();
  #port = 0;
  #process: Started | undefined;

  static async start(): Promise<PageServer> {
    const server = new PageServer();
    server.#port = await freePort();
    await server.start();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }
  get store(): string {
    return `sqlite:${join(this.#folder.path, 'leases.db')}`;
  }

  /** On the port it had. */
  async start(main = MAIN): Promise<void> {
    const words = [main, '--store', this.store, 'serve', '--port', String(this.#port), '--drain', '1s'];
    this.#process = startProcess(process.execPath, words);
    await untilReady(this.#process, async () => {
      const answer = await fetch(`${this.url}/readyz`).catch(() => undefined);
      return answer?.status === 200;
    });
  }

  /** As a power cut ends it. */
  async kill(): Promise<void> {
    if (this.#process) await stopProcess(this.#process, 'SIGKILL');
  }

  /** The command as the next version would be installed: the same files, another number. */
  nextVersion(version: string): string {
    const folder = join(this.#folder.path, `holdfast-${version}`);
    mkdirSync(folder);
    cpSync(join(ROOT, 'dist'), join(folder, 'dist'), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as object;
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, version }));
    return join(folder, 'dist', 'cli', 'main.js');
  }

  /** A process of a user, connected to the same file: see manager-child.mjs for what it obeys. */
  async holder(owner: string): Promise<Child> {
    const child = startChild('manager-child.mjs', this.store, owner);
    this.#children.push(child);
    await child.line('open');
    return child;
  }

  /** Workers, agents, queues, streams: see scripts/page-scene.mjs. */
  async scene(): Promise<void> {
    const child = startChild('../../scripts/page-scene.mjs', this.store);
    this.#children.push(child);
    await child.line('ready');
  }

  async ask(what: string, body?: unknown, token?: string): Promise<Answer> {
    const [method = 'GET', path = '/'] = what.split(' ');
    const answer = await fetch(this.url + path, {
      method,
      headers: {
        ...(method === 'GET' ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: this.#waiting.signal,
    });
    const text = await answer.text();
    return { status: answer.status, body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> };
  }

  /** A lease taken over HTTP that nobody renews. */
  async take(wanted: object, token?: string): Promise<Taken> {
    const { status, body } = await this.ask(
      'POST /v1/leases',
      { ttl: '10m', owner: 'worker', wait: 0, ...wanted },
      token,
    );
    if (status !== 201) throw new Error(JSON.stringify(body));
    return body as unknown as Taken;
  }

  /** Somebody who waits until the server is closed; answers as soon as the ticket stands. */
  async wait(resource: string, owner: string): Promise<void> {
    this.ask('POST /v1/leases', { resource, owner, ttl: '1m', wait: '10m' }).catch(() => undefined);
    const path = `/v1/tickets?resource=${encodeURIComponent(resource)}&owner=${encodeURIComponent(owner)}`;
    for (;;) {
      const { body } = await this.ask(`GET ${path}`);
      if ((body['items'] as readonly unknown[]).length > 0) return;
    }
  }

  /** The secret of a new token. */
  async token(wanted: object, by?: string): Promise<string> {
    const { status, body } = await this.ask('POST /v1/tokens', wanted, by);
    if (status !== 201) throw new Error(JSON.stringify(body));
    return body['secret'] as string;
  }

  async close(): Promise<void> {
    this.#waiting.abort();
    for (const { process } of this.#children) process.kill('SIGKILL');
    await Promise.all(this.#children.map(({ ended }) => ended));
    await this.kill();
    this.#folder.remove();
  }
}
