// What the doctor found: how bad, how it shows, what to type next. It reads much, so it is asked now and then and on demand.
import { useSignal } from '@preact/signals';
import { get } from '../../api/client.js';
import type { Diagnosis, Finding } from '../../api/types.js';
import { useAsked } from '../../state/asked.js';
import { Command } from '../../ui/copy.js';
import { Entries, Entry } from '../../ui/entries.js';
import { plainName } from '../../ui/name-text.js';
import { Button, Chip, ErrorNote, Panel, type Tone } from '../../ui/parts.js';
import { RunbookLink } from './alert-panel.js';
import { countFindings } from './figure-text.js';

const EVERY_MS = 30_000;
/** The worst come first; the rest on demand. */
const MOST_SHOWN = 6;
const TONES: Readonly<Record<Finding['severity'], Tone | undefined>> = {
  wrong: 'bad',
  warning: 'warn',
  note: undefined,
};

export function DoctorPanel() {
  const { value, error, isAsking, again } = useAsked('doctor', (stop) => get<Diagnosis>('/v1/doctor', {}, stop), {
    everyMs: EVERY_MS,
  });
  const isWhole = useSignal(false);
  const findings = value?.findings ?? [];
  const shown = isWhole.value ? findings : findings.slice(0, MOST_SHOWN);
  const look = (
    <Button kind="quiet" disabled={isAsking} onClick={again}>
      {isAsking ? 'Looking…' : 'Look again'}
    </Button>
  );
  return (
    <Panel
      title="What the doctor found"
      aside={
        <>
          <span role="status">{value && countFindings(findings)}</span> {look}
        </>
      }
    >
      {error !== undefined && <ErrorNote error={error} onRetry={again} />}
      {value?.findings.length === 0 && <p>Nothing is wrong with the store, its leases, queues and streams.</p>}
      {value !== undefined && value.findings.length > 0 && (
        <Entries label="Findings, the worst first">
          {shown.map((finding, n) => (
            <FindingEntry key={`${finding.check} ${n}`} finding={finding} />
          ))}
          {shown.length < value.findings.length && (
            <li class="entry">
              <Button
                onClick={() => {
                  isWhole.value = true;
                }}
              >
                Show all {value.findings.length}
              </Button>
            </li>
          )}
        </Entries>
      )}
      {value === undefined && error === undefined && <p class="muted">Looking…</p>}
    </Panel>
  );
}

function FindingEntry({ finding }: { readonly finding: Finding }) {
  const { check, severity, what, evidence, next, runbook } = finding;
  return (
    <Entry lead={<Chip tone={TONES[severity]}>{severity}</Chip>} aside={<RunbookLink path={runbook} name={check} />}>
      <div class="finding">
        <strong>{plainName(what)}</strong>
        {evidence.length > 0 && (
          <ul>
            {evidence.map((line, n) => (
              <li key={n}>{plainName(line)}</li>
            ))}
          </ul>
        )}
        {next !== '' && <Command text={next} label={`next step for ${check}`} />}
      </div>
    </Entry>
  );
}
