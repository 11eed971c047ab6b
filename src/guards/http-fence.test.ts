// The HTTP fence: what it reads, what it answers, and when it says that it only advises.
import { afterEach, expect, test, vi } from 'vitest';
import { connect } from '../connect.js';
import { fenceHeaders, httpFence } from './http-fence.js';
import { memoryGate } from './memory-gate.js';
import type { FenceGate } from './gate.js';

afterEach(() => void vi.restoreAllMocks());
const put = (headers: Record<string, string>, method = 'PUT'): Request =>
  new Request('http://localhost/orders', { method, headers });
const under = (resource: string, epoch: number): Request =>
  put({ 'holdfast-resource': resource, 'holdfast-epoch': String(epoch) });

test('G4: a stale write is answered 412 with both epochs, and its handler does not run', async () => {
  const fence = httpFence(memoryGate());
  expect(await fence(under('orders/0', 42))).toBeUndefined();
  let ran = false;
  const response = await fence(under('orders/0', 41), async () => {
    ran = true;
    return new Response('done');
  });
  expect(ran).toBe(false);
  expect(response.status).toBe(412);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(await response.json()).toEqual({
    type: 'about:blank',
    title: 'STALE_EPOCH',
    status: 412,
    detail: 'Stale write rejected: epoch 41 < current epoch 42',
    code: 'STALE_EPOCH',
    retryable: false,
    current: 42,
    attempted: 41,
    resource: 'orders/0',
  });
});

test('G4: the gate is kept until the handler has finished', async () => {
  const fence = httpFence(memoryGate());
  const journal: string[] = [];
  let finish: () => void = () => undefined;
  const slow = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const older = fence(under('orders/0', 41), async () => {
    await slow;
    journal.push('older');
  });
  const newer = fence(under('orders/0', 42), async () => void journal.push('newer'));
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
  expect(journal).toEqual([]);
  finish();
  await Promise.all([older, newer]);
  expect(journal).toEqual(['older', 'newer']);
});

test('what the handler throws is the handler’s', async () => {
  const fence = httpFence(memoryGate());
  const failing = fence(under('a', 1), async () => Promise.reject(new Error('mine')));
  await expect(failing).rejects.toThrow('mine');
});

test.each<[string, Request, number, RegExp]>([
  ['no headers', put({}), 428, /send Holdfast-Resource and Holdfast-Epoch/],
  ['one header', put({ 'holdfast-epoch': '1' }, 'GET'), 428, /send Holdfast-Resource/],
  ['no number', under('a', Number.NaN), 400, /Holdfast-Epoch is a whole number/],
  ['a huge number', put({ 'holdfast-resource': 'a', 'holdfast-epoch': '9999999999999999' }), 400, /epoch is the one/],
  ['a bad name', under('a//b', 1), 400, /empty segment/],
  ['a bad encoding', under('a%ff', 1), 400, /percent-encoded/],
  ['an unknown word', under('a;other', 1), 400, /knows ;shared and ;subtree/],
])('bad requests are answered as such: %s', async (_, request, status, detail) => {
  const response = await httpFence(memoryGate())(request);
  expect(response?.status).toBe(status);
  expect(((await response?.json()) as { detail: string }).detail).toMatch(detail);
});

test('what changes nothing passes without headers', async () => {
  expect(await httpFence(memoryGate())(put({}, 'GET'))).toBeUndefined();
});

test('a holder’s headers say what it holds, and are read back', async () => {
  const leases = await connect('memory:', { services: 'off' });
  const lease = await leases.acquire([
    { name: 'a', scope: 'subtree' },
    { name: 'ä, b', mode: 'shared' },
  ]);
  const headers = fenceHeaders(lease);
  expect(headers['Holdfast-Resource']).toBe('a;subtree, %C3%A4%2C%20b;shared');
  const gate = memoryGate();
  expect(await httpFence(gate)(put(headers))).toBeUndefined();
  const { epoch } = lease;
  await expect(gate.admit({ resource: 'a/x', epoch: epoch - 1 })).rejects.toThrow(/Stale/);
  await expect(gate.admit({ resource: 'ä, b', epoch: epoch - 1 })).rejects.toThrow(/Stale/);
  await gate.admit({ resource: 'ä, b', epoch: epoch - 1, mode: 'shared' });
  expect(fenceHeaders(lease, 'a/b/c')['Holdfast-Resource']).toBe('a/b/c');
  expect(() => fenceHeaders(lease, 'b')).toThrow(/is not part of this lease/);
  await leases.shutdown();
});

test('G4: where it only advises it says so at its start', () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  expect(httpFence(memoryGate()).advises).toBeUndefined();
  expect(warn).not.toHaveBeenCalled();
  expect(httpFence(memoryGate(), { processes: 'several' }).advises).toMatch(/each has a gate of its own/);
  const gate = memoryGate();
  const other: FenceGate = { claim: (lease) => gate.claim(lease), admit: (write) => gate.admit(write) };
  expect(httpFence(other).advises).toMatch(/cannot be kept while a handler runs/);
  expect(warn).toHaveBeenCalledTimes(2);
});
