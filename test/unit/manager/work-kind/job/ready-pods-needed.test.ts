import { expect, test } from 'vitest';
import { hasStarted } from '../../../../../manager/api/start-proof.ts';
import { podsReady } from '../../../../../manager/work-kind/job/job-progress.ts';
import { readyPodsNeeded } from '../../../../../manager/work-kind/job/ready-pods-needed.ts';
import type { JobStatus } from '../../../../../shared/api/kubernetes.ts';
import { MIN_READY_PODS_ANNOTATION } from '../../../../../shared/api/names.ts';
import { omitUndefined } from '../../../../../shared/runtime/omit-undefined.ts';
import { aHomeJob, aRecord, type JobParts } from '../../../../support/jobs.ts';

const GANG = { parallelism: 4, completions: 4 };
test.each<[string, number, JobStatus, JobParts['spec'], Record<string, string>?, number?]>([
  ['all of its pods, where none waits for the end of another', 4, {}, GANG],
  ['none that has succeeded', 3, { succeeded: 1 }, GANG],
  ['none that is seen to have succeeded, and is not counted yet', 3, { uncountedTerminatedPods: { succeeded: ['a'] } }, GANG],
  ['one at least', 1, { succeeded: 4 }, GANG],
  ['none that a partial admission has left out', 2, {}, GANG, {}, 2],
  ['none of an index that has failed for good', 2, { completedIndexes: '0', failedIndexes: '3' }, { ...GANG, completionMode: 'Indexed' }],
  ['all of a work queue', 4, {}, { parallelism: 4, completions: undefined as never }],
  ['of a work queue those that have not succeeded', 1, { succeeded: 3 }, { parallelism: 4, completions: undefined as never }],
  ['one, where some wait for the end of others', 1, {}, { parallelism: 4, completions: 100 }],
  ['as many as it says', 3, {}, { parallelism: 4, completions: 100 }, { [MIN_READY_PODS_ANNOTATION]: '3' }],
  ['fewer, where it says so', 2, {}, GANG, { [MIN_READY_PODS_ANNOTATION]: '2' }],
  ['no more than it can have', 4, {}, GANG, { [MIN_READY_PODS_ANNOTATION]: '9' }],
  ['no more than it can have at the end', 2, { succeeded: 2 }, GANG, { [MIN_READY_PODS_ANNOTATION]: '3' }],
])('a Job needs %s', (_which, pods, status, spec, annotations = {}, parallelism) => {
  const admitted = aRecord(omitUndefined({ parallelism }));
  const job = (ready: number) => aHomeJob({ metadata: { annotations }, ...omitUndefined({ spec }), status: { ...status, ready } });
  expect(readyPodsNeeded(job(0), parallelism)).toBe(pods);
  const started = (ready: number): boolean =>
    hasStarted(job(ready).status, admitted, podsReady(job(ready).status), () => readyPodsNeeded(job(ready), parallelism));
  expect([started(pods - 1), started(pods)]).toEqual([false, true]);
});

test('pods whose work is done by the status of the copy are not needed, though home does not know it yet', () => {
  expect(readyPodsNeeded(aHomeJob({ spec: GANG }), undefined, { succeeded: 3 })).toBe(1);
  expect(readyPodsNeeded(aHomeJob({ spec: GANG, status: { succeeded: 3 } }), undefined, { active: 1 })).toBe(1);
});
