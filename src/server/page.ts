// The page at `/`: its static files, for everybody who may reach the server at all (W4). They hold no secret: what they show they
// ask for with a token, like any client. Every view has an address of its own, and each is answered with the same document.
import type { App } from './app.js';
import type { ServerRequest } from './context.js';
import { withStatus } from './problem.js';
import { PageFiles, type Encoding, type PageFile } from './page-files.js';

const VIEWS = ['/', '/now', '/resource', '/sequences', '/health', '/runbook', '/history', '/settings', '/tokens'];
const VIEW_PATHS: ReadonlySet<string> = new Set(VIEWS);
const ASSET = /^\/assets\/[\w.-]+$/;
/** The name of an asset is made from its content: under one name there is one content for ever. */
const FOR_EVER = 'public, max-age=31536000, immutable';

export function isPagePath(path: string): boolean {
  return VIEW_PATHS.has(path) || ASSET.test(path);
}

export function mountPage(app: App): void {
  // Beside the folder of the compiled server, and beside that of the command's bundle: this file stays where it is.
  const files = new PageFiles(new URL('../dashboard/', import.meta.url));
  for (const path of VIEWS) app.get(path, (c) => answer(c, files, 'index.html', 'no-cache'));
  app.get('/assets/:name', (c) => answer(c, files, `assets/${c.req.param('name')}`, FOR_EVER));
}

async function answer(c: ServerRequest, files: PageFiles, name: string, caching: string): Promise<Response> {
  const file = await files.find(name);
  if (!file) throw await missing(files, name);
  const headers: Record<string, string> = {
    'content-type': file.type,
    'cache-control': caching,
    vary: 'accept-encoding',
    etag: file.etag,
  };
  if (c.req.header('if-none-match') === file.etag) return new Response(null, { status: 304, headers });
  const encoding = chosen(file, c.req.header('accept-encoding'));
  if (encoding !== 'identity') headers['content-encoding'] = encoding;
  return new Response(file.bytes[encoding], { headers });
}

async function missing(files: PageFiles, name: string): Promise<Error> {
  if (await files.isBuilt())
    return withStatus(404, 'INVALID_ARGUMENT', `there is no ${name} any more: reload the page to get the new one`);
  const text =
    'the page was not built: run `make build` and serve from dist/; everything else is there, see /openapi.json';
  return withStatus(404, 'INVALID_ARGUMENT', text);
}

/** The smallest there is that the client takes. `q=0` means that it does not. */
function chosen({ bytes }: PageFile, accepted = ''): Encoding {
  const takes = new Map(
    accepted.split(',').map((item) => {
      const [name = '', ...parameters] = item.split(';').map((text) => text.trim().toLowerCase());
      return [name, !parameters.some((text) => /^q=0(?:\.0*)?$/.test(text))] as const;
    }),
  );
  const isTaken = (name: Encoding): boolean =>
    bytes[name] !== undefined && (takes.get(name) ?? takes.get('*') ?? false);
  if (isTaken('br')) return 'br';
  return isTaken('gzip') ? 'gzip' : 'identity';
}
