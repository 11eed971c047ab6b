// The alert monitor (O3): every server adds what it counted to one record in the store, and whoever does judges the rules over
// all of it. The record is changed in a turn, one process at a time, so that an alert is raised and cleared once for all
// servers, and a restart repeats nothing.
//
// Order of a tick: read the record, judge, write it, and only then tell: log line, event, webhook. A process that stops before
// the write has told nobody; one that stops after it leaves the notice in the outbox, and another sends it. So a notice for
// the webhook comes at least once, with the same id; a log line and an event at most once.
import type { EventFacts } from '../domain/events.js';
import { MAX_OUTBOX, readRecord, withSample, writeRecord, type AlertRecord } from '../observe/alert-record.js';
import type { Outgoing } from '../observe/alert-record.js';
import { ALERT_RULES, judge, NOTHING, type AlertRule, type AlertState, type Sample } from '../observe/alert-rules.js';
import { AlertSender } from './alert-sender.js';
import { mergeFigures, newCounts, type AlertFigures } from './alert-figures.js';
import { PeriodicService, type Service } from './service.js';
import { StoredNote } from './stored-note.js';
import { takeTurn } from './turn.js';
import type { ServiceContext } from './turn-service.js';

export const ALERTS_EVERY_MS = 15_000;
/** A turn that keeps nobody out once it is given back: every server adds its own figures. */
const SHORT_TURN_MS = 1;
/** A notice nobody crossed off for so long is begun again, so often. */
const TAKE_OVER_MS = 60_000;
const MAX_TRIES = 10;

export interface AlertOptions extends Pick<ServiceContext, 'store' | 'owner' | 'clock' | 'logger'> {
  readonly figures: () => Promise<AlertFigures>;
  /** Signs what goes to `alert_webhook_url`; without it nothing is sent there. */
  readonly webhookSecret?: string | undefined;
  /** Told of `alert.raised` and `alert.cleared`. */
  readonly announce: (facts: EventFacts) => void;
}

export interface AlertView {
  readonly alert: string;
  readonly severity: string;
  readonly state: AlertState['state'];
  readonly since?: string | undefined;
  readonly value: number;
  readonly threshold: number;
  readonly summary: string;
  readonly runbook: string;
}

interface Told {
  readonly rule: AlertRule;
  readonly what: 'raised' | 'cleared';
  readonly value: number;
  readonly at: number;
}

export class AlertMonitor implements Service {
  readonly name = 'alerts';
  readonly #options: AlertOptions;
  readonly #note: StoredNote;
  readonly #sender: AlertSender;
  readonly #periodic: PeriodicService;
  /** Which process has taken a notice: shorter than an owner, and no less unlike the others. */
  readonly #me: string;
  #counted = newCounts();
  #hasWarned = false;

  constructor(options: AlertOptions) {
    this.#options = options;
    const { store, clock, logger } = options;
    this.#note = new StoredNote(store, 'alerts', clock);
    this.#sender = new AlertSender(clock, logger);
    this.#me = clock.randomText().slice(0, 8);
    const tick = (signal: AbortSignal): Promise<void> => this.#tick(signal);
    this.#periodic = new PeriodicService({ name: this.name, clock, logger, intervalMs: () => ALERTS_EVERY_MS, tick });
  }

  start(): void {
    this.#periodic.start();
  }

  async stop(): Promise<void> {
    const stopped = this.#periodic.stop();
    await this.#sender.stop();
    await stopped;
    await this.#sender.stop(); // what the last tick had begun
  }

  /** How every alert stands, as all servers see it. */
  async alerts(): Promise<AlertView[]> {
    const { alerts } = readRecord(await this.#note.read());
    return ALERT_RULES.map(({ name, severity, threshold, summary }) => {
      const { state, since, value } = alerts[name] ?? { state: 'ok', since: undefined, value: 0 };
      const iso = since === undefined ? undefined : new Date(since).toISOString();
      return { alert: name, severity, state, since: iso, value, threshold, summary, runbook: runbookOf(name) };
    });
  }

  async #tick(signal: AbortSignal): Promise<void> {
    const { store, owner, clock } = this.#options;
    const { settings } = await store.settings();
    const figures = await this.#options.figures();
    const options = { service: this.name, namespace: store.namespace, everyMs: SHORT_TURN_MS, owner, clock, signal };
    let told: Told[] = [];
    await takeTurn(store, options, async (turn) => {
      const before = readRecord(await this.#note.read());
      const { now } = await store.time();
      const { sample, seen, counted } = mergeFigures(before, figures, this.#counted, now);
      const judged = judgeAll(
        before,
        withSample(before.samples, sample),
        Math.ceil(settings.cleanup_interval_seconds * 1_000),
      );
      const outbox = this.#nextOutbox(before.outbox, judged.told, settings.alert_webhook_url, now);
      turn.throwIfOver();
      await this.#note.write(writeRecord({ ...judged.record, outbox, seen }));
      this.#counted = counted;
      ({ told } = judged);
      this.#sendAll(outbox, settings.alert_webhook_url, signal);
      return 'done';
    });
    for (const one of told) this.#tell(one);
  }

  /** What is sent is crossed off; what nobody crossed off in time is taken over; what is new is added. */
  #nextOutbox(outbox: readonly Outgoing[], told: readonly Told[], url: string, now: number): Outgoing[] {
    if (url === '' || this.#options.webhookSecret === undefined) {
      if (url !== '' && !this.#hasWarned) {
        this.#hasWarned = true;
        this.#options.logger.warn({}, 'alert_webhook_url is set, but there is no secret to sign with: nothing is sent');
      }
      return [];
    }
    const sent = this.#sender.takeSent();
    const kept = outbox
      .filter(({ id }) => !sent.has(id))
      .map((one) =>
        now - one.takenAt < TAKE_OVER_MS || this.#sender.isSending(one.id)
          ? one
          : { ...one, by: this.#me, takenAt: now, tries: one.tries + 1 },
      );
    const fresh = told.map(({ rule, what, value, at }): Outgoing => {
      const state = what === 'raised' ? 'firing' : 'resolved';
      const id = this.#options.clock.randomText().slice(0, 12);
      return { id, alert: rule.name, state, value, at, by: this.#me, takenAt: now, tries: 1 };
    });
    const all = [...kept.filter(({ tries }) => tries <= MAX_TRIES), ...fresh];
    const next = all.slice(-MAX_OUTBOX);
    const dropped = kept.length + fresh.length - next.length;
    if (dropped > 0) this.#options.logger.error({ dropped }, 'notices of alerts could not be sent and are given up');
    return next;
  }

  #sendAll(outbox: readonly Outgoing[], url: string, signal: AbortSignal): void {
    const { webhookSecret, store } = this.#options;
    if (webhookSecret === undefined || signal.aborted) return;
    for (const { id, alert, state, value, at, by, takenAt } of outbox) {
      const rule = ALERT_RULES.find(({ name }) => name === alert);
      if (by !== this.#me || !rule || this.#begun.get(id) === takenAt) continue;
      this.#begun.set(id, takenAt);
      const { severity, threshold, summary } = rule;
      const times = { at: new Date(at).toISOString(), namespace: store.namespace };
      const body = { alert, state, severity, value, threshold, summary, runbook: runbookOf(alert), ...times };
      this.#sender.send(url, webhookSecret, { id, body });
    }
    for (const id of this.#begun.keys()) if (!outbox.some((one) => one.id === id)) this.#begun.delete(id);
  }
  /** The turn in which this process last began to send a notice: not again before it is taken over. */
  readonly #begun = new Map<string, number>();

  #tell({ rule, what, value, at }: Told): void {
    const { logger, announce } = this.#options;
    const { name: alert, severity, threshold, summary } = rule;
    const facts = { alert, severity, value, threshold, runbook: runbookOf(alert) };
    if (what === 'cleared') logger.info(facts, `alert cleared: ${alert}`);
    else if (severity === 'critical') logger.error(facts, `alert raised: ${summary}`);
    else logger.warn(facts, `alert raised: ${summary}`);
    announce({ type: `alert.${what}`, at, reason: summary, data: facts });
  }
}

function judgeAll(
  before: AlertRecord,
  samples: readonly Sample[],
  sweepMs: number,
): { record: AlertRecord; told: Told[] } {
  const { at } = samples.at(-1) ?? NOTHING;
  const told: Told[] = [];
  const alerts: Record<string, AlertState> = {};
  for (const rule of ALERT_RULES) {
    const { told: what, ...state } = judge(rule, before.alerts[rule.name], samples, at, sweepMs);
    alerts[rule.name] = state;
    if (what) told.push({ rule, what, value: state.value, at });
  }
  return { record: { ...before, samples, alerts }, told };
}

function runbookOf(alert: string): string {
  return `docs/runbooks/${alert}.md`;
}
