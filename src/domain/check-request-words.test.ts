// Values that no message can simply print are refused in words, like any other bad value.
import { describe, expect, test } from 'vitest';
import { AWKWARD } from '../../test/support/awkward-values.js';
import { acquireRequest } from '../../test/support/domain-values.js';
import { invalidMessage } from '../../test/support/invalid-message.js';
import {
  checkAcquire,
  checkChange,
  checkEnd,
  checkLimit,
  checkNamespace,
  checkRenew,
  checkRevoke,
} from './check-request.js';
import type { RevokeOrder } from './requests.js';

describe('S21: what would trip a message is refused like any other bad value', () => {
  const authority = { id: 'lease-0123456789', epoch: 7, requestId: 'r' };
  const order: RevokeOrder = { target: { resource: 'a' }, reason: 'gone', actor: 'admin', upToEpoch: 7, keepOutMs: 0 };
  const says = (act: () => unknown): string => invalidMessage(act).replace(/^.*(?=got |not an epoch)/, '');

  test.each(AWKWARD)('%s', (_what, value, shownAs) => {
    const any = value as never;
    for (const field of ['ttlMs', 'minHoldMs', 'lockDelayMs', 'maxHoldMs', 'bornAt', 'priority', 'maxRenewals']) {
      expect(says(() => checkAcquire(acquireRequest({ [field]: value })))).toBe(`got ${shownAs}`);
    }
    for (const act of [
      () => checkNamespace(value),
      () => checkLimit(value),
      () => checkRenew({ ...authority, callerWall: 0, ttlMs: any }),
      () => checkRevoke({ ...order, keepOutMs: any }),
    ]) {
      expect(says(act)).toBe(`got ${shownAs}`);
    }
    for (const act of [
      () => checkRenew({ ...authority, callerWall: 0, epoch: any }),
      () => checkEnd({ ...authority, why: 'released', epoch: any }),
      () => checkChange({ ...authority, kind: 'downgrade', epoch: any }),
      () => checkRevoke({ ...order, upToEpoch: any }),
    ]) {
      expect(says(act)).toBe(`not an epoch: ${shownAs}`);
    }
    for (const field of ['id', 'owner', 'operationId', 'callerWall']) {
      expect(says(() => checkAcquire(acquireRequest({ [field]: value })))).not.toBe('');
    }
  });
});
