import { expect, test } from 'vitest';
import { CARRY_DONE, carryPending, isCarryPending } from '../../../../../manager/dispatch/companions/carry-mark.ts';
import { aHomeJob } from '../../../../support/jobs.ts';

test('a copy is marked until its objects are written, and keeps its other annotations', () => {
  const copy = aHomeJob({ metadata: { annotations: { other: 'kept' } } });
  const marked = { ...copy, ...carryPending(copy) };
  expect([isCarryPending(copy), isCarryPending(marked as typeof copy)]).toEqual([false, true]);
  expect(marked.metadata.annotations).toMatchObject({ other: 'kept' });
  expect(Object.keys(CARRY_DONE).every((name) => name in (marked.metadata.annotations ?? {}))).toBe(true);
});
