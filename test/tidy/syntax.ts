// What the tidy checks need to know about a source file, read from its syntax tree: comments never count, strings only
// where a check asks for strings.

import ts from 'typescript';

/** Calls `visit` for every node of the file. */
export function eachNode(path: string, source: string, visit: (node: ts.Node) => void): void {
  const step = (node: ts.Node): void => {
    visit(node);
    ts.forEachChild(node, step);
  };
  step(ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true));
}

/** The line a node starts on, counted from 1. */
export function lineOf(node: ts.Node): number {
  const file = node.getSourceFile();
  return file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
}

/** Everything a file loads or takes types from: static, type-only, re-exported, dynamic, `import('x').T`, worker URLs. */
export function importsOf(path: string, source: string): string[] {
  const found: string[] = [];
  const add = (node: ts.Node | undefined): void => {
    if (node !== undefined && ts.isStringLiteralLike(node)) found.push(node.text);
  };
  eachNode(path, source, (node) => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) add(node.moduleSpecifier);
    else if (ts.isExternalModuleReference(node)) add(node.expression);
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal);
    else if (ts.isCallExpression(node) && loadsModule(node.expression)) add(node.arguments[0]);
    else if (ts.isNewExpression(node) && isModuleUrl(node)) add(node.arguments?.[0]);
  });
  return found;
}

/** Every piece of text in quotes or backticks, template pieces one by one. */
export function stringsOf(path: string, source: string): string[] {
  const found: string[] = [];
  eachNode(path, source, (node) => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
      found.push(node.text);
    }
  });
  return found;
}

function loadsModule(callee: ts.Expression): boolean {
  if (callee.kind === ts.SyntaxKind.ImportKeyword) return true;
  if (ts.isIdentifier(callee)) return callee.text === 'require';
  return callee.getText() === 'import.meta.resolve' || callee.getText() === 'require.resolve';
}

/** `new URL('./worker.js', import.meta.url)`: the way a worker thread or child process is named. */
function isModuleUrl(node: ts.NewExpression): boolean {
  const [target, base] = node.arguments ?? [];
  return (
    node.expression.getText() === 'URL' &&
    base?.getText() === 'import.meta.url' &&
    target !== undefined &&
    ts.isStringLiteralLike(target) &&
    target.text.endsWith('.js')
  );
}
