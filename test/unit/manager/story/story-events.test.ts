import { describe, expect, test } from 'vitest';
import { storyEvents, type SeenJob } from '../../../../manager/story/story-events.ts';
import type { Job, JobCondition } from '../../../../shared/api/kubernetes.ts';
import { ACTS_ANNOTATION } from '../../../../shared/api/names.ts';
import { aRecord } from '../../../support/jobs.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const CREATED = '2026-01-01T00:00:00Z';
const record = { ...aRecord(), cluster: 'east', clusterQueue: 'research', flavors: { cpu: 'spot' }, since: '2026-01-01T00:00:12Z' };
const condition = (type: string, status: 'True' | 'False', message = '', more: Partial<JobCondition> = {}): JobCondition =>
  ({ type, status, message, ...more }) as JobCondition;

const seen = (parts: { suspend?: boolean; status?: Job['status']; record?: SeenJob['record'] } = {}): SeenJob => ({
  kind: JOB_KIND,
  job: {
    metadata: { name: 'pi', namespace: 'team', uid: 'u', resourceVersion: '1', creationTimestamp: CREATED },
    spec: { suspend: parts.suspend ?? parts.record === undefined, template: {} },
    status: parts.status ?? {},
  },
  record: parts.record,
});
const told = (before: SeenJob, after: SeenJob): readonly string[] =>
  storyEvents(before, after).map(({ type, reason, message }) => `${type} ${reason}: ${message}`);

test('a Job that waits is told so once, not again for every new reason', () => {
  const waits = seen({ status: { conditions: [condition('QuotaReserved', 'False', 'short of 4 cpu')] } });
  const stillWaits = seen({ status: { conditions: [condition('QuotaReserved', 'False', 'no cluster fits')] } });
  expect(told(seen(), waits)).toEqual(['Normal Queued: waits to be admitted']);
  expect(told(waits, stillWaits)).toEqual([]);
});

test('an admission names cluster, queue, flavors, and how long the Job waited', () => {
  expect(told(seen(), seen({ record }))).toEqual([
    'Normal Admitted: to cluster "east" by ClusterQueue "research", cpu from spot, after 12 s',
  ]);
  expect(told(seen({ record }), seen({ record }))).toEqual([]);
});

test('what a user of the dashboard had done is told once, with the name of the user', () => {
  const acted = (...users: string[]): SeenJob => {
    const acts = users.map((user, number) => ({ what: 'Hold', user, at: `2026-01-01T00:00:0${number}Z` }));
    const { job, ...rest } = seen();
    return { ...rest, job: { ...job, metadata: { ...job.metadata, annotations: { [ACTS_ANNOTATION]: JSON.stringify(acts) } } } };
  };
  expect(told(seen(), acted('ann'))).toEqual(['Normal ActedOn: held by ann at 2026-01-01T00:00:00Z']);
  expect(told(acted('ann'), acted('ann'))).toEqual([]);
  expect(told(acted('ann'), acted('ann', 'bob'))).toEqual(['Normal ActedOn: held by bob at 2026-01-01T00:00:01Z']);
});

test('a Job that was evicted has waited since then, not since it was made', () => {
  const conditions = [condition('QuotaReserved', 'False', 'preempted', { lastTransitionTime: '2026-01-01T00:00:09Z' })];
  const evicted = seen({ suspend: true, record: { ...record, evicted: true, since: '2026-01-01T00:00:01Z' }, status: { conditions } });
  expect(told(evicted, seen({ record, status: { conditions } }))).toEqual([
    'Normal Admitted: to cluster "east" by ClusterQueue "research", cpu from spot, after 3 s',
  ]);
});

describe('a Job that goes to another cluster has moved', () => {
  const there = { ...record, cluster: 'west', epoch: 2 };

  test('and is told why, where its record knows it', () => {
    const avoid = { east: { until: CREATED, reason: 'NotStarted', refusals: 1, epoch: 1 } };
    const evicted = seen({ suspend: true, record: { ...record, evicted: true } });
    expect(told(evicted, seen({ record: { ...there, avoid } }))).toEqual([
      'Normal Moved: from cluster "east" to "west" (ClusterQueue "research", cpu from spot, placement 2): NotStarted',
    ]);
  });

  test('and where it does not, the Event of its eviction has said so', () => {
    const evicted = seen({ suspend: true, record: { ...record, evicted: true } });
    expect(told(evicted, seen({ record: there }))).toEqual([
      'Normal Moved: from cluster "east" to "west" (ClusterQueue "research", cpu from spot, placement 2)',
    ]);
  });
});

test('dispatch and start are told once for each placement, whatever else their conditions say later', () => {
  const first = [condition('Dispatched', 'True', 'dispatched to cluster "east" (placement 1)')];
  const stuck = [condition('Dispatched', 'True', 'dispatched to cluster "east" (placement 1); pod pi-1: ImagePullBackOff')];
  const second = [
    condition('Dispatched', 'True', 'dispatched to cluster "west" (placement 2)'),
    condition('Started', 'True', 'started there'),
  ];
  const [none, here, told1, there] = [{}, { conditions: first }, { conditions: stuck }, { conditions: second }].map((status) =>
    seen({ record, status }),
  );
  if (none === undefined || here === undefined || told1 === undefined || there === undefined) throw new Error('four states');
  expect(told(none, here)).toEqual(['Normal Dispatched: dispatched to cluster "east" (placement 1)']);
  expect(told(here, told1)).toEqual([]);
  expect(told(told1, there)).toEqual(['Normal Dispatched: dispatched to cluster "west" (placement 2)', 'Normal Started: started there']);
});

test('pods that failed are counted, the new ones and all', () => {
  const failed = (count: number): SeenJob => seen({ record, status: { failed: count } });
  expect(told(failed(0), failed(1))).toEqual(['Warning PodFailed: 1 pod failed on cluster "east"']);
  expect(told(failed(1), failed(4))).toEqual(['Warning PodFailed: 3 pods failed on cluster "east", 4 in all']);
  expect(told(failed(4), failed(0))).toEqual([]);
});

test('the last pod that failed is told with its exit code and the last line of its log, where that is known by then', () => {
  const failed = (count: number, pod?: string): SeenJob => {
    const { job, ...rest } = seen({ record, status: { failed: count } });
    const failure = JSON.stringify({ pod, cluster: 'east', index: 2, exitCode: 3, reason: 'OOMKilled', lastLine: 'boom' });
    const annotations = pod === undefined ? {} : { 'switchyard.dev/last-failure': failure };
    return { ...rest, job: { ...job, metadata: { ...job.metadata, annotations } } };
  };
  const how = 'of index 2 ended with exit code 3 (OOMKilled): boom';
  expect(told(failed(0), failed(1, 'a'))).toEqual([`Warning PodFailed: 1 pod failed on cluster "east"; pod a ${how}`]);
  expect(told(failed(1, 'a'), failed(3, 'c'))).toEqual([
    `Warning PodFailed: 2 pods failed on cluster "east", 3 in all; the last: pod c ${how}`,
  ]);
  expect(told(failed(3), failed(3, 'c'))).toEqual([
    `Warning PodFailed: pod c of index 2 on cluster "east" ended with exit code 3 (OOMKilled): boom`,
  ]);
  expect(told(failed(3, 'c'), failed(3, 'c'))).toEqual([]);
  expect(told(failed(1, 'a'), failed(2, 'a'))).toEqual(['Warning PodFailed: 1 pod failed on cluster "east", 2 in all']);
});

test('the end says how long all took, and how much of it the Job ran', () => {
  const status = {
    startTime: '2026-01-01T00:00:13Z',
    completionTime: '2026-01-01T00:01:40Z',
    succeeded: 3,
    conditions: [condition('Complete', 'True')],
  };
  expect(told(seen({ record }), seen({ record, status }))).toEqual([
    'Normal Finished: complete on cluster "east" in 100 s, of which it ran 87 s; pods: 3 succeeded, 0 failed',
  ]);
  expect(told(seen({ record, status }), seen({ record, status }))).toEqual([]);
});

test('a Job that failed is told in the words of its condition', () => {
  const end = condition('Failed', 'True', 'Job has reached the specified backoff limit', {
    reason: 'BackoffLimitExceeded',
    lastTransitionTime: '2026-01-01T00:00:20Z',
  });
  expect(told(seen({ record, status: { failed: 7 } }), seen({ record, status: { failed: 7, conditions: [end] } }))).toEqual([
    'Warning Finished: failed on cluster "east" in 20 s; pods: 0 succeeded, 7 failed; BackoffLimitExceeded: Job has reached the specified backoff limit',
  ]);
});
