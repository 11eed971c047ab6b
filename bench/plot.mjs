// node bench/plot.mjs [--check]: writes the tables of docs/benchmarks.md between their markers and the plots in docs/benchmarks/
// from bench/results.json. With --check nothing is written: it ends with 1 when something there is not what the results say.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { withResults } from './document.mjs';
import { drawPlots } from './plots.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const args = process.argv.slice(2);
if (args.includes('--help') || args.some((arg) => arg !== '--check')) {
  console.error('node bench/plot.mjs [--check]: makes docs/benchmarks.md and its plots from bench/results.json');
  process.exit(args.includes('--help') ? 0 : 64);
}
const rows = JSON.parse(readFileSync(here('results.json'), 'utf8'));
const document = here('../docs/benchmarks.md');
const wanted = new Map([[document, withResults(readFileSync(document, 'utf8'), rows)]]);
for (const [name, text] of drawPlots(rows)) wanted.set(here(`../docs/benchmarks/${name}`), text);

const changed = [...wanted].filter(([path, text]) => current(path) !== text).map(([path]) => path);
if (args.includes('--check')) {
  for (const path of changed) console.error(`${path} is not what bench/results.json says: run node bench/plot.mjs`);
  process.exitCode = changed.length > 0 ? 1 : 0;
} else {
  mkdirSync(here('../docs/benchmarks'), { recursive: true });
  for (const path of changed) writeFileSync(path, wanted.get(path));
  console.error(`... ${changed.length} of ${wanted.size} files of docs/benchmarks made anew`);
}

function current(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
