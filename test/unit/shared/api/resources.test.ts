import { expect, test } from 'vitest';
import { apiVersionOf, isOfKind, JOBS, PODS } from '../../../../shared/api/resources.ts';

test('the apiVersion of a core kind has no group', () => {
  expect(apiVersionOf(PODS)).toBe('v1');
  expect(apiVersionOf(JOBS)).toBe('batch/v1');
});

test('a kind is known by its group and its name, in any version', () => {
  for (const apiVersion of ['batch/v1', 'batch/v2']) expect(isOfKind(JOBS, { apiVersion, kind: 'Job' })).toBe(true);
  for (const apiVersion of ['v1', 'batch', 'batch.volcano.sh/v1alpha1', '', undefined, 1])
    expect(isOfKind(JOBS, { apiVersion, kind: 'Job' }), String(apiVersion)).toBe(false);
  expect([isOfKind(JOBS, { apiVersion: 'batch/v1', kind: 'CronJob' }), isOfKind(PODS, { apiVersion: 'v1', kind: 'Pod' })]).toEqual([
    false,
    true,
  ]);
});
