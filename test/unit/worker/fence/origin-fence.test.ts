import { describe, expect, test } from 'vitest';
import {
  firstFence,
  isStepBack,
  stateAt,
  tripped,
  withLease,
  withToken,
  type LeaseVersion,
} from '../../../../worker/fence/origin-fence.ts';

const FENCE_AFTER_MS = 60_000;
const version = (parts: Partial<LeaseVersion> = {}): LeaseVersion => ({
  uid: 'u',
  resourceVersion: '10',
  renewedMs: 1_000,
  held: true,
  reconciled: 't1',
  ...parts,
});
const first = (remembered?: { renewedMs: number | undefined; elapsedMs: number }, downMs = 0, seen = version({ reconciled: 't0' })) =>
  firstFence(seen, 't1', remembered && { ...remembered, downMs, fenceAfterMs: FENCE_AFTER_MS }, FENCE_AFTER_MS, 0);

describe('what an earlier worker wrote down', () => {
  test.each([
    ['nothing', undefined, 0, 60_000],
    ['the same renewal', { renewedMs: 1_000, elapsedMs: 20_000 }, 5_000, 35_000],
    ['an older renewal', { renewedMs: 500, elapsedMs: 20_000 }, 900_000, 60_000],
    ['a fence that had tripped', { renewedMs: 500, elapsedMs: 60_000 }, 0, 0],
    ['a renewal without a time', { renewedMs: undefined, elapsedMs: 20_000 }, 0, 60_000],
  ])('%s leaves the manager its time', (_, remembered, downMs, leftMs) => {
    const fence = first(remembered, downMs);
    if (leftMs > 0) expect(stateAt(fence, leftMs - 1)).toBe('Hold');
    expect(stateAt(fence, leftMs)).toBe('Fenced');
  });

  test('counts against a manager that holds its Lease and answers nobody: it has given the cluster up', () => {
    const fence = first({ renewedMs: 500, elapsedMs: 20_000 }, 5_000, version({ reconciled: undefined }));
    expect(stateAt(fence, 34_999)).toBe('Hold');
    expect(stateAt(fence, 35_000)).toBe('Fenced');
  });

  test('counts against a Lease that has no time at all', () => {
    const fence = first({ renewedMs: 1_000, elapsedMs: 59_000 }, 0, version({ renewedMs: undefined }));
    expect(stateAt(fence, 1_000)).toBe('Fenced');
  });
});

describe('answers', () => {
  test('to the token of another origin’s trip count beside those before, to the one before the own trip they do not', () => {
    const answered = withLease(first(), version(), 0, FENCE_AFTER_MS);
    expect(stateAt(withToken(answered, 't2'), 1)).toBe('Open');
    expect(stateAt(withLease(withToken(answered, 't2'), version({ reconciled: 't2' }), 0, FENCE_AFTER_MS), 1)).toBe('Open');
    const stopped = tripped(answered, 't2');
    expect(stateAt(withLease(stopped, version({ renewedMs: 2_000 }), 1, FENCE_AFTER_MS), 1)).toBe('Fenced');
    expect(stateAt(withLease(stopped, version({ renewedMs: 2_000, reconciled: 't2' }), 1, FENCE_AFTER_MS), 1)).toBe('Open');
  });

  test('never make an earlier answer count for less', () => {
    const fence = withLease(
      withLease(first(), version(), 5_000, FENCE_AFTER_MS),
      version({ renewedMs: 2_000 }),
      Number.NEGATIVE_INFINITY,
      FENCE_AFTER_MS,
    );
    expect(stateAt(fence, 64_999)).toBe('Open');
  });
});

test('a Lease made anew is a renewal, whatever its time says', () => {
  const fence = withLease(withLease(first(), version(), 0, FENCE_AFTER_MS), version({ uid: 'v', renewedMs: 500 }), 30_000, FENCE_AFTER_MS);
  expect(stateAt(fence, 89_999)).toBe('Open');
});

test('a step back is told by the version of the server, or by the time of the manager within one Lease', () => {
  expect(isStepBack(version(), undefined)).toBe(false);
  expect(isStepBack(version(), version())).toBe(false);
  expect(isStepBack(version({ resourceVersion: '9' }), version())).toBe(true);
  expect(isStepBack(version({ resourceVersion: '11', renewedMs: 999 }), version())).toBe(true);
  expect(isStepBack(version({ resourceVersion: '11', renewedMs: 999, uid: 'v' }), version())).toBe(false);
  expect(isStepBack(version({ resourceVersion: '11', renewedMs: undefined }), version())).toBe(false);
});
