import { expect, test } from 'vitest';
import { essentialsOfLease } from '../../../../../manager/dispatch/lease/lease-essentials.ts';
import { memoryOf } from '../../../../../shared/kube/object-budget.ts';
import type { Lease } from '../../../../../shared/api/kubernetes.ts';

const METADATA = { name: 'l', namespace: 'kube-system', uid: 'u', resourceVersion: '7', creationTimestamp: '2026-01-01T00:00:00Z' };
const lease = (spec: unknown, annotations: unknown = {}): Lease => ({ metadata: { ...METADATA, annotations }, spec }) as Lease;

test('a Lease keeps what it says, and the annotations that are asked for', () => {
  const spec = {
    holderIdentity: 'pod-1',
    leaseDurationSeconds: 40,
    acquireTime: '2026-01-01T00:00:00.000000Z',
    renewTime: '2026-01-01T00:00:10.000000Z',
    leaseTransitions: 3,
  };
  const kept = essentialsOfLease(lease(spec, { a: '1', b: '2' }), ['a', 'c']);
  expect(kept.spec).toEqual(spec);
  expect(kept.metadata).toMatchObject({ name: 'l', uid: 'u', resourceVersion: '7', annotations: { a: '1' } });
});

test.each([
  ['is no object', 'garbage'],
  ['is absent', undefined],
  [
    'has fields of other kinds',
    { holderIdentity: {}, leaseDurationSeconds: 'long', renewTime: 7, acquireTime: 'soon', leaseTransitions: -1 },
  ],
])('a spec that %s says nothing but what is usual', (_what, spec) => {
  expect(essentialsOfLease(lease(spec), []).spec).toEqual({ leaseDurationSeconds: 40, leaseTransitions: 0 });
});

test.each([
  [0, 40],
  [-5, 40],
  [0.2, 1],
  [1e12, 3600],
  [Number.NaN, 40],
])('a duration of %d seconds counts as %d', (said, counted) => {
  expect(essentialsOfLease(lease({ leaseDurationSeconds: said }), []).spec?.leaseDurationSeconds).toBe(counted);
});

test('a Lease of any size is kept small', () => {
  const large = 'x'.repeat(1_000_000);
  const kept = essentialsOfLease(lease({ holderIdentity: large, renewTime: large, junk: large }, { a: large, b: large }), ['a', 'b']);
  expect(memoryOf(kept)).toBeLessThan(2_000);
  expect(kept.metadata.annotations).toEqual({});
});
