// One line per condition: what the driver says, and the code, whether trying again helps and what to do next.
import { describe, expect, test } from 'vitest';
import { LeaseError } from '../../domain/errors.js';
import { isSqlState, translateError, type Place } from './translate-error.js';

const place: Place = { server: 'db:5432/shop', schema: 'holdfast', isReadOnly: false };
const driverError = (code: string, message = 'said the server'): Error => Object.assign(new Error(message), { code });

describe('what the driver says', () => {
  test.each([
    ['HF001', 'STORE_INCOMPATIBLE', false, /READ COMMITTED.*default_transaction_isolation/],
    ['HF002', 'INVALID_ARGUMENT', false, /^said the server$/],
    ['HF003', 'STORE_INCOMPATIBLE', false, /^said the server$/],
    ['HF004', 'STORE_UNAVAILABLE', true, /^said the server$/],
    ['HF005', 'FORBIDDEN', false, /^said the server$/],
    ['HF999', 'STORE_INCOMPATIBLE', false, /^said the server$/],
    ['28P01', 'UNAUTHORIZED', false, /check user and password/],
    ['28000', 'UNAUTHORIZED', false, /check user and password/],
    ['3D000', 'STORE_UNAVAILABLE', false, /create it/],
    ['42501', 'FORBIDDEN', false, /GRANT USAGE ON SCHEMA holdfast/],
    ['25P03', 'STORE_UNAVAILABLE', true, /raise that setting/],
    ['25P04', 'STORE_UNAVAILABLE', true, /raise that setting/],
    ['54000', 'STORE_UNAVAILABLE', true, /a limit of/],
    ['25006', 'STORE_UNAVAILABLE', true, /became a replica/],
    ['53300', 'STORE_UNAVAILABLE', true, /max_connections/],
    ['53100', 'STORE_UNAVAILABLE', true, /disk/],
    ['53200', 'STORE_UNAVAILABLE', true, /short of resources/],
    ['40001', 'STORE_UNAVAILABLE', true, /nothing was written/],
    ['40P01', 'STORE_UNAVAILABLE', true, /deadlock/],
    ['55P03', 'STORE_UNAVAILABLE', true, /lock_timeout/],
    ['57014', 'STORE_UNAVAILABLE', true, /statement_timeout/],
    ['57P01', 'STORE_UNAVAILABLE', true, /restarting/],
    ['57P02', 'STORE_UNAVAILABLE', true, /crashed/],
    ['57P03', 'STORE_UNAVAILABLE', true, /starting or stopping/],
    ['57P05', 'STORE_UNAVAILABLE', true, /stopped this call/],
    ['42883', 'STORE_INCOMPATIBLE', false, /holdfast migrate/],
    ['3F000', 'STORE_INCOMPATIBLE', false, /holdfast migrate/],
    ['42P01', 'STORE_INCOMPATIBLE', false, /holdfast migrate/],
    ['0A000', 'STORE_INCOMPATIBLE', false, /PostgreSQL 13 or newer/],
    ['08006', 'STORE_UNAVAILABLE', true, /connection to db:5432\/shop failed/],
    ['XX000', 'STORE_UNAVAILABLE', true, /look in its log/],
    ['22012', 'STORE_UNAVAILABLE', false, /SQLSTATE 22012/],
    ['ECONNREFUSED', 'STORE_UNAVAILABLE', true, /nobody listens there/],
    ['ENOTFOUND', 'STORE_UNAVAILABLE', true, /no such host/],
    ['ETIMEDOUT', 'STORE_UNAVAILABLE', true, /firewall/],
    ['ECONNRESET', 'STORE_UNAVAILABLE', true, /was cut/],
    ['EPIPE', 'STORE_UNAVAILABLE', true, /was cut/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'STORE_UNAVAILABLE', false, /another name/],
    ['CERT_HAS_EXPIRED', 'STORE_UNAVAILABLE', false, /renew it/],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'STORE_UNAVAILABLE', false, /sslrootcert/],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'STORE_UNAVAILABLE', false, /handshake/],
  ])('A11: %s is %s', (code, leaseCode, retryable, says) => {
    const cause = driverError(code);
    const error = translateError(cause, place);
    expect(error).toMatchObject({ code: leaseCode, retryable, details: { server: 'db:5432/shop', driverCode: code } });
    expect(error.message).toMatch(says);
    expect(error.cause).toBe(cause);
  });

  test.each([
    ['password authentication failed', 'UNAUTHORIZED', false],
    ['no such user: x', 'UNAUTHORIZED', false],
    ['no such database: x', 'STORE_UNAVAILABLE', false],
    ['server conn crashed?', 'STORE_UNAVAILABLE', true],
  ])('A11: PgBouncer says "%s"', (text, code, retryable) => {
    expect(translateError(driverError('08P01', text), place)).toMatchObject({ code, retryable });
  });

  test('A11: read-only from the start is a replica', () => {
    const error = translateError(driverError('25006'), { ...place, isReadOnly: true });
    expect(error).toMatchObject({ code: 'STORE_INCOMPATIBLE', retryable: false });
    expect(error.message).toContain('name the primary');
  });

  test('A11: errors without a code, and things that are no errors', () => {
    const ended = translateError(new Error('Connection terminated unexpectedly'), place);
    expect(ended).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    expect(ended.message).toContain('Connection terminated unexpectedly');
    expect(translateError(new Error('The server does not support SSL connections'), place).message).toContain('no TLS');
    expect(translateError(new AggregateError([]), place).message).toContain('the connection failed');
    expect(translateError('no', place)).toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });

  test('a LeaseError passes through', () => {
    const error = new LeaseError('SHUTTING_DOWN', 'closed');
    expect(translateError(error, place)).toBe(error);
  });

  test.each(['28P01', 'HF001', '57P01', 'XX000'])('%s is a SQLSTATE', (code) => {
    expect(isSqlState(code)).toBe(true);
  });
  test.each(['', 'EPIPE', 'ENOENT', 'ECONNREFUSED', 'ERR_INVALID_URL'])('%s is none', (code) => {
    expect(isSqlState(code)).toBe(false);
  });
});
