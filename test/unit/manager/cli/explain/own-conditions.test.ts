import { expect, test } from 'vitest';
import { conditionLines, unmanagedProblem } from '../../../../../manager/cli/explain/own-conditions.ts';
import type { Job } from '../../../../../shared/api/kubernetes.ts';
import { aHomeJob } from '../../../../support/jobs.ts';

test('a Job says itself where it is, and each of its conditions', () => {
  const message = 'short of 2 cpu';
  const { metadata, ...job } = aHomeJob();
  const waits = {
    ...job,
    metadata: { ...metadata, namespace: 'team', name: 'train', labels: { 'switchyard.dev/queue-name': 'main' } },
    status: { conditions: [{ type: 'QuotaReserved', status: 'False', reason: 'NoQuota', message }] },
  } as unknown as Job;
  expect(conditionLines(waits)).toEqual([
    'team/train in queue main: Waiting: short of 2 cpu',
    '  QuotaReserved False: NoQuota: short of 2 cpu',
  ]);
});

test('a Job of somebody else says what it lacks, and how to mend that', () => {
  const job = { metadata: { namespace: 'team', name: 'train' }, spec: { template: {} } } as unknown as Job;
  expect(unmanagedProblem(job, 'switchyard.dev/manager')).toBeUndefined();
  expect(unmanagedProblem(job, undefined)).toMatch(
    /^Job team\/train is not Switchyard’s: it has no label switchyard\.dev\/queue-name, .*kubectl delete job train -n team/,
  );
  const labelled = { ...job, metadata: { ...job.metadata, labels: { 'switchyard.dev/queue-name': 'main' } } };
  expect(unmanagedProblem(labelled, 'x/y')).toMatch(/its spec\.managedBy names x\/y, and cannot be changed; delete the Job/);
});
