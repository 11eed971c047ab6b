// The agenda: everything at its moment, earliest first, with one timer, and no timer for nothing.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FakeClock } from '../testing/fake-clock.js';
import { Agenda, type Dated } from './agenda.js';

interface Entry extends Dated {
  readonly name: string;
}
const entry = (name: string): Entry => ({ name, at: 0, slot: -1 });

function agendaAt(clock: FakeClock): { agenda: Agenda<Entry>; seen: string[] } {
  const seen: string[] = [];
  const agenda = new Agenda<Entry>(clock, (due, now) => {
    seen.push(...due.map(({ name }) => `${name}@${now}`));
  });
  return { agenda, seen };
}

describe('moments', () => {
  test('what is due together is handed over together, earliest first, each once', async () => {
    const clock = new FakeClock({ monotonic: 0 });
    const looks: string[][] = [];
    const agenda = new Agenda<Entry>(clock, (due) => void looks.push(due.map(({ name }) => name)));
    for (const [name, at] of [
      ['c', 30],
      ['a', 10],
      ['b', 10],
      ['d', 40],
    ] as const)
      agenda.put(entry(name), at);
    await clock.advance(10);
    expect(looks).toEqual([['a', 'b']]);
    await clock.advance(100);
    expect(looks).toEqual([['a', 'b'], ['c'], ['d']]);
    expect(agenda.size).toBe(0);
  });

  test('an entry has one moment: putting it again moves it, earlier or later', async () => {
    const clock = new FakeClock({ monotonic: 0 });
    const { agenda, seen } = agendaAt(clock);
    const [a, b] = [entry('a'), entry('b')];
    agenda.put(a, 10);
    agenda.put(b, 20);
    agenda.put(a, 50);
    agenda.put(b, 5);
    expect(agenda.size).toBe(2);
    await clock.advance(100);
    expect(seen).toEqual(['b@5', 'a@50']);
  });

  test('a moment that has passed is now', async () => {
    const clock = new FakeClock({ monotonic: 100 });
    const { agenda, seen } = agendaAt(clock);
    agenda.put(entry('late'), -5);
    await clock.advance(0);
    expect(seen).toEqual(['late@100']);
  });

  test('what is looked at may be put back, taken out, or joined by others', async () => {
    const clock = new FakeClock({ monotonic: 0 });
    const seen: string[] = [];
    const [a, b] = [entry('a'), entry('b')];
    const agenda: Agenda<Entry> = new Agenda<Entry>(clock, (due, now) => {
      seen.push(...due.map(({ name }) => `${name}@${now}`));
      if (now < 30) agenda.put(a, now + 10);
      agenda.remove(b);
    });
    agenda.put(a, 10);
    agenda.put(b, 20);
    await clock.advance(100);
    expect(seen).toEqual(['a@10', 'a@20', 'a@30']);
  });

  test('a timer that fires a little early does not spin: it is set again for the rest', async () => {
    const clock = new FakeClock({ monotonic: 0 });
    let timers = 0;
    const { after } = clock;
    clock.after = (ms, fn) => {
      timers += 1;
      return after(ms > 1 ? ms - 1 : ms, fn);
    };
    const seen: number[] = [];
    const agenda = new Agenda<Entry>(clock, (_, now) => void seen.push(now));
    agenda.put(entry('a'), 10);
    await clock.advance(20);
    expect(seen).toEqual([10]);
    expect(timers).toBe(2);
  });
});

describe('the timer', () => {
  test('S18: any number of entries cost one timer, and an empty agenda none', async () => {
    const clock = new FakeClock({ monotonic: 0 });
    const { agenda } = agendaAt(clock);
    const entries = Array.from({ length: 10_000 }, (_, i) => entry(`e${i}`));
    entries.forEach((one, i) => agenda.put(one, 1_000 + ((i * 7_919) % 10_000)));
    expect(clock.pendingTimers).toBe(1);
    for (const one of entries) agenda.remove(one);
    expect([agenda.size, clock.pendingTimers]).toEqual([0, 0]);
    agenda.put(entries[0] as Entry, 5);
    await clock.advance(5);
    expect(clock.pendingTimers).toBe(0);
  });

  test('of an agenda that was emptied serves the next entry where the clock allows it, and keeps nobody alive meanwhile', async () => {
    const clock = new FakeClock({ monotonic: 0 });
    const { after } = clock;
    const told: string[] = [];
    clock.after = (ms, fn) => {
      told.push('set');
      return { ...after(ms, fn), keepAlive: (isNeeded) => void told.push(isNeeded ? 'kept' : 'free') };
    };
    const { agenda, seen } = agendaAt(clock);
    const [one, two, three] = [entry('one'), entry('two'), entry('three')];
    agenda.put(one, 10);
    agenda.remove(one);
    agenda.put(two, 15);
    agenda.remove(two);
    expect(told).toEqual(['set', 'free', 'kept', 'free']);
    await clock.advance(12);
    expect([seen, clock.pendingTimers]).toEqual([[], 0]);
    agenda.put(three, 20);
    await clock.advance(10);
    expect([seen, told.at(-1)]).toEqual([['three@20'], 'set']);
  });

  test('taking out what is in no agenda, or twice, is harmless', () => {
    const clock = new FakeClock();
    const { agenda } = agendaAt(clock);
    const one = entry('one');
    agenda.remove(one);
    agenda.put(one, 5);
    agenda.remove(one);
    agenda.remove(one);
    expect([agenda.size, clock.pendingTimers]).toEqual([0, 0]);
  });
});

test('whatever is put, moved and taken out, the rest comes in order', async () => {
  const step = fc.record({
    act: fc.constantFrom('put', 'put', 'remove', 'takeUntil'),
    who: fc.nat({ max: 11 }),
    at: fc.nat({ max: 40 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const clock = new FakeClock({ monotonic: 0 });
      const seen: { name: string; at: number }[] = [];
      const agenda = new Agenda<Entry>(clock, (due) => void seen.push(...due.map(({ name, at }) => ({ name, at }))));
      const entries = Array.from({ length: 12 }, (_, i) => entry(`e${i}`));
      const expected = new Map<string, number>();
      for (const { act, who, at } of steps) {
        const one = entries[who] as Entry;
        if (act === 'put') {
          agenda.put(one, at);
          expected.set(one.name, at);
        } else if (act === 'remove') {
          agenda.remove(one);
          expected.delete(one.name);
        } else {
          for (const { name } of agenda.takeUntil(at)) expected.delete(name);
          expect([...expected.values()].every((left) => left > at)).toBe(true);
        }
        expect(agenda.size).toBe(expected.size);
      }
      await clock.advance(100);
      expect(new Map(seen.map(({ name, at }) => [name, at]))).toEqual(expected);
      expect(seen.map(({ at }) => at)).toEqual(seen.map(({ at }) => at).toSorted((a, b) => a - b));
    }),
    { numRuns: 200 },
  );
});
