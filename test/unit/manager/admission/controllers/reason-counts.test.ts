import { expect, test } from 'vitest';
import { createReasonCounts } from '../../../../../manager/admission/controllers/reason-counts.ts';
import type { Job } from '../../../../../shared/api/kubernetes.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

type Parts = {
  readonly queue?: string;
  readonly managedBy?: string;
  readonly conditions?: readonly (readonly [type: string, status: string, reason: string])[];
  readonly deleted?: true;
};
const job = ({ queue = 'main', managedBy = 'switchyard.dev/manager', conditions = [], deleted }: Parts = {}): Job =>
  ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: 'sum',
      namespace: 'team',
      uid: 'u',
      resourceVersion: '1',
      labels: { 'switchyard.dev/queue-name': queue },
      ...(deleted && { deletionTimestamp: 'now' }),
    },
    spec: { managedBy },
    status: { conditions: conditions.map(([type, status, reason]) => ({ type, status, reason, message: '', lastTransitionTime: '' })) },
  }) as unknown as Job;
const waits = (reason: string): Job => job({ conditions: [['QuotaReserved', 'False', reason]] });

test('Jobs are counted by LocalQueue and reason, as these change', () => {
  const counts = createReasonCounts(JOB_KIND);
  const { added, updated, deleted } = counts.handler;
  for (const each of [job(), waits('NoQuota'), waits('NoQuota')]) added?.(each, false);
  expect([...counts.all()]).toEqual([
    ['team/main', 'Pending', 1],
    ['team/main', 'NoQuota', 2],
  ]);
  updated?.(waits('NoClusterFits'), waits('NoQuota'));
  updated?.(job({ conditions: [['QuotaReserved', 'True', 'QuotaReserved']] }), job());
  deleted?.(waits('NoQuota'), false);
  expect([...counts.all()]).toEqual([['team/main', 'NoClusterFits', 1]]);
});

test.each([
  ['is of another controller', job({ managedBy: 'kubernetes.io/job-controller' })],
  ['has no queue', job({ queue: '' })],
  ['has ended', job({ conditions: [['Complete', 'True', '']] })],
  ['is being deleted', job({ deleted: true })],
])('one that %s does not wait', (_, each) => {
  const counts = createReasonCounts(JOB_KIND);
  counts.handler.added?.(each, false);
  expect([...counts.all()]).toEqual([]);
});
