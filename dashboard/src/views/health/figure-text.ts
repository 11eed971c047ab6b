// Figures in few words: rates, counts, spans, and the value of each alert in its own unit. Pure.
import type { Alert, Finding } from '../../api/types.js';
import { spanText } from '../../ui/time-text.js';
import type { Summary } from './series.js';

export type Unit = 'rate' | 'count' | 'span';

export function figureText(value: number, unit: Unit): string {
  if (unit === 'span')
    return value < 0.0005 ? '0 s' : value < 1 ? `${Math.round(value * 1_000)} ms` : spanText(value * 1_000);
  if (unit === 'count') return numberText(value);
  // Three in ten minutes is easier to picture than 0.005 a second.
  if (value === 0) return '0 /s';
  return value >= 0.95 ? `${numberText(value)} /s` : `${numberText(value * 60)} /min`;
}

/** Two digits that mean something, no more. */
export function numberText(value: number): string {
  if (Number.isInteger(value) || Math.abs(value) >= 100) return Math.round(value).toLocaleString('en');
  return value.toLocaleString('en', {
    maximumFractionDigits: Math.abs(value) >= 10 ? 0 : Math.abs(value) >= 1 ? 1 : 2,
  });
}

/** The plot for those who do not see it. */
export function summaryText(title: string, summary: Summary | undefined, unit: Unit, span: string): string {
  if (!summary) return `${title}: nothing in the last ${span}.`;
  const { present, least, most, mean } = summary;
  const now = present === undefined ? 'nothing just now' : `${figureText(present, unit)} now`;
  const range = `between ${figureText(least, unit)} and ${figureText(most, unit)}, ${figureText(mean, unit)} on average`;
  return `${title}: ${now}; in the last ${span} ${range}.`;
}

const SHARES: ReadonlySet<string> = new Set([
  'expiration-rate',
  'recovery-failures',
  'renewal-failures',
  'acquisition-failures',
]);

/** The value of an alert, or its threshold, as a person would say it. */
export function alertText(alert: Alert['alert'], value: number): string {
  if (SHARES.has(alert)) return `${numberText(value * 100)} %`;
  if (alert === 'conflicts') return `${numberText(value)} /s`;
  if (alert === 'clock-skew') return `${numberText(value)} s`;
  return numberText(value);
}

const ORDER: Readonly<Record<string, number>> = { firing: 0, pending: 1 };

/** What burns first. */
export function byUrgency(alerts: readonly Alert[]): Alert[] {
  const rank = ({ state, severity }: Alert): number => 2 * (ORDER[state] ?? 2) + (severity === 'critical' ? 0 : 1);
  return alerts.toSorted((a, b) => rank(a) - rank(b));
}

/** From the path of a page of this project to its address here; undefined for what is not shipped with the page. */
export function runbookHref(path: string): string | undefined {
  const [, name] = /^docs\/((?:runbooks|guide)\/[a-z0-9-]+)\.md$/.exec(path) ?? [];
  return name === undefined ? undefined : `/runbook?page=${encodeURIComponent(name)}`;
}

/** '2 wrong, 1 warning, 3 notes'. */
export function countFindings(findings: readonly Finding[]): string {
  const many = { wrong: 'wrong', warning: 'warnings', note: 'notes' } as const;
  const parts = (Object.keys(many) as Finding['severity'][]).flatMap((severity) => {
    const count = findings.filter((one) => one.severity === severity).length;
    return count === 0 ? [] : [`${count} ${count === 1 ? severity : many[severity]}`];
  });
  return parts.join(', ');
}
