// Every alert and how it stands, what fires first. Each leads to its runbook.
import { get } from '../../api/client.js';
import type { Alert, Alerts } from '../../api/types.js';
import { useAsked } from '../../state/asked.js';
import { Entries, Entry } from '../../ui/entries.js';
import { Chip, ErrorNote, Loading, Panel } from '../../ui/parts.js';
import { Since } from '../../ui/time.js';
import { alertText, byUrgency, runbookHref } from './figure-text.js';

const EVERY_MS = 5_000;

export function AlertPanel() {
  const { value, error, again } = useAsked('alerts', (stop) => get<Alerts>('/v1/alerts', {}, stop), {
    everyMs: EVERY_MS,
  });
  const alerts = byUrgency(value?.items ?? []);
  const loud = alerts.filter(({ state }) => state !== 'ok');
  const quiet = alerts.filter(({ state }) => state === 'ok');
  return (
    <Panel title="Alerts" aside={value && <Standing loud={loud} />}>
      {error !== undefined && <ErrorNote error={error} onRetry={again} />}
      {value === undefined && error === undefined && <Loading />}
      {loud.length > 0 && (
        <Entries label="Alerts that need somebody">
          {loud.map((alert) => (
            <AlertEntry key={alert.alert} alert={alert} />
          ))}
        </Entries>
      )}
      {value !== undefined && <Quiet alerts={quiet} isAlone={loud.length === 0} />}
    </Panel>
  );
}

function Standing({ loud }: { readonly loud: readonly Alert[] }) {
  const firing = loud.filter(({ state }) => state === 'firing').length;
  const pending = loud.length - firing;
  if (loud.length === 0) return <span role="status">nothing fires</span>;
  const parts = [firing > 0 && `${firing} firing`, pending > 0 && `${pending} pending`].filter(Boolean);
  return <span role="status">{parts.join(', ')}</span>;
}

function AlertEntry({ alert: one }: { readonly alert: Alert }) {
  const { alert, state, severity, summary, since, value, threshold, runbook } = one;
  const isFiring = state === 'firing';
  return (
    <Entry
      lead={<Chip tone={isFiring ? (severity === 'critical' ? 'bad' : 'warn') : undefined}>{severity}</Chip>}
      about={
        <>
          <span>{alert}</span>
          <span>
            {alertText(alert, value)}, threshold {alertText(alert, threshold)}
          </span>
          {since !== undefined && (
            <span>
              {state} for <Since at={since} />
            </span>
          )}
        </>
      }
      aside={<RunbookLink path={runbook} />}
    >
      <strong>{summary}</strong>
    </Entry>
  );
}

/** What is well takes one line each, and only when it is asked for. */
function Quiet({ alerts, isAlone }: { readonly alerts: readonly Alert[]; readonly isAlone: boolean }) {
  if (alerts.length === 0) return null;
  return (
    <details class="quiet" data-alone={isAlone ? '' : undefined}>
      <summary>{isAlone ? `All ${alerts.length} rules hold` : `${alerts.length} other rules hold`}</summary>
      <ul>
        {alerts.map(({ alert, value, threshold, runbook, summary }) => (
          <li key={alert} title={summary}>
            <span>{alert}</span>
            <span class="muted">
              {alertText(alert, value)} of {alertText(alert, threshold)}
            </span>
            <RunbookLink path={runbook} name={alert} />
          </li>
        ))}
      </ul>
    </details>
  );
}

export function RunbookLink({ path, name }: { readonly path: string; readonly name?: string }) {
  const href = runbookHref(path);
  if (href === undefined) return <span class="muted">{path}</span>;
  return (
    <a class="runbook-link" href={href}>
      Runbook{name !== undefined && <span class="visually-hidden"> for {name}</span>}
    </a>
  );
}
