// N5: what a handle writes down about its work is kept in the order in which it was told, also where an answer fails to come.
import { expect, test } from 'vitest';
import { streamStage, TTL_MS } from '../../test/support/stream-stage.js';

const stage = streamStage();

/** What recovery is given of an operation whose process is gone. */
async function recoveredFrom(kind: string): Promise<unknown> {
  let given: unknown;
  stage.stream.recovery.rebuild(kind, (partial) => Promise.resolve((given = partial)));
  await stage.clock.advance(TTL_MS);
  await stage.run();
  return given;
}

test.each(['fail', 'failAfter', 'loseRequest', 'loseReply'] as const)(
  'N5, S15: a note that is asked again (%s) does not come after the one behind it',
  async (fault) => {
    const lease = await stage.lease('op', 'import');
    stage.store.order({ calls: 'sequence.progress', fault });
    const first = lease.partial({ rows: 100 });
    await stage.clock.advance(1); // it is on its way
    const second = lease.partial({ rows: 200 });
    await stage.meanwhile(Promise.all([first, second]), 9_000);
    expect(await recoveredFrom('import')).toEqual({ rows: 200 });
  },
);

test('N5: a note that was refused keeps none behind it from being written', async () => {
  const lease = await stage.lease('op', 'import');
  const refused = lease.partial(undefined);
  const kept = lease.partial({ rows: 1 });
  await expect(refused).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  await kept;
  expect(await recoveredFrom('import')).toEqual({ rows: 1 });
});
