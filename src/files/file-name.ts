// The names of file leases, `file:NAME/relative/path`, as text. What a path means on disk is for resolve-path.ts.
//
// NAME is what the root was called (`file:app/src/a.ts`), else the root's real path with its leading slash
// (`file:/srv/app/src/a.ts`): `file:` is then the first segment, none is empty, and no given name looks like a path.
// A segment is written as it is on disk, but `%`, control characters and a `#` in front become `%XX`, a byte of UTF-8
// each; where the outcome is not in Unicode form NFC, so does all that is not ASCII. Undoing the escapes gives back the
// segment, so two names on disk are never one resource, not even two that differ in their Unicode form only.
// A section is one more segment, `#` and its name. No segment of a path begins so: it never meets a real child.
import { invalid, shown } from '../domain/errors.js';
import { LIMITS } from '../domain/limits.js';
import { byteLength, checkName, isAbove } from '../domain/resource-name.js';

/** Where something lies, seen from the root. */
export interface FilePlace {
  /** As on disk, relative to the root; `.` is the root itself. */
  readonly path: string;
  readonly section?: string;
}

const SECTION = '#';
const UNSAFE = /^#|[%\p{Cc}]/gu;
const UNSAFE_OR_NOT_ASCII = /^#|[%\p{Cc}\P{ASCII}]/gu;
const CONTROL = /\p{Cc}/u;
const ESCAPES = /(?:%[0-9A-F]{2})+/g;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

export function escapeSegment(text: string): string {
  const escaped = text.replace(UNSAFE, percent);
  return escaped.normalize('NFC') === escaped ? escaped : text.replace(UNSAFE_OR_NOT_ASCII, percent);
}

export function unescapeSegment(segment: string): string {
  return segment.replace(ESCAPES, (run) => {
    const bytes = run
      .slice(1)
      .split('%')
      .map((hex) => Number.parseInt(hex, 16));
    return decoder.decode(Uint8Array.from(bytes));
  });
}

function percent(text: string): string {
  return [...encoder.encode(text)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}

/** The name of a root that was called something: people type it in several places, so its spelling must be plain. */
export function baseOfName(name: unknown): string {
  if (typeof name !== 'string' || name === '') throw invalid(`the name of a root is a text such as 'app'`);
  if (!name.isWellFormed() || CONTROL.test(name) || name.normalize('NFC') !== name) {
    throw invalid(`the name ${shown(name)} is not plain text in Unicode form NFC without control characters`);
  }
  const segments = name.split('/');
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) {
    throw invalid(`the name ${shown(name)} is no list of segments such as 'app' or 'team/app': no slash at either end`);
  }
  const base = `file:${segments.map(escapeSegment).join('/')}`;
  if (!fits(base)) throw invalid(`the name ${shown(name)} is too long: a short one leaves room for the paths below it`);
  return base;
}

export function baseOfPath(realRoot: readonly string[]): string {
  return join('file:', realRoot);
}

/** The resource of a path, or an error that says what can be leased instead. */
export function nameOf(base: string, path: readonly string[]): string {
  const name = join(base, path);
  if (fits(name)) return checkName(name);
  const what = `${shown(path.join('/') || '.')} makes a resource name of over ${LIMITS.nameBytes} bytes or ${LIMITS.nameSegments} segments`;
  for (let kept = Math.min(path.length - 1, LIMITS.nameSegments); kept >= 0; kept -= 1) {
    const folder = path.slice(0, kept);
    if (!fits(join(base, folder))) continue;
    throw invalid(
      `${what}: lease the folder ${shown(folder.join('/') || '.')} instead, or give the root a shorter name`,
      { folder: folder.join('/') || '.' },
    );
  }
  throw invalid(`${what}, as the root's own path is that long: give the root a name, files(root, { name: 'app' })`);
}

export function sectionOf(file: string, section: unknown): string {
  if (typeof section !== 'string' || section === '') throw invalid('the name of a section is a text that is not empty');
  if (!section.isWellFormed() || section.normalize('NFC') !== section) {
    throw invalid(`the section ${shown(section)} is not in Unicode form NFC: call .normalize('NFC') on it first`);
  }
  const name = `${file}/${SECTION}${escapeSegment(section).replaceAll('/', '%2F')}`;
  if (fits(name)) return checkName(name);
  throw invalid(`the section ${shown(section)} makes a resource name that is too long: shorten it, or lease the file`);
}

/** Nothing when the name is not of this root. A name above the root has all of it: `.`. */
export function placeOf(base: string, name: string): FilePlace | undefined {
  if (name === base || isAbove(name, base)) return { path: '.' };
  if (!isAbove(base, name)) return undefined;
  const segments = name.slice(base.length + 1).split('/');
  const last = segments.at(-1) ?? '';
  if (!last.startsWith(SECTION)) return { path: segments.map(unescapeSegment).join('/') };
  const path = segments.slice(0, -1).map(unescapeSegment).join('/') || '.';
  return { path, section: unescapeSegment(last.slice(SECTION.length)) };
}

function join(base: string, path: readonly string[]): string {
  return [base, ...path.map(escapeSegment)].join('/');
}

function fits(name: string): boolean {
  return name.split('/').length <= LIMITS.nameSegments && byteLength(name) <= LIMITS.nameBytes;
}
