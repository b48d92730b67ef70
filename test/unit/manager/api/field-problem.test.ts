import { expect, test } from 'vitest';
import { formatProblems } from '../../../../manager/api/field-problem.ts';

test('problems are one line that names each field', () => {
  expect(
    formatProblems([
      { field: 'spec.suspend', problem: 'must be true' },
      { field: 'kind', problem: 'must be Job' },
    ]),
  ).toBe('spec.suspend: must be true; kind: must be Job');
  expect(formatProblems([])).toBe('');
});
