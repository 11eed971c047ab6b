// The files of the page, read into memory when the first of them is asked for: a few hundred kilobytes that never change while
// the process lives. Only names that were found at that time are answered, so that no name leads out of the folder.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export type Encoding = 'identity' | 'gzip' | 'br';

export interface PageFile {
  readonly type: string;
  readonly etag: string;
  readonly bytes: { readonly identity: Uint8Array<ArrayBuffer> } & {
    readonly [E in Encoding]?: Uint8Array<ArrayBuffer> | undefined;
  };
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const COMPRESSED = /\.(?:gz|br)$/;

export class PageFiles {
  readonly #folder: string;
  #files: Promise<ReadonlyMap<string, PageFile>> | undefined;

  constructor(folder: URL) {
    this.#folder = fileURLToPath(folder);
  }

  async find(name: string): Promise<PageFile | undefined> {
    return (await this.#all()).get(name);
  }

  async isBuilt(): Promise<boolean> {
    return (await this.#all()).size > 0;
  }

  /** A folder that could not be read is looked for again by the next request. */
  async #all(): Promise<ReadonlyMap<string, PageFile>> {
    this.#files ??= readAll(this.#folder);
    try {
      return await this.#files;
    } catch {
      this.#files = undefined;
      return new Map();
    }
  }
}

async function readAll(folder: string): Promise<ReadonlyMap<string, PageFile>> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const present = new Set(paths);
  const files = await Promise.all(
    paths.filter((path) => !COMPRESSED.test(path)).map((path) => readOne(folder, path, present)),
  );
  return new Map(files);
}

async function readOne(folder: string, path: string, present: ReadonlySet<string>): Promise<[string, PageFile]> {
  const ifThere = async (other: string): Promise<Uint8Array<ArrayBuffer> | undefined> =>
    present.has(other) ? new Uint8Array(await readFile(other)) : undefined;
  const identity = new Uint8Array(await readFile(path));
  const file: PageFile = {
    type: TYPES[extname(path)] ?? 'application/octet-stream',
    etag: `W/"${createHash('sha256').update(identity).digest('base64url').slice(0, 22)}"`,
    bytes: { identity, gzip: await ifThere(`${path}.gz`), br: await ifThere(`${path}.br`) },
  };
  return [relative(folder, path).split(sep).join('/'), file];
}
