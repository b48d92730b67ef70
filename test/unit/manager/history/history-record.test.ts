import { expect, test } from 'vitest';
import { belongsTo, historyRecord, isOfResource, isOfUser } from '../../../../manager/history/history-record.ts';
import {
  ACTS_ANNOTATION,
  CREATED_BY_ANNOTATION,
  PRIORITY_CLASS_LABEL,
  QUEUE_NAME_LABEL,
  SUBMISSION_ANNOTATION,
  SUBMITTED_BY_ANNOTATION,
} from '../../../../shared/api/names.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';
import { createKinds } from '../../../../manager/work-kind/kinds.ts';
import { aCrew, aCrewKind } from '../work-kind/described/described.ts';
import { aCondition, aHomeJob, aRecord } from '../../../support/jobs.ts';

const ACT = { what: 'Hold', user: 'oidc:bob', at: '2026-01-01T00:00:07Z' };
const NOW = { kind: createKinds(JOB_KIND, [aCrewKind()]), namespace: undefined, nowMs: Date.parse('2026-01-01T01:00:00Z') };

test('a Job that failed is told with who, where, when, how much and how often', () => {
  const job = aHomeJob({
    metadata: {
      labels: { [QUEUE_NAME_LABEL]: 'main', [PRIORITY_CLASS_LABEL]: 'high' },
      annotations: { [SUBMISSION_ANNOTATION]: 'nightly-17', [CREATED_BY_ANNOTATION]: 'oidc:ann', [ACTS_ANNOTATION]: JSON.stringify([ACT]) },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name: 'nightly', uid: 'x', controller: true }],
    },
    status: {
      startTime: '2026-01-01T00:00:10Z',
      failed: 3,
      succeeded: 1,
      conditions: [
        aCondition('Failed', { reason: 'BackoffLimitExceeded', message: 'm'.repeat(600), lastTransitionTime: '2026-01-01T00:01:00Z' }),
      ],
    },
  });
  const record = aRecord({
    since: '2026-01-01T00:00:05Z',
    epoch: 2,
    executedSeconds: 5,
    requests: { cpu: '2', pods: '1' },
    flavors: { cpu: 'spot' },
  });
  expect(historyRecord(job, record, NOW)).toEqual({
    uid: 'uid-home-1',
    namespace: 'team',
    name: 'sum',
    outcome: 'Failed',
    reason: 'BackoffLimitExceeded',
    message: 'm'.repeat(512),
    localQueue: 'main',
    clusterQueue: 'cq',
    flavors: { cpu: 'spot' },
    cluster: 'eu-1',
    placements: 2,
    priorityClass: 'high',
    submission: 'nightly-17',
    user: 'oidc:ann',
    acts: [ACT],
    owner: 'CronJob/nightly',
    created: '2026-01-01T00:00:00Z',
    admitted: '2026-01-01T00:00:05Z',
    started: '2026-01-01T00:00:10Z',
    ended: '2026-01-01T00:01:00Z',
    requests: { cpu: '2', pods: '1' },
    admittedSeconds: 60,
    succeeded: 1,
    failed: 3,
  });
});

test('a record names the user who submitted over HTTP beside the account that created the Job, and is found by either', () => {
  const annotations = { [CREATED_BY_ANNOTATION]: 'system:serviceaccount:team:creator', [SUBMITTED_BY_ANNOTATION]: 'oidc:ann' };
  const record = historyRecord(aHomeJob({ metadata: { annotations } }), aRecord(), NOW);
  expect(record).toMatchObject({ user: 'system:serviceaccount:team:creator', submittedBy: 'oidc:ann' });
  expect(['oidc:ann', 'system:serviceaccount:team:creator', 'oidc:bob'].map((name) => isOfUser(record, name))).toEqual([true, true, false]);
});

test('a record has the UID of the namespace, unless the one that has the name now is younger than the Job or is not known', () => {
  const job = aHomeJob();
  const uidIn = (createdMs: number): string | undefined =>
    historyRecord(job, aRecord(), { ...NOW, namespace: { name: 'team', uid: 'n1', createdMs } }).namespaceUid;
  const createdMs = Date.parse(job.metadata.creationTimestamp);
  expect([uidIn(createdMs), uidIn(createdMs - 1_000), uidIn(createdMs + 1_000)]).toEqual(['n1', 'n1', undefined]);
  expect(historyRecord(job, aRecord(), NOW)).not.toHaveProperty('namespaceUid');
});

test('a record belongs to the namespace of its UID, and without one to a namespace of its name that was there in an earlier second', () => {
  const created = '2026-01-01T00:00:10Z';
  const of = (parts: object, now: object = {}): boolean =>
    belongsTo({ namespace: 'team', created, ...parts }, { name: 'team', uid: 'n2', createdMs: Date.parse(created) - 1_000, ...now });
  expect([of({ namespaceUid: 'n2' }), of({ namespaceUid: 'n1' }), of({})]).toEqual([true, false, true]);
  expect([of({}, { createdMs: Date.parse(created) }), of({}, { name: 'other' }), of({ created: 'no time' })]).toEqual([
    false,
    false,
    false,
  ]);
});

test('one that completes says no reason, and one that is deleted before its end ends then', () => {
  const complete = aHomeJob({ status: { completionTime: '2026-01-01T00:00:30Z', succeeded: 1, conditions: [aCondition('Complete')] } });
  expect(historyRecord(complete, aRecord(), NOW)).toMatchObject({
    outcome: 'Complete',
    ended: '2026-01-01T00:00:30Z',
    admittedSeconds: 30,
  });
  expect(historyRecord(complete, aRecord(), NOW)).not.toHaveProperty('reason');
  const pastAdmissions = [{ cluster: 'eu-1', since: '2026-01-01T00:00:00Z', until: '2026-01-01T00:00:07Z' }];
  const deleted = historyRecord(aHomeJob(), aRecord({ evicted: true, executedSeconds: 7, pastAdmissions }), NOW);
  expect(deleted).toMatchObject({ outcome: 'Deleted', ended: '2026-01-01T01:00:00Z', admittedSeconds: 7, succeeded: 0, failed: 0 });
  expect(deleted).toMatchObject({ evicted: true, pastAdmissions });
});

test('nothing of the manifest or of the manager’s own is in it: no command, no environment, no seal', () => {
  const pod = { containers: [{ name: 'main', image: 'i', command: ['hush-command'], env: [{ name: 'TOKEN', value: 'hush-token' }] }] };
  const annotations = {
    'switchyard.dev/submission-seal': 'hush-seal',
    'switchyard.dev/admission': '{"seal":"hush-admission"}',
    note: 'hush-note',
  };
  const job = aHomeJob({
    metadata: { annotations },
    spec: { template: { spec: pod } } as never,
    status: { conditions: [aCondition('Complete')] },
  });
  expect(JSON.stringify(historyRecord(job, aRecord(), NOW))).not.toContain('hush');
});

test('an object of another kind is told by its kind, resource and plain name, and counted as its description says', () => {
  const arrived = aCondition('Complete', { reason: 'Colchis', lastTransitionTime: '2026-01-01T00:01:00Z' });
  const status = { done: { deck: 2 }, conditions: [arrived] };
  const crew = aCrew({ metadata: { name: 'crews.example.com:argo' }, status });
  const record = historyRecord(crew, aRecord(), NOW);
  expect(record).toMatchObject({ name: 'argo', kind: 'Crew', resource: 'crews.example.com', outcome: 'Complete', succeeded: 2 });
  expect([isOfResource(record, 'crews.example.com'), isOfResource(record, 'jobs')]).toEqual([true, false]);
  const job = historyRecord(aHomeJob(), aRecord(), NOW);
  expect(job).not.toHaveProperty('kind');
  expect(isOfResource(job, 'jobs')).toBe(true);
});
