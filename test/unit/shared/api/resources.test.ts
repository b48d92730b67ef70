import { expect, test } from 'vitest';
import { apiVersionOf, JOBS, PODS } from '../../../../shared/api/resources.ts';

test('the apiVersion of a core kind has no group', () => {
  expect(apiVersionOf(PODS)).toBe('v1');
  expect(apiVersionOf(JOBS)).toBe('batch/v1');
});
