// What this server keeps, and when it does not (section 13): capabilities and facts out of its own settings.
import type { Capabilities } from '../store.js';

export interface InfoColumns {
  readonly version: string;
  readonly synchronousCommit: string;
  readonly fsync: string;
  readonly fullPageWrites: string;
  readonly standbys: string;
  readonly replica: boolean;
}

export function infoOf(
  columns: InfoColumns,
  facts: Readonly<Record<string, unknown>>,
): { readonly capabilities: Capabilities; readonly details: Readonly<Record<string, unknown>> } {
  const { version, ...settings } = columns;
  return {
    capabilities: {
      minTtlMs: 100,
      clockGrainMs: 1,
      push: !String(facts['push']).startsWith('polling'),
      guards: ['guardPostgres'],
      roundTrips: 1,
      durability: `${durabilityOf(columns)}${lastReleases(columns)}`,
    },
    details: { postgres: version, ...settings, ...facts },
  };
}

/** docs/decisions/0025 */
function lastReleases({ synchronousCommit }: InfoColumns): string {
  if (synchronousCommit !== 'on') return '';
  return '; a crash may undo a release of the last moment, whose lease then stands until its deadline';
}

export function durabilityOf({ synchronousCommit, fsync, fullPageWrites, standbys }: InfoColumns): string {
  if (fsync !== 'on' || fullPageWrites !== 'on') {
    return 'survives a crash of a client; a power cut may damage everything (fsync or full_page_writes is off)';
  }
  if (synchronousCommit === 'off') return 'survives a crash of a client; one of the server may lose the last writes';
  const failover =
    standbys !== '' && synchronousCommit !== 'local'
      ? 'and a failover to a synchronous standby'
      : 'a failover may lose the last writes';
  return `survives a power cut; ${failover}`.replace('; and', ' and');
}
