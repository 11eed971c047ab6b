// The settings kept in the store: what each is now, what it is by default, what it takes and what it does. Whoever may, changes them one
// at a time; a value the server refuses stays in the field under the server's sentence.
import { useSignal } from '@preact/signals';
import { get } from '../../api/client.js';
import type { SettingRule, SettingRules, Settings as Values } from '../../api/types.js';
import { useAsked } from '../../state/asked.js';
import { may } from '../../state/session.js';
import { Name } from '../../ui/name.js';
import { Button, Chip, ErrorNote, Loading, Panel, ViewHead } from '../../ui/parts.js';
import { SettingDialog } from './setting-dialog.js';
import { grouped, shownValue } from './setting-value.js';
import './settings.css';

const EVERY_MS = 10_000;

export function Settings() {
  const rules = useAsked('setting rules', (stop) => get<SettingRules>('/v1/config/rules', {}, stop));
  const values = useAsked('settings', (stop) => get<Values>('/v1/config', {}, stop), { everyMs: EVERY_MS });
  const edited = useSignal<SettingRule | undefined>(undefined);
  const said = useSignal('');
  const error = rules.error ?? values.error;
  const again = (): void => {
    rules.again();
    values.again();
  };
  return (
    <div class="view settings">
      <ViewHead title="Settings" aside="kept in the store, the same for everybody who uses it" />
      {error !== undefined && <ErrorNote error={error} onRetry={again} />}
      <p role="status" class={said.value === '' ? 'visually-hidden' : 'said'}>
        {said.value}
      </p>
      {(!rules.value || !values.value) && error === undefined && <Loading />}
      {rules.value &&
        values.value &&
        grouped(rules.value.items).map(([title, list]) => (
          <Panel key={title} title={title}>
            <ul class="setting-list">
              {list.map((rule) => (
                <li key={rule.key}>
                  <Setting
                    rule={rule}
                    value={values.value?.[rule.key]}
                    onEdit={() => {
                      said.value = '';
                      edited.value = rule;
                    }}
                  />
                </li>
              ))}
            </ul>
          </Panel>
        ))}
      {edited.value && (
        <SettingDialog
          rule={edited.value}
          value={values.value?.[edited.value.key]}
          onClose={(saved) => {
            if (saved !== undefined) said.value = `${edited.value?.key ?? ''} is now ${shownValue(saved)}.`;
            edited.value = undefined;
            values.again();
          }}
        />
      )}
    </div>
  );
}

interface SettingProps {
  readonly rule: SettingRule;
  readonly value: unknown;
  readonly onEdit: () => void;
}

function Setting({ rule, value, onEdit }: SettingProps) {
  const isChanged = value !== rule.default;
  return (
    <>
      <div class="about">
        <code>{rule.key}</code>
        <p class="muted">{rule.about}</p>
      </div>
      <div class="value">
        <span class="row">
          {value === '' ? <span class="muted">empty</span> : <Name text={String(value)} most={48} />}
          {isChanged && <Chip tone="accent">changed</Chip>}
        </span>
        <span class="muted small">
          default {shownValue(rule.default)} · takes {rule.allowed}
        </span>
      </div>
      {may('changeSettings') && (
        <Button onClick={onEdit} aria-label={`Change ${rule.key}`} aria-haspopup="dialog">
          Change
        </Button>
      )}
    </>
  );
}
