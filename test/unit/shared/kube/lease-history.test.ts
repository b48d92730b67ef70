import { expect, test } from 'vitest';
import type { Lease } from '../../../../shared/api/kubernetes.ts';
import { leaseVanished, leaseWentBack, renewalTime } from '../../../../shared/kube/lease-history.ts';

const aLease = (resourceVersion: string, renewedSecond: number, leaseTransitions = 0, uid = 'u1'): Lease => ({
  metadata: { namespace: 'ns', name: 'lock', uid, resourceVersion, creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { holderIdentity: 'a', leaseTransitions, renewTime: `2026-01-01T00:00:${String(renewedSecond).padStart(2, '0')}.000000Z` },
});
const wentBack = (last: Lease | undefined, now: Lease | undefined): string | undefined => leaseWentBack('ns/lock', last, now)?.message;

test('an earlier renewal of the same holder is that of a restored cluster, however far its resourceVersions have come since', () => {
  expect(wentBack(aLease('50', 20), aLease('90', 10))).toBe(
    'Lease ns/lock went back from its renewal of 2026-01-01T00:00:20.000000Z (transition 0) to its renewal of 2026-01-01T00:00:10.000000Z (transition 0), ' +
      'as after a restore from an older backup',
  );
});

test('an earlier holder is that of a restored cluster, whatever its clock says', () => {
  expect(wentBack(aLease('50', 20, 3), aLease('90', 40, 2))).toContain('went back');
});

test('a renewal that was carried out though its answer was lost, and one of somebody who has taken over, are none', () => {
  expect(wentBack(aLease('50', 20), aLease('51', 30))).toBeUndefined();
  expect(wentBack(aLease('50', 20), aLease('51', 20))).toBeUndefined();
  // His clock is behind.
  expect(wentBack(aLease('50', 20, 1), aLease('51', 5, 2))).toBeUndefined();
});

test('one that somebody has deleted and made anew is not, unless its resourceVersion is older than what was seen', () => {
  expect(wentBack(aLease('50', 20), undefined)).toBeUndefined();
  expect(wentBack(aLease('50', 20), aLease('51', 5, 0, 'u2'))).toBeUndefined();
  expect(wentBack(aLease('50', 20), aLease('41', 30, 0, 'u2'))).toContain('went back');
  expect(leaseVanished('ns/lock', aLease('50', 20), undefined)?.message).toContain('is not the one that was held');
  expect(leaseVanished('ns/lock', aLease('50', 20), aLease('51', 5, 0, 'u2'))).toBeDefined();
  expect(leaseVanished('ns/lock', aLease('50', 20), aLease('51', 30))).toBeUndefined();
});

test('nothing is said of a Lease that was not known before', () => {
  expect(wentBack(undefined, aLease('50', 20))).toBeUndefined();
  expect(leaseVanished('ns/lock', undefined, undefined)).toBeUndefined();
});

test('each renewal is later than the one before, also when the clock is set back', () => {
  const spec = aLease('50', 20).spec;
  const lastMs = Date.parse('2026-01-01T00:00:20Z');
  expect(renewalTime(lastMs + 5, spec)).toBe(lastMs + 5);
  expect(renewalTime(lastMs - 3_600_000, spec)).toBe(lastMs + 1);
  expect(renewalTime(lastMs, undefined)).toBe(lastMs);
  // One that somebody has set to the end of time is not followed beyond what can be written.
  expect(renewalTime(lastMs, { ...spec, renewTime: '9999-12-31T00:00:00.000000Z' })).toBe(lastMs);
});
