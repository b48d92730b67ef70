import { expect, test } from 'vitest';
import { createTokenBucket } from '../../../../shared/kube/token-bucket.ts';

test('as many may go at once as the bucket holds, then as many as come in', () => {
  let nowMs = 1_000;
  const bucket = createTokenBucket({ qps: 2, burst: 3, clock: { now: () => nowMs } });
  const taken = (): number => [1, 2, 3, 4, 5].filter(() => bucket.take()).length;
  expect(taken()).toBe(3);
  nowMs += 499;
  expect(taken()).toBe(0);
  nowMs += 1;
  expect(taken()).toBe(1);
  nowMs += 60_000;
  expect(taken()).toBe(3);
});

test('a clock that is set back gives nothing and takes nothing', () => {
  let nowMs = 1_000;
  const bucket = createTokenBucket({ qps: 1, burst: 1, clock: { now: () => nowMs } });
  expect(bucket.take()).toBe(true);
  nowMs = 0;
  expect(bucket.take()).toBe(false);
  nowMs = 1_000;
  expect(bucket.take()).toBe(true);
});
