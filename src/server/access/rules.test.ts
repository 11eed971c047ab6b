// Who may do what: every rule of a token as a question with its answer.
import { describe, expect, test } from 'vitest';
import type { Caller, Role } from '../context.js';
import { unwrapMetadata, unwrapped, takenBy, wrapMetadata } from './lease-metadata.js';
import {
  boundFilter,
  grantFor,
  isWithin,
  mayDo,
  mayManage,
  mayTouch,
  ownerFor,
  requireNames,
  requireReclaim,
  requireRevoke,
  requireWhole,
} from './rules.js';

function caller(given: Partial<Caller> = {}): Caller {
  return { tokenId: 'a1', name: 'ci', role: 'write', prefix: undefined, owner: undefined, ...given };
}
const part = (name: string) => ({ name, scope: 'node', mode: 'exclusive' }) as const;
const forbidden: unknown = expect.objectContaining({ code: 'FORBIDDEN' });

describe('W3: what a caller may do', () => {
  test('W3: roles are a rank', () => {
    const may = (role: Role): Role[] =>
      (['read', 'write', 'admin'] as const).filter((one) => mayDo(caller({ role }), one));
    expect([may('read'), may('write'), may('admin')]).toEqual([
      ['read'],
      ['read', 'write'],
      ['read', 'write', 'admin'],
    ]);
  });

  test('W3: a prefix is whole segments', () => {
    const names = ['orders', 'orders/0', 'orders/0/x', 'orders2', 'order', 'other/orders'];
    expect(names.filter((name) => isWithin('orders', name))).toEqual(['orders', 'orders/0', 'orders/0/x']);
    expect(() => requireNames(caller({ prefix: 'orders' }), ['orders/0', 'orders2'])).toThrow(forbidden);
    expect(() => requireWhole(caller({ prefix: 'orders' }))).toThrow(forbidden);
    expect(() => requireWhole(caller())).not.toThrow();
  });

  test('W3: a prefix narrows what was asked, and refuses what lies beside it', () => {
    const bound = caller({ prefix: 'orders/eu' });
    expect(boundFilter(bound, {})).toEqual({ prefix: 'orders/eu' });
    expect(boundFilter(bound, { prefix: 'orders' })).toEqual({ prefix: 'orders/eu' });
    expect(boundFilter(bound, { prefix: 'orders/eu/1' })).toEqual({ prefix: 'orders/eu/1' });
    expect(boundFilter(bound, { resource: 'orders/eu/1' })).toEqual({ resource: 'orders/eu/1', prefix: 'orders/eu' });
    expect(() => boundFilter(bound, { prefix: 'orders/us' })).toThrow(forbidden);
    expect(() => boundFilter(bound, { resource: 'orders' })).toThrow(forbidden);
    expect(boundFilter(caller(), { prefix: 'x' })).toEqual({ prefix: 'x' });
  });

  test('W3: a bound owner is the only one', () => {
    expect(ownerFor(caller({ owner: 'w7' }), undefined)).toBe('w7');
    expect(ownerFor(caller({ owner: 'w7' }), 'w7')).toBe('w7');
    expect(ownerFor(caller(), 'anybody')).toBe('anybody');
    expect(() => ownerFor(caller({ owner: 'w7' }), 'w8')).toThrow(forbidden);
  });

  test('W3: only the token that took a lease, one bound to its owner, or an admin touches it', () => {
    const lease = { owner: 'w7', parts: [part('orders/0')], metadata: wrapMetadata(caller(), { mine: 1 }) };
    expect(mayTouch(caller(), lease)).toBe(true);
    expect(mayTouch(caller({ role: 'read' }), lease)).toBe(false);
    expect(mayTouch(caller({ tokenId: 'b2' }), lease)).toBe(false);
    expect(mayTouch(caller({ tokenId: 'b2', owner: 'w7' }), lease)).toBe(true);
    expect(mayTouch(caller({ tokenId: 'b2', owner: 'w8' }), lease)).toBe(false);
    expect(mayTouch(caller({ tokenId: 'b2', role: 'admin' }), lease)).toBe(true);
    expect(mayTouch(caller({ tokenId: 'b2', role: 'admin', prefix: 'other' }), lease)).toBe(false);
    // Taken past the server: no token is remembered, and none of "no token" is a token.
    expect(mayTouch(caller({ tokenId: undefined }), { ...lease, metadata: undefined })).toBe(false);
    expect(mayTouch(caller({ tokenId: 'b2' }), { ...lease, metadata: { 'holdfast:token': 'a1' } })).toBe(false);
  });

  test('W3: metadata is wrapped and unwrapped, and cannot claim another token', () => {
    const forged = { 'holdfast:token': 'admin', 'holdfast:metadata': 1 };
    const kept = wrapMetadata(caller(), forged);
    expect(takenBy(kept)).toBe('a1');
    expect(unwrapMetadata(kept)).toEqual(forged);
    expect(unwrapMetadata(wrapMetadata(caller(), undefined))).toBeUndefined();
    expect(wrapMetadata(caller({ tokenId: undefined }), { a: 1 })).toEqual({ a: 1 });
    expect(unwrapped({ id: 'x', metadata: wrapMetadata(caller(), undefined) })).toEqual({ id: 'x' });
    expect(unwrapMetadata({ 'holdfast:token': 1 })).toEqual({ 'holdfast:token': 1 });
    expect(unwrapMetadata({ 'holdfast:token': 'x', other: 1 })).toEqual({ 'holdfast:token': 'x', other: 1 });
  });

  test('W3: nobody makes, sees or revokes a token that may more than its maker', () => {
    const bounded = caller({ role: 'admin', prefix: 'orders' });
    const wanted = { name: 'n', role: 'write' } as const;
    expect(() => grantFor(caller(), wanted)).toThrow(forbidden);
    expect(() => grantFor(bounded, wanted)).toThrow(forbidden);
    expect(() => grantFor(bounded, { ...wanted, prefix: 'orders2' })).toThrow(forbidden);
    expect(() => grantFor(bounded, { ...wanted, prefix: 'orders/eu' })).not.toThrow();
    const owned = caller({ role: 'admin', owner: 'ops' });
    expect(grantFor(owned, wanted)).toMatchObject({ owner: 'ops' });
    expect(grantFor(owned, { ...wanted, owner: 'ops' })).toMatchObject({ owner: 'ops' });
    expect(() => grantFor(owned, { ...wanted, owner: 'other' })).toThrow(forbidden);
    expect(() => grantFor(owned, { ...wanted, expiresInMs: 2_001 }, 2_000)).toThrow(forbidden);
    expect(() => grantFor(owned, { ...wanted, expiresInMs: 2_000 }, 2_000)).not.toThrow();
    const token = { id: 't', name: 'n', role: 'read', createdBy: 'x', at: 1 } as const;
    expect(mayManage(bounded, token)).toBe(false);
    expect(mayManage(bounded, { ...token, prefix: 'orders/eu' })).toBe(true);
    expect(mayManage(caller(), token)).toBe(false);
  });

  test('W3: a bounded admin revokes inside its prefix', () => {
    const bounded = caller({ role: 'admin', prefix: 'orders' });
    const lease = { owner: 'w', parts: [part('other')] };
    expect(() => requireRevoke(bounded, { under: 'orders/eu' })).not.toThrow();
    expect(() => requireRevoke(bounded, { resource: 'other' })).toThrow(forbidden);
    expect(() => requireRevoke(bounded, { owner: 'w' })).toThrow(forbidden);
    expect(() => requireRevoke(bounded, { leaseId: 'x' }, lease)).toThrow(forbidden);
    expect(() => requireRevoke(caller(), { resource: 'orders' })).toThrow(forbidden);
  });

  test('W3: a reclaim needs the owner, not its name', () => {
    expect(() => requireReclaim(caller())).toThrow(forbidden);
    expect(() => requireReclaim(caller({ owner: 'w7' }))).not.toThrow();
  });
});
