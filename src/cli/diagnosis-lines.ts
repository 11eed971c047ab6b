// A diagnosis as people read it: each finding with its evidence, what to type and where to read on; then one line about what
// was looked at, so that "nothing is wrong" says how much that means.
import type { Diagnosis } from '../doctor/diagnose.js';
import type { Finding, Severity } from '../doctor/finding.js';
import { count, duration } from '../doctor/words.js';
import { safe } from './escape.js';
import type { Colour, Output } from './output.js';
import { broken } from './table.js';

const COLOURS: Readonly<Record<Severity, Colour>> = { wrong: 'red', warning: 'yellow', note: 'dim' };
const INDENT = ' '.repeat(10);

export function* diagnosisLines(diagnosis: Diagnosis, output: Output): Generator<string> {
  for (const found of diagnosis.findings) {
    yield* findingLines(found, output);
    yield '';
  }
  yield* broken(summaryOf(diagnosis), output.width, '', '  ');
  yield* broken(lookedAt(diagnosis), output.width, '', '  ');
  yield* broken(answersIn(diagnosis), output.width, '', '  ');
  const happened = Object.entries(diagnosis.happened).map(([type, times]) => `${type} ${times}`);
  if (happened.length > 0) yield* broken(`happened: ${happened.join(', ')}`, output.width, '', '  ');
}

function* findingLines({ check, severity, what, evidence, next, runbook }: Finding, output: Output): Generator<string> {
  const label = severity.toUpperCase().padEnd(INDENT.length);
  const [first = '', ...rest] = broken(`${label}${check}: ${safe(what)}`, output.width, '', INDENT);
  yield output.paint(COLOURS[severity], first.slice(0, label.length)) + first.slice(label.length);
  yield* rest;
  for (const line of evidence) yield* broken(`- ${safe(line)}`, output.width, INDENT, `${INDENT}  `);
  yield* broken(`next: ${safe(next)}`, output.width, INDENT, `${INDENT}  `);
  yield* broken(`read: ${runbook}`, output.width, INDENT, `${INDENT}  `);
}

function summaryOf({ findings }: Diagnosis): string {
  const number = (severity: Severity): number => findings.filter((one) => one.severity === severity).length;
  const [wrong, warnings, notes] = [number('wrong'), number('warning'), number('note')];
  const words = [
    wrong === 0 ? 'nothing is wrong' : `${wrong} wrong`,
    ...(warnings === 0 ? [] : [count(warnings, 'warning')]),
    ...(notes === 0 ? [] : [count(notes, 'note')]),
  ];
  return words.join(', ');
}

function lookedAt({ looked, namespace, resource, store }: Diagnosis): string {
  const where = resource === undefined ? `namespace ${namespace}` : `${safe(resource)} in namespace ${namespace}`;
  const streams = looked.streams === 0 ? [] : [count(looked.streams, 'stream')];
  const things = [
    count(looked.leases, 'lease'),
    `${looked.waiting} waiting`,
    `${count(looked.events, 'event')} of ${duration(looked.overMs)}`,
    ...streams,
  ];
  return `looked at ${where} on ${store}: ${things.join(', ')}`;
}

function answersIn({ looked: { latencyMs, unanswered } }: Diagnosis): string {
  const silent = unanswered === 0 ? '' : `, ${count(unanswered, 'call was', 'calls were')} not answered`;
  return `the store answers in ${latencyMs.p50} ms, at most ${latencyMs.max} ms${silent}`;
}
