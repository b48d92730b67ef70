import { expect, test } from 'vitest';
import { timelineLines, timelineOf } from '../../../../../manager/cli/explain/timeline.ts';
import { formatAdmissionRecord } from '../../../../../manager/api/records.ts';
import { ADMISSION_ANNOTATION } from '../../../../../shared/api/names.ts';
import { aRecord } from '../../../../support/jobs.ts';
import type { CoreEvent, Job } from '../../../../../shared/api/kubernetes.ts';

const at = (second: number): string => `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`;
const condition = (type: string, second: number, more: object = {}) => ({ type, status: 'True', lastTransitionTime: at(second), ...more });
const job = (conditions: readonly object[]): Job =>
  ({ metadata: { name: 'a', namespace: 'team', uid: 'u', creationTimestamp: at(0) }, spec: {}, status: { conditions } }) as unknown as Job;

test('the way of a Job is told from its conditions, with the time between its steps', () => {
  const conditions = [condition('Complete', 9), condition('Started', 3), condition('Dispatched', 2)];
  expect(timelineLines(timelineOf(job(conditions)))).toEqual([
    'Its way:',
    '  2026-01-01T00:00:00Z  made',
    '  2026-01-01T00:00:02Z  its copy was made there (after 2.0s)',
    '  2026-01-01T00:00:03Z  started: a pod was ready, or had ended (after 1.0s)',
    '  2026-01-01T00:00:09Z  complete (after 6.0s)',
  ]);
});

test('why it failed is its last step, and what somebody wrote there steers no terminal', () => {
  const failed = condition('Failed', 5, { reason: 'DeadlineExceeded', message: 'too\u001b[2Jlong' });
  expect(timelineLines(timelineOf(job([failed]))).at(-1)).toBe(
    '  2026-01-01T00:00:05Z  failed: DeadlineExceeded, too\\u{1b}[2Jlong (after 5.0s)',
  );
});

test('what happened within one second keeps its order, and what has not happened is no step', () => {
  const steps = timelineOf(job([condition('Started', 0), condition('Dispatched', 0), { ...condition('Preempted', 4), status: 'False' }]));
  expect(steps.map(({ what }) => what)).toEqual(['made', 'its copy was made there', 'started: a pod was ready, or had ended']);
});

test('placements before the last are told from Events, and those of the last are not told twice', () => {
  const record = { ...aRecord(), cluster: 'west', since: at(10), epoch: 2 };
  const annotations = { [ADMISSION_ANNOTATION]: formatAdmissionRecord(record, { written: at(10), seal: '' }) };
  const moved = job([condition('Started', 12), condition('Dispatched', 11)]);
  const event = (reason: string, second: number, message: string): CoreEvent =>
    ({ reason, message, lastTimestamp: at(second), metadata: { creationTimestamp: at(second) } }) as unknown as CoreEvent;
  const events = [
    event('Admitted', 1, 'to cluster "east" by ClusterQueue "main"'),
    event('Started', 3, 'on cluster "east"'),
    event('Evicted', 10, 'cluster east is drained'),
    event('Moved', 10, 'from cluster "east" to "west"'),
    event('Started', 12, 'on cluster "west"'),
    event('PodFailed', 2, '1 pod failed'),
  ];
  const steps = timelineOf({ ...moved, metadata: { ...moved.metadata, annotations } }, events);
  expect(steps.map(({ what }) => what)).toEqual([
    'made',
    'Admitted: to cluster "east" by ClusterQueue "main"',
    'Started: on cluster "east"',
    'Evicted: cluster east is drained',
    'admitted to cluster west by cluster queue cq',
    'its copy was made there',
    'started: a pod was ready, or had ended',
  ]);
});

test('a placement that is over is told by its Events alone, and without these by the record', () => {
  const record = { ...aRecord(), cluster: 'east', since: at(1), epoch: 1, evicted: true as const };
  const annotations = { [ADMISSION_ANNOTATION]: formatAdmissionRecord(record, { written: at(1), seal: '' }) };
  const held = job([condition('Started', 3), condition('Preempted', 10)]);
  const preempted = { ...held, metadata: { ...held.metadata, annotations } };
  const event = (reason: string, second: number, message: string): CoreEvent =>
    ({ reason, message, lastTimestamp: at(second), metadata: { creationTimestamp: at(second) } }) as unknown as CoreEvent;
  const events = [
    event('Admitted', 1, 'to cluster "east"'),
    event('Started', 3, 'on cluster "east"'),
    event('Preempted', 10, 'by Job team/urgent'),
  ];
  expect(timelineOf(preempted, events).map(({ what }) => what)).toEqual([
    'made',
    'Admitted: to cluster "east"',
    'Started: on cluster "east"',
    'Preempted: by Job team/urgent',
  ]);
  expect(timelineOf(preempted).map(({ what }) => what)).toEqual([
    'made',
    'admitted to cluster east by cluster queue cq',
    'started: a pod was ready, or had ended',
    'suspended for the sake of another Job',
  ]);
});
