// The report of a run: one line of JSON, appended to the file that FAULTS_REPORT names, else to one of its own in the folder for
// temporary files. Whoever collects reports (`make prove`) reads lines; each has a sentence for people.
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Counts, SiteName } from './site.js';
import type { Verdict } from './verdict.js';

export interface Report {
  readonly kind: 'faults';
  readonly store: SiteName;
  /** SEED=n draws the same misfortunes again; what they meet is the machine's. */
  readonly seed: number;
  /** What the seed was drawn for: another version may draw something else from it. Empty outside a repository. */
  readonly commit: string;
  readonly seconds: number;
  readonly workers: number;
  readonly resources: number;
  /** How often each kind happened. */
  readonly misfortunes: Readonly<Record<string, number>>;
  /** What could not happen here, each with its reason. */
  readonly leftOut: readonly string[];
  /** Leases granted, by the store's log. */
  readonly grants: number;
  /** Increments: confirmed, refused by the guard, unknown and found to have landed or not. */
  readonly increments: Omit<Verdict, 'complaints' | 'lost'>;
  /** Increments that are gone although they were confirmed or recorded; and those of the twin without a guard. */
  readonly lost: number;
  readonly lostUnguarded: number;
  /** Handles, descriptors, connections, tickets, rows and files, with nobody there, before and after. */
  readonly before: Counts;
  readonly after: Counts;
  /** How long each phase took; `recovery` is until every worker had made progress again. */
  readonly phasesMs: Readonly<Record<string, number>>;
  /** Empty when everything held. */
  readonly complaints: readonly string[];
  readonly sentence: string;
}

export function sentenceOf(report: Omit<Report, 'sentence'>): string {
  const { store, seconds, workers, misfortunes, grants, increments, lost, lostUnguarded, complaints, seed } = report;
  const happened = Object.values(misfortunes).reduce((sum, count) => sum + count, 0);
  const landed = increments.confirmed + increments.unknownLanded;
  const end = complaints.length === 0 ? 'nothing speaks against it' : `${complaints.length} complaints`;
  return (
    `${store}: ${workers} workers, ${happened} misfortunes in ${seconds} s, ${grants} grants, ${landed} guarded increments ` +
    `(${increments.unknownLanded} of ${increments.unknownLanded + increments.unknownNot} unknown ones landed, ` +
    `${increments.refused} refused), ${lost} lost; without the guard ${lostUnguarded} lost; ${end} (SEED=${seed})`
  );
}

/** The file it was written to. */
export function writeReport(report: Report, file = process.env['FAULTS_REPORT']): string {
  const path = file || join(mkdtempSync(join(tmpdir(), 'holdfast-faults-')), `${report.store}.jsonl`);
  appendFileSync(path, `${JSON.stringify(report)}\n`);
  return path;
}

export function presentCommit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return '';
  }
}
