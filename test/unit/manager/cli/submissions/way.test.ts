import { expect, test } from 'vitest';
import { endingLine, progressLine } from '../../../../../manager/cli/submissions/way.ts';

test('where a submission stands is one line', () => {
  const pods = { active: 0, succeeded: 0, failed: 0 };
  expect(progressLine('k', { phase: 'Queued', reason: 'NoQuota', ...pods })).toBe('k Queued: NoQuota');
  expect(progressLine('k', { phase: 'Running', cluster: 'east', ...pods })).toBe('k Running on east');
});

test('how it ended is another', () => {
  const result = { namespace: 'team', name: 'sum', uid: 'u', succeeded: 1, failed: 0 };
  expect(endingLine('k', { kind: 'Completed', result })).toBe('k complete: Job team/sum');
  expect(endingLine('k', { kind: 'Completed', result: { ...result, cluster: 'east' } })).toBe('k complete: Job team/sum on east');
  expect(endingLine('k', { kind: 'Failed', code: 'Cancelled', message: 'somebody did' })).toBe('k failed: Cancelled: somebody did');
});
