// Hosts, origins and content types, those that mean us and those that only look so.
import { describe, expect, test } from 'vitest';
import { isLoopbackHost, refuseForeign, type Approach } from './foreign-requests.js';

const fine: Approach = {
  method: 'POST',
  isPublic: false,
  host: 'localhost:7420',
  origin: undefined,
  fetchSite: undefined,
  contentType: 'application/json',
  proxyHeader: undefined,
  address: '127.0.0.1',
};
const status = (given: Partial<Approach>, hasTokens = false): unknown =>
  refuseForeign({ ...fine, ...given }, hasTokens)?.details['httpStatus'];

describe('W4: foreign requests', () => {
  test('W4: loopback is meant by address, not by likeness', () => {
    const yes = [
      'localhost',
      'LOCALHOST:80',
      '127.0.0.1',
      '127.8.9.1:7420',
      '[::1]',
      '[::1]:7420',
      '::1',
      '::ffff:127.0.0.1',
    ];
    const no = [
      'localhost.evil.com',
      '127.0.0.1.evil.com',
      '0.0.0.0',
      '10.0.0.1',
      '[::]',
      'evil:7420',
      '',
      '::',
      '1270.0.0.1',
    ];
    expect(yes.filter((host) => !isLoopbackHost(host))).toEqual([]);
    expect(no.filter(isLoopbackHost)).toEqual([]);
    expect(isLoopbackHost(undefined)).toBe(false);
    expect(isLoopbackHost('localhost, evil')).toBe(false);
  });

  test('W4: without tokens only this machine is answered, by a name that means it', () => {
    expect(status({})).toBeUndefined();
    expect(status({ host: 'rebound.example:7420' })).toBe(403);
    expect(status({ host: undefined })).toBe(403);
    expect(status({ method: 'GET', host: 'rebound.example' })).toBe(403);
    expect(status({ address: '192.0.2.7' })).toBe(403);
    expect(status({ address: '::ffff:127.0.0.1' })).toBeUndefined();
    expect(status({ host: 'leases.example', address: '192.0.2.7' }, true)).toBeUndefined();
  });

  test('W4: without tokens nothing is answered that a proxy passed on', () => {
    for (const method of ['GET', 'POST']) {
      expect(status({ method, proxyHeader: 'via' })).toBe(403);
      expect(status({ method, proxyHeader: 'via' }, true)).toBeUndefined();
    }
  });

  test('W4: nothing is changed or told for a foreign origin, with tokens or without', () => {
    for (const hasTokens of [true, false]) {
      expect(status({ origin: 'http://localhost:7420' }, hasTokens)).toBeUndefined();
      for (const origin of ['http://evil.example', 'null', 'http://localhost:9999', 'file://', ''])
        expect(status({ origin }, hasTokens)).toBe(403);
      for (const fetchSite of ['cross-site', 'same-site']) expect(status({ fetchSite }, hasTokens)).toBe(403);
      expect(status({ fetchSite: 'same-origin', origin: 'http://localhost:7420' }, hasTokens)).toBeUndefined();
      for (const given of [{ origin: 'http://evil.example' }, { fetchSite: 'cross-site' }])
        for (const method of ['GET', 'HEAD', 'OPTIONS']) {
          expect(status({ ...given, method }, hasTokens)).toBe(403);
          expect(status({ ...given, method, isPublic: true }, hasTokens)).toBeUndefined();
        }
      for (const fetchSite of ['same-origin', 'none', undefined])
        expect(status({ method: 'GET', fetchSite }, hasTokens)).toBeUndefined();
    }
  });

  test('W4: nothing is changed without application/json', () => {
    for (const contentType of [
      undefined,
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/json-patch+json',
    ])
      for (const method of ['POST', 'PATCH', 'DELETE', 'PUT', 'PROPFIND'])
        expect(status({ method, contentType })).toBe(415);
    for (const contentType of [
      'application/json; charset=utf-8',
      'Application/JSON',
      'application/json;charset="UTF-8"',
    ])
      expect(status({ contentType })).toBeUndefined();
    expect(status({ contentType: 'application/json; charset=latin1' })).toBe(415);
    expect(status({ method: 'GET', contentType: undefined })).toBeUndefined();
  });
});
