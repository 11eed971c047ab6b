// A server over a SQLite file (or another store) in this process, on a free port, with a client that speaks JSON. Everything
// is stopped after each test.
import { afterEach, beforeEach, expect } from 'vitest';
import { serve, type RunningServer, type ServeOptions } from '../../src/server/index.js';
import type { Logger } from '../../src/observe/logger.js';
import { join } from 'node:path';
import { temporaryFolder, type TemporaryFolder } from './temporary-folder.js';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Said;
}

/** Whatever the server says, as tests read it: what is not there is undefined, and fails where it is looked at. */
export interface Said {
  readonly id: string;
  readonly epoch: number;
  readonly owner: string;
  readonly status: string;
  readonly remainingMs: number;
  readonly items: readonly Said[];
  readonly cursor: string;
  readonly cycle: readonly unknown[];
  readonly max_renewals: number;
  readonly key: string;
}

export const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);
export const anyText: unknown = expect.any(String);
export const anyList: unknown = expect.any(Array);

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly facts: Record<string, unknown>;
}

export interface Served {
  readonly folder: string;
  readonly url: string;
  readonly log: LogLine[];
  /** The server started first, by `start`. */
  readonly server: RunningServer;
  start(options?: Partial<ServeOptions>): Promise<RunningServer>;
  ask(method: string, path: string, body?: unknown, init?: AskInit): Promise<Answer>;
}

export interface AskInit {
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
  readonly server?: RunningServer;
}

export function servedSite(): Served {
  let folder: TemporaryFolder;
  let servers: RunningServer[];
  const site: Served = {
    log: [],
    get folder() {
      return folder.path;
    },
    get url() {
      return `sqlite:${join(folder.path, 'leases.db')}`;
    },
    get server() {
      const [first] = servers;
      if (!first) throw new Error('no server was started');
      return first;
    },
    async start(options = {}) {
      const server = await serve({ store: site.url, port: 0, logger: recorder(site.log), ...options });
      servers.push(server);
      return server;
    },
    async ask(method, path, body, { headers = {}, signal, server = site.server } = {}) {
      const response = await fetch(`${server.url}${path}`, {
        method,
        headers: {
          ...(body === undefined && method === 'GET' ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(signal === undefined ? {} : { signal }),
      });
      const text = await response.text();
      const isJson = /json/.test(response.headers.get('content-type') ?? '');
      return {
        status: response.status,
        headers: response.headers,
        text,
        json: (isJson ? JSON.parse(text) : undefined) as Said,
      };
    },
  };
  beforeEach(() => {
    folder = temporaryFolder();
    servers = [];
    site.log.length = 0;
  });
  afterEach(async () => {
    for (const server of servers) await server.stop();
    folder.remove();
  });
  return site;
}

export function recorder(lines: LogLine[]): Logger {
  const at = (level: string) => (facts: object, message: string) => {
    lines.push({ level, message, facts: facts as Record<string, unknown> });
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
