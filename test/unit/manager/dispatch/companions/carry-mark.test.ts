import { expect, test } from 'vitest';
import { CARRY_DONE, carryPending, isCarried } from '../../../../../manager/dispatch/companions/carry-mark.ts';
import type { Job } from '../../../../../shared/api/kubernetes.ts';
import { aHomeJob } from '../../../../support/jobs.ts';

test('a copy is marked until its objects are written, and keeps its other annotations', () => {
  const copy = aHomeJob({ metadata: { annotations: { other: 'kept' } } });
  const marked = { ...copy, ...carryPending(copy) } as Job;
  expect(marked.metadata.annotations).toMatchObject({ other: 'kept' });
  const done = { ...marked, metadata: { ...marked.metadata, annotations: { ...marked.metadata.annotations, ...CARRY_DONE } } };
  expect([isCarried(marked), isCarried(done)]).toEqual([false, true]);
});

test('a copy that has lost the mark does not count as one whose objects are written', () => {
  expect(isCarried(aHomeJob())).toBe(false);
});
