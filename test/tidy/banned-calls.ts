// Time, timers, randomness and ids come from the clock object, so that a simulation can run the code that ships. This finds
// whatever in src/ goes past it. It reads the syntax tree: comments and strings do not count, aliases on import do.

import ts from 'typescript';
import { eachNode, lineOf } from './syntax.js';
import { isTest, type SourceTree } from './tree.js';

/** Files that may, and why. Nothing is added here without a reason. */
const exceptions: ReadonlyMap<string, string> = new Map([
  ['src/system-clock.ts', 'it is the one place where real time, timers, randomness and ids come from'],
  ['src/system-timers.ts', 'the timers of the same'],
  ['src/cli/run/guardian.ts', 'it is a process of its own, there before anything else: it loads next to nothing'],
]);

/** Names that are banned wherever they are used as a value, a member or an import. */
const bannedAnywhere = new Set(['randomUUID', 'randomBytes', 'randomInt', 'randomFillSync', 'getRandomValues']);

/** Names that are banned as a global or an import; a method of the same name on some other object is fine. */
const bannedGlobals = new Set(['setTimeout', 'setInterval', 'setImmediate']);

const bannedMembers = new Set(['Date.now', 'performance.now', 'Math.random', 'AbortSignal.timeout', 'process.hrtime']);

const globalObjects = new Set(['globalThis', 'global', 'self', 'window', 'timers']);

/** Sentences, one for each banned use. Keys are paths that start with `src/`. */
export function bannedCalls(files: SourceTree): string[] {
  const complaints: string[] = [];
  for (const [path, source] of files) {
    if (isTest(path) || exceptions.has(path)) continue;
    eachNode(path, source, (node) => {
      const name = bannedName(node);
      if (name !== undefined) complaints.push(`${path}:${lineOf(node)}: ${name} is for src/system-clock.ts alone`);
    });
  }
  return complaints;
}

/** Exceptions whose file is gone: the table stays honest. */
export function staleExceptions(files: SourceTree): string[] {
  return [...exceptions.keys()].filter((path) => !files.has(path));
}

function bannedName(node: ts.Node): string | undefined {
  if (ts.isNewExpression(node) && node.expression.getText() === 'Date' && (node.arguments ?? []).length === 0) {
    return 'new Date()';
  }
  if (ts.isCallExpression(node) && node.expression.getText() === 'Date') return 'Date()';
  if (ts.isPropertyAccessExpression(node)) return bannedMember(node.expression, node.name.text);
  if (ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression)) {
    return bannedMember(node.expression, node.argumentExpression.text);
  }
  if (ts.isIdentifier(node) && isReference(node) && (bannedAnywhere.has(node.text) || bannedGlobals.has(node.text))) {
    return node.text;
  }
  return undefined;
}

function bannedMember(object: ts.Expression, name: string): string | undefined {
  const owner = object.getText().replace(/^(globalThis|global)\??\./, '');
  const full = `${owner}.${name}`;
  if (bannedMembers.has(full) || bannedAnywhere.has(name)) return full;
  return bannedGlobals.has(name) && globalObjects.has(owner) ? full : undefined;
}

/** Is the identifier used here (a value, an import), and not the name of a member being declared or read? */
function isReference(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isTypeQueryNode(parent)) return false;
  if (ts.isImportSpecifier(parent)) return (parent.propertyName ?? parent.name) === node;
  if (ts.isBindingElement(parent)) return parent.propertyName === node || parent.propertyName === undefined;
  const declaresMember =
    ts.isPropertySignature(parent) ||
    ts.isMethodSignature(parent) ||
    ts.isPropertyDeclaration(parent) ||
    ts.isMethodDeclaration(parent) ||
    ts.isPropertyAssignment(parent);
  return !(declaresMember && parent.name === node);
}
