// The rules of the alerts as a table: where each begins, that it does not begin before, and how an alert comes and goes.
import { describe, expect, test } from 'vitest';
import { ALERT_RULES, judge, NOTHING, type AlertRule, type AlertState, type Sample } from './alert-rules.js';

const MINUTE = 60_000;
const NOW = 10 * 3_600_000;
const SWEEP_MS = 30_000;

const ruleOf = (name: string): AlertRule => {
  const found = ALERT_RULES.find((rule) => rule.name === name);
  if (!found) throw new Error(`there is no rule ${name}`);
  return found;
};
/** Two samples: `agoMs` before now nothing, now these. */
const grown = (agoMs: number, changes: Partial<Sample>): Sample[] => [
  { ...NOTHING, at: NOW - agoMs },
  { ...NOTHING, at: NOW, ...changes },
];

const EDGES: [
  rule: string,
  severity: string,
  forMs: number,
  windowMs: number,
  edge: Partial<Sample>,
  over: Partial<Sample>,
][] = [
  [
    'expiration-rate',
    'warning',
    0,
    60 * MINUTE,
    { expiredLeases: 5, endedLeases: 100 },
    { expiredLeases: 6, endedLeases: 100 },
  ],
  ['expiration-burst', 'critical', 0, SWEEP_MS, { expired: 10 }, { expired: 11 }],
  [
    'recovery-failures',
    'warning',
    0,
    60 * MINUTE,
    { recovered: 99, recoveryFailures: 1 },
    { recovered: 98, recoveryFailures: 2 },
  ],
  ['sequence-gaps', 'warning', 0, MINUTE, { gaps: 100 }, { gaps: 101 }],
  ['conflicts', 'warning', 2 * MINUTE, 5 * MINUTE, { conflicts: 3 }, { conflicts: 4 }],
  [
    'renewal-failures',
    'warning',
    5 * MINUTE,
    5 * MINUTE,
    { renewals: 100, renewalFailures: 10 },
    { renewals: 100, renewalFailures: 11 },
  ],
  [
    'acquisition-failures',
    'warning',
    5 * MINUTE,
    5 * MINUTE,
    { acquisitions: 100, acquisitionFailures: 20 },
    { acquisitions: 100, acquisitionFailures: 21 },
  ],
  ['clock-skew', 'warning', 0, MINUTE, { skewMs: 5_000 }, { skewMs: 5_001 }],
];

describe('O3: the rules', () => {
  test('O3: there are no others', () => {
    expect(ALERT_RULES.map(({ name }) => name)).toEqual(EDGES.map(([name]) => name));
  });

  test.each(EDGES)('O3: %s (%s, for %d ms) at its edge and over it', (name, severity, forMs, windowMs, edge, over) => {
    const rule = ruleOf(name);
    expect(rule).toMatchObject({ severity, forMs });
    expect(judge(rule, undefined, grown(windowMs, edge), NOW, SWEEP_MS).state).toBe('ok');
    const first = judge(rule, undefined, grown(windowMs, over), NOW, SWEEP_MS);
    expect(first).toMatchObject(forMs === 0 ? { state: 'firing', told: 'raised' } : { state: 'pending' });
    const pending: AlertState = { state: 'pending', since: NOW - forMs, value: 0 };
    expect(judge(rule, pending, grown(windowMs, over), NOW, SWEEP_MS)).toMatchObject({
      state: 'firing',
      told: 'raised',
    });
  });

  test.each(EDGES.filter(([name]) => name !== 'sequence-gaps' && name !== 'clock-skew'))(
    'O3: %s: what lies before its window does not count',
    (name, _severity, _forMs, windowMs, _edge, over) => {
      const samples = [
        { ...NOTHING, at: NOW - windowMs - 2 * MINUTE },
        { ...NOTHING, ...over, at: NOW - windowMs - MINUTE },
        { ...NOTHING, ...over, at: NOW },
      ];
      expect(judge(ruleOf(name), undefined, samples, NOW, SWEEP_MS).value).toBe(0);
    },
  );

  test('O3: what expired while no server looked did not expire together', () => {
    const rule = ruleOf('expiration-burst');
    const night = grown(8 * 60 * MINUTE, { expired: 100 });
    expect(judge(rule, undefined, night, NOW, SWEEP_MS)).toMatchObject({ state: 'ok' });
    const pause = grown(4 * SWEEP_MS, { expired: 11 });
    expect(judge(rule, undefined, pause, NOW, SWEEP_MS)).toMatchObject({ state: 'firing' });
  });

  test('O3: nothing at all is no alert', () => {
    for (const rule of ALERT_RULES) {
      expect(judge(rule, undefined, [], NOW, SWEEP_MS)).toMatchObject({ state: 'ok', value: 0 });
    }
  });
});

describe('O3: an alert', () => {
  const rule = ruleOf('conflicts');
  const bad = grown(5 * MINUTE, { conflicts: 100 });
  const good = grown(5 * MINUTE, {});

  test('O3: is told once when it is raised, and once when it is cleared', () => {
    const told: (string | undefined)[] = [];
    let state: AlertState | undefined;
    const timeline: [samples: Sample[], minute: number][] = [
      [bad, 0],
      [bad, 1],
      [bad, 2],
      [bad, 3],
      [good, 4],
      [good, 5],
    ];
    for (const [samples, minute] of timeline) {
      const moved = samples.map((sample) => ({ ...sample, at: sample.at + minute * MINUTE }));
      const { told: what, ...next } = judge(rule, state, moved, NOW + minute * MINUTE, SWEEP_MS);
      state = next;
      told.push(what);
    }
    expect(told).toEqual([undefined, undefined, 'raised', undefined, 'cleared', undefined]);
    expect(state).toMatchObject({ state: 'ok', since: NOW + 4 * MINUTE });
  });

  test('O3: that was broken for a moment only is never told', () => {
    const first = judge(rule, undefined, bad, NOW, SWEEP_MS);
    const second = judge(rule, first, good, NOW + MINUTE, SWEEP_MS);
    expect([first, second]).toMatchObject([{ state: 'pending' }, { state: 'ok' }]);
    expect(second.told).toBeUndefined();
  });
});
