// O4: settings kept in the store. Every reply carries their version; unknown keys and bad values are refused with what is
// allowed and nothing is half applied; they never change a live lease.
import assert from 'node:assert/strict';
import type { ConformanceCase } from '../conformance-case.js';
import { expectOutcome, expectRejection } from '../context.js';

/** Section 9 of the contract, word for word. */
const DEFAULTS = {
  default_ttl_seconds: 3600,
  held_ttl_seconds: 30,
  max_renewals: -1,
  acquisition_timeout_ms: 30000,
  cleanup_interval_seconds: 30,
  auto_expire_enabled: true,
  blocking_mode_enabled: true,
  keep_history: true,
  history_renewals: false,
  history_retention_days: 30,
  history_archive_path: '',
  cascade_threshold: 10,
  recovery_batch_size: 50,
  recovery_batch_delay_ms: 100,
  max_lock_age_seconds: 3600,
  max_lock_age_action: 'report',
  adaptive_ttl_enabled: false,
  min_ttl_seconds: 10,
  max_ttl_seconds: 900,
  alert_webhook_url: '',
};

const BAD: readonly Record<string, unknown>[] = [
  { no_such_setting: 1 },
  { Keep_History: true },
  JSON.parse('{"__proto__": 1}') as Record<string, unknown>,
  { constructor: 1 },
  { default_ttl_seconds: 0 },
  { default_ttl_seconds: -1 },
  { default_ttl_seconds: NaN },
  { default_ttl_seconds: Infinity },
  { default_ttl_seconds: '30' },
  { default_ttl_seconds: 31 * 86_400 },
  { default_ttl_seconds: null },
  { default_ttl_seconds: undefined },
  { max_renewals: -2 },
  { max_renewals: 1.5 },
  { max_renewals: 2 ** 53 },
  { acquisition_timeout_ms: 86_400_001 },
  { keep_history: 'yes' },
  { keep_history: 1 },
  { history_retention_days: 0 },
  { history_archive_path: 'relative/path' },
  { history_archive_path: '/nul\0' },
  { cascade_threshold: 0 },
  { recovery_batch_size: 1_001 },
  { max_lock_age_action: 'delete' },
  { alert_webhook_url: 'ftp://host' },
  { alert_webhook_url: `https://host/${'x'.repeat(3_000)}` },
  { min_ttl_seconds: 901 },
  { max_ttl_seconds: 9 },
  { min_ttl_seconds: 20, max_ttl_seconds: 15 },
  { cascade_threshold: 5, no_such_setting: 1 },
  { cascade_threshold: 5, max_renewals: 'many' },
];

export const settings: readonly ConformanceCase[] = [
  {
    tags: ['O4'],
    title: 'fresh data has the documented defaults',
    run: async ({ store }) => assert.deepEqual({ ...(await store.settings()).settings }, DEFAULTS),
  },
  {
    tags: ['O4', 'S13'],
    title: 'a change is kept, raises the version in every reply, and is seen by every client',
    run: async ({ store, anotherClient }) => {
      const second = await anotherClient();
      const { settingsVersion: before } = await store.settings();
      const changes = { cascade_threshold: 20, max_lock_age_action: 'revoke', alert_webhook_url: 'https://host/x' };
      const set = await store.setSettings(changes);
      const expected = { ...DEFAULTS, ...changes };
      assert.deepEqual({ ...set.settings }, expected);
      assert.ok(set.settingsVersion > before);
      for (const reader of [store, second.store]) {
        const read = await reader.settings();
        assert.deepEqual([{ ...read.settings }, read.settingsVersion], [expected, set.settingsVersion]);
        assert.equal((await reader.time()).settingsVersion, set.settingsVersion);
        assert.equal((await reader.acquire([])).settingsVersion, set.settingsVersion);
      }
      const third = await second.store.setSettings({ cascade_threshold: 30 });
      assert.ok(third.settingsVersion > set.settingsVersion);
      assert.equal(third.settings.max_lock_age_action, 'revoke', 'the rest stays');
    },
  },
  {
    tags: ['O4'],
    title: 'unknown keys and bad values are refused, and nothing is half applied',
    run: async ({ store }) => {
      const before = await store.settings();
      for (const bad of BAD) await expectRejection(store.setSettings(bad), 'INVALID_ARGUMENT');
      const after = await store.settings();
      assert.deepEqual([after.settings, after.settingsVersion], [before.settings, before.settingsVersion]);
    },
  },
  {
    tags: ['O4'],
    title: 'a refusal says what is allowed',
    run: async ({ store }) => {
      await assert.rejects(store.setSettings({ no_such_setting: 1 }), /cascade_threshold.*max_ttl_seconds/);
      await assert.rejects(store.setSettings({ max_lock_age_action: 'x' }), /report.*revoke/);
      await assert.rejects(store.setSettings({ recovery_batch_size: 0 }), /1 to 1000/);
    },
  },
  {
    tags: ['O4'],
    title: 'values at their bounds are taken exactly',
    run: async ({ store }) => {
      const bounds = {
        max_renewals: Number.MAX_SAFE_INTEGER,
        default_ttl_seconds: 0.1,
        max_ttl_seconds: 30 * 86_400,
        acquisition_timeout_ms: 0,
        history_archive_path: '/päth/with "quotes"',
      };
      await store.setSettings(bounds);
      assert.deepEqual({ ...(await store.settings()).settings }, { ...DEFAULTS, ...bounds });
    },
  },
  {
    tags: ['O4'],
    title: 'settings never change a live lease',
    run: async ({ grant, renew, record, store }) => {
      const lease = await grant('a');
      await store.setSettings({ max_renewals: 0, default_ttl_seconds: 1, held_ttl_seconds: 1, max_ttl_seconds: 10 });
      assert.deepEqual(await record(lease.id), lease);
      assert.equal(expectOutcome(await renew(lease), 'renewed').remainingMs, lease.ttlMs);
    },
  },
  {
    tags: ['O4', 'H1', 'H4'],
    title: 'keep_history off: nothing is logged, everything else works; on again, who read before is told of the hole',
    run: async ({ ask, grant, acquire, release, events, store }) => {
      await grant('before');
      await store.setSettings({ keep_history: false });
      const request = await ask('quiet');
      const quiet = await grant(request);
      assert.equal(expectOutcome(await acquire(request), 'granted').again, true);
      expectOutcome(await release(quiet), 'released');
      const [before] = await events();
      assert.equal((await events()).length, 1);
      await store.setSettings({ keep_history: true });
      const after = await grant('after');
      const { oldest } = expectOutcome(await store.events({ after: before?.id, limit: 10 }), 'lost');
      const names = (rows: readonly { resource?: string | undefined }[]) => rows.map(({ resource }) => resource);
      assert.deepEqual(names(await events({ after: oldest })), ['after']);
      assert.deepEqual(names(await events()), ['after']);
      const back = expectOutcome(await store.events({ backward: true, limit: 10 }), 'rows');
      assert.deepEqual(names(back.rows), ['after', 'before']);
      assert.ok(after.epoch > quiet.epoch);
    },
  },
  {
    tags: ['O4', 'H2'],
    title: 'history_renewals: renewals are in the log only when it is on',
    run: async ({ grant, renew, events, store }) => {
      const lease = await grant({ name: 'a', owner: 'one' });
      await renew(lease);
      assert.equal((await events()).length, 1);
      await store.setSettings({ history_renewals: true });
      await renew(lease, { requestId: 'once' });
      await renew(lease, { requestId: 'once' });
      const rows = (await events()).slice(1);
      assert.deepEqual(
        rows.map(({ type, leaseId, owner, epoch, from, to }) => ({ type, leaseId, owner, epoch, from, to })),
        [
          {
            type: 'lease.renewed',
            leaseId: lease.id,
            owner: 'one',
            epoch: lease.epoch,
            from: 'active',
            to: 'active',
          },
        ],
      );
      await store.setSettings({ history_renewals: false });
      await renew(lease);
      assert.equal((await events()).length, 2);
    },
  },
];
