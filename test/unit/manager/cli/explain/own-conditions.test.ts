import { expect, test } from 'vitest';
import { conditionLines, unmanagedProblem } from '../../../../../manager/cli/explain/own-conditions.ts';
import type { Job } from '../../../../../shared/api/kubernetes.ts';
import { createKinds } from '../../../../../manager/work-kind/kinds.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';
import { aCrew, aCrewKind } from '../../work-kind/described/described.ts';
import { aHomeJob } from '../../../../support/jobs.ts';

test('a Job says itself where it is, and each of its conditions', () => {
  const message = 'short of 2 cpu';
  const { metadata, ...job } = aHomeJob();
  const waits = {
    ...job,
    metadata: { ...metadata, namespace: 'team', name: 'train', labels: { 'switchyard.dev/queue-name': 'main' } },
    status: { conditions: [{ type: 'QuotaReserved', status: 'False', reason: 'NoQuota', message }] },
  } as unknown as Job;
  expect(conditionLines(waits, JOB_KIND)).toEqual([
    'team/train in queue main: Waiting: short of 2 cpu',
    '  QuotaReserved False: NoQuota: short of 2 cpu',
  ]);
});

test('a Job of somebody else says what it lacks, and how to mend that', () => {
  const job = { metadata: { namespace: 'team', name: 'train' }, spec: { template: {} } } as unknown as Job;
  expect(unmanagedProblem(aHomeJob(), JOB_KIND)).toBeUndefined();
  expect(unmanagedProblem(job, JOB_KIND)).toMatch(
    /^Job team\/train is not Switchyard’s: it has no label switchyard\.dev\/queue-name, .*kubectl delete job train -n team/,
  );
  const labels = { 'switchyard.dev/queue-name': 'main' };
  const labelled = { ...job, metadata: { ...job.metadata, labels }, spec: { ...job.spec, managedBy: 'x/y' } };
  expect(unmanagedProblem(labelled, JOB_KIND)).toMatch(/its spec\.managedBy names x\/y, and cannot be changed; delete the Job/);
  const { managedBy: _, ...spec } = labelled.spec;
  expect(unmanagedProblem({ ...labelled, spec } as unknown as Job, JOB_KIND)).toMatch(
    /its spec\.managedBy names nobody, and cannot be changed/,
  );
});

test('an object of another kind says the same by its kind, plain name and resource', () => {
  const kinds = createKinds(JOB_KIND, [aCrewKind()]);
  const metadata = { name: 'crews.example.com:argo' };
  const waits = aCrew({ metadata, spec: { policy: { suspend: true, managedBy: 'example.com/elsewhere' } } });
  expect(conditionLines(waits, kinds)).toEqual(['team/crews.example.com:argo in queue main: Waiting']);
  expect(unmanagedProblem(waits, kinds)).toBeUndefined();
  expect(unmanagedProblem(aCrew({ metadata }), kinds)).toBe(
    'Crew team/argo is not Switchyard’s: its operator runs it here; delete the Crew and create it again by switchyard submit',
  );
  expect(unmanagedProblem(aCrew({ metadata: { ...metadata, labels: {} } }), kinds)).toMatch(
    /^Crew team\/argo is not Switchyard’s: it has no label .*kubectl delete crews\.example\.com argo -n team/,
  );
});
