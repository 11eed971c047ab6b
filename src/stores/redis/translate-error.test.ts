// Every error reply and socket failure that is known, with its code, whether to retry, and what to do.
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { LeaseError } from '../../domain/errors.js';
import { replyWord, translateError } from './translate-error.js';

const where = 'redis://example.test:6379';

function failure(message: string, more: object = {}): Error {
  return Object.assign(new Error(message), more);
}

describe('errors of Redis', () => {
  test.each([
    ['NOAUTH Authentication required.', 'UNAUTHORIZED', false, false],
    ['WRONGPASS invalid username-password pair or user is disabled.', 'UNAUTHORIZED', false, false],
    ['ERR AUTH <password> called without any password configured for the default user.', 'UNAUTHORIZED', false, false],
    ["NOPERM User app has no permissions to run the 'evalsha' command", 'FORBIDDEN', false, false],
    ["OOM command not allowed when used memory > 'maxmemory'.", 'STORE_UNAVAILABLE', true, false],
    ['WRONGTYPE Operation against a key holding the wrong kind of value', 'STORE_INCOMPATIBLE', false, undefined],
    ["READONLY You can't write against a read only replica.", 'STORE_UNAVAILABLE', true, false],
    ['LOADING Redis is loading the dataset in memory', 'STORE_UNAVAILABLE', true, false],
    ['BUSY Redis is busy running a script.', 'STORE_UNAVAILABLE', true, false],
    [
      "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
      'STORE_UNAVAILABLE',
      true,
      false,
    ],
    ['CLUSTERDOWN Hash slot not served', 'STORE_UNAVAILABLE', true, false],
    ['TRYAGAIN Multiple keys request during rehashing of slot', 'STORE_UNAVAILABLE', true, false],
    ['NOREPLICAS Not enough good replicas to write.', 'STORE_UNAVAILABLE', true, false],
    [
      'MISCONF Redis is configured to save RDB snapshots, but it is unable to persist.',
      'STORE_UNAVAILABLE',
      true,
      false,
    ],
    ['MOVED 866 127.0.0.1:7001', 'STORE_INCOMPATIBLE', false, false],
    ["CROSSSLOT Keys in request don't hash to the same slot", 'STORE_INCOMPATIBLE', false, false],
    ['UNBLOCKED force unblock from blocking operation, instance state changed', 'STORE_UNAVAILABLE', true, undefined],
    ["ERR unknown command 'EVALSHA', with args beginning with:", 'STORE_INCOMPATIBLE', false, false],
    ["ERR ACL failure in script: User app has no permissions to run the 'xadd' command", 'FORBIDDEN', false, undefined],
    ['ERR DB index is out of range', 'INVALID_ARGUMENT', false, false],
    ['ERR something nobody has seen', 'STORE_UNAVAILABLE', true, undefined],
    ['Connection in subscriber mode, only subscriber commands may be used', 'INVALID_ARGUMENT', false, false],
    [
      "ERR Can't execute 'evalsha': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context",
      'INVALID_ARGUMENT',
      false,
      false,
    ],
    ['Socket closed unexpectedly', 'STORE_UNAVAILABLE', true, undefined],
    ['Command timed out', 'STORE_UNAVAILABLE', true, undefined],
  ] as const)('A11: %s', (message, code, retryable, executed) => {
    const error = translateError(failure(message), where);
    expect(error).toMatchObject({ name: 'LeaseError', code, retryable });
    expect(error.details['executed']).toBe(executed);
    expect(error.message).toContain(where);
  });

  test.each([
    ['ECONNREFUSED', /start the server/, true],
    ['ENOTFOUND', /not known/, true],
    ['ETIMEDOUT', /in time/, true],
    ['ECONNRESET', /ECONNRESET/, true],
    ['ERR_TLS_CERT_ALTNAME_INVALID', /host name/, false],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', /tlsCa/, false],
    ['ERR_SSL_WRONG_VERSION_NUMBER', /redis: instead of rediss:/, false],
  ])('A11: a socket that fails with %s says what to do', (code, sentence, retryable) => {
    const error = translateError(failure('', { code }), where);
    expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable });
    expect(error.message).toMatch(sentence);
  });

  test('A11: an error that is only a class of its library says by its name what it is', () => {
    class TimeoutError extends Error {}
    class OddError extends Error {}
    expect(translateError(new TimeoutError(), where).message).toMatch(/does not answer in time/);
    expect(translateError(new OddError(), where)).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    expect(translateError(new OddError(), where).message).toContain('failed (OddError)');
  });

  test('A11: names the command that is forbidden', () => {
    expect(
      translateError(failure("NOPERM User app has no permissions to run the 'xadd' command"), where).message,
    ).toContain('xadd');
  });

  test('A11: nothing that a library hangs on its errors is passed on: not the password of AUTH', () => {
    const error = failure('WRONGPASS invalid username-password pair', { command: { name: 'auth', args: ['hunter2'] } });
    expect(inspect(translateError(error, where), { depth: 9 })).not.toContain('hunter2');
  });

  test('a LeaseError stays what it is', () => {
    const error = new LeaseError('SHUTTING_DOWN', 'closed');
    expect(translateError(error, where)).toBe(error);
  });

  test('the first word of a reply is only taken from what a server said', () => {
    expect(replyWord(failure('NOSCRIPT No matching script.'))).toBe('NOSCRIPT');
    expect(replyWord(failure('ECONNREFUSED somewhere', { code: 'ECONNREFUSED' }))).toBe('');
    expect(replyWord(failure('The client is closed'))).toBe('');
    expect(replyWord('OOM')).toBe('');
  });
});
