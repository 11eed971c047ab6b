// The border of the page: it takes types from the server's schemas and nothing else from src/, loads few packages, and never
// does what its promises forbid: no wall clock, no markup out of text, no storage for what is secret.

import { posix } from 'node:path';
import ts from 'typescript';
import { eachNode, importsOf, lineOf } from './syntax.js';
import { isTest, type SourceTree } from './tree.js';

const packages = new Set(['preact', 'preact/hooks', '@preact/signals', 'uplot', 'uplot/dist/uPlot.min.css']);
/** Types only, like the schemas it describes. */
const typePackages = new Set(['@hono/zod-openapi']);
const schemas = 'src/server/schemas/';

const banned = new Map([
  ['Date.now', 'the wall clock of the browser may be wrong: ask state/time.ts'],
  ['innerHTML', 'text stays text'],
  ['outerHTML', 'text stays text'],
  ['insertAdjacentHTML', 'text stays text'],
  ['dangerouslySetInnerHTML', 'text stays text'],
  ['localStorage', 'only the theme is remembered, in ui/theme.ts'],
  ['sessionStorage', 'nothing is kept but the theme'],
  ['indexedDB', 'nothing is kept but the theme'],
]);
const mayKeep = 'dashboard/src/ui/theme.ts';

/** Sentences, one for each import the page may not have. Keys are paths that start with `dashboard/src/`. */
export function forbiddenPageImports(files: SourceTree): string[] {
  const complaints: string[] = [];
  for (const [path, source] of shipped(files)) {
    const types = typeImportsOf(path, source);
    for (const name of importsOf(path, source)) {
      if (!isAllowed(path, name, types.has(name))) complaints.push(`${path}: may not import ${name}`);
    }
  }
  return complaints;
}

export function brokenPagePromises(files: SourceTree): string[] {
  const complaints: string[] = [];
  for (const [path, source] of shipped(files)) {
    eachNode(path, source, (node) => {
      const name = ts.isPropertyAccessExpression(node) ? node.getText() : ts.isIdentifier(node) ? node.text : undefined;
      const why = name === undefined ? undefined : banned.get(name);
      const isKept = name === 'localStorage' && path === mayKeep;
      if (why !== undefined && !isKept) complaints.push(`${path}:${lineOf(node)}: ${name ?? ''}: ${why}`);
      if (isWallClock(node)) complaints.push(`${path}:${lineOf(node)}: new Date(): ${banned.get('Date.now') ?? ''}`);
    });
  }
  return complaints;
}

function shipped(files: SourceTree): [string, string][] {
  return [...files].filter(([path]) => !isTest(path));
}

function isAllowed(path: string, name: string, isType: boolean): boolean {
  if (!name.startsWith('.')) return packages.has(name) || (isType && typePackages.has(name));
  const target = posix.join(posix.dirname(path), name);
  return target.startsWith('dashboard/src/') || (isType && target.startsWith(schemas));
}

/** Modules of which only types are taken, everywhere in the file. */
function typeImportsOf(path: string, source: string): Set<string> {
  const types = new Set<string>();
  const values = new Set<string>();
  eachNode(path, source, (node) => {
    if (!ts.isImportDeclaration(node) || !ts.isStringLiteral(node.moduleSpecifier)) return;
    const isType = node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
    (isType ? types : values).add(node.moduleSpecifier.text);
  });
  return new Set([...types].filter((name) => !values.has(name)));
}

function isWallClock(node: ts.Node): boolean {
  return ts.isNewExpression(node) && node.expression.getText() === 'Date' && (node.arguments?.length ?? 0) === 0;
}
