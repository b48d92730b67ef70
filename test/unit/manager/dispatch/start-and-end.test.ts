import { describe, expect, test } from 'vitest';
import { decideMirror, type ClusterView, type Copy, type MirrorPlan } from '../../../../manager/dispatch/decide-mirror.ts';
import { refusalOf } from '../../../../manager/api/refusals.ts';
import { remoteJob } from '../../../../manager/dispatch/remote-job.ts';
import type { Job, JobStatus } from '../../../../shared/api/kubernetes.ts';
import { aCondition, anAdmittedJob, recordOn } from '../../../support/jobs.ts';

const NOW = Date.parse('2026-01-01T01:00:00Z');
const CLUSTER: ClusterView = {
  contact: 'Ready',
  jobController: 'switchyard.dev/worker',
  local: false,
  problem: undefined,
  doubt: { kind: 'None' },
  untouchedSinceMs: undefined,
};
const LOST: ClusterView = { ...CLUSTER, contact: 'Lost' };

const plan = (local: Job, copies: readonly Copy[], clusters: Record<string, ClusterView> = {}): MirrorPlan =>
  decideMirror(
    {
      local,
      record: recordOn(local),
      unresolved: undefined,
      copies,
      clusters: new Map(Object.entries({ 'eu-1': CLUSTER, 'us-2': CLUSTER, ...clusters })),
      flavors: new Map(),
      origin: 'm1',
    },
    NOW,
  );

const copyOn = (cluster: string, local: Job, { status = {}, suspend = false }: { status?: JobStatus; suspend?: boolean } = {}): Copy => {
  const made = remoteJob(local, { origin: 'm1', epoch: 1, jobController: 'switchyard.dev/worker', local: false, flavors: [] });
  const identity = { name: 'sum', namespace: 'team', uid: 'copy', resourceVersion: '5', creationTimestamp: '2026-01-01T00:00:00Z' };
  return {
    cluster,
    job: { ...made, metadata: { ...made.metadata, ...identity }, spec: { ...made.spec, suspend }, status },
    deleting: false,
  };
};

const conditionsHome = ({ home }: MirrorPlan): string[] =>
  home.kind !== 'WriteStatus' ? [] : (home.status.conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`);

const DISPATCHED = aCondition('Dispatched', { reason: 'Dispatched', message: 'dispatched to cluster "eu-1" (placement 1)' });
const RESERVED = aCondition('QuotaReserved', { reason: 'QuotaReserved' });

describe('an admitted Job', () => {
  test.each<[string, JobStatus, string[]]>([
    ['a pod is ready', { active: 1, ready: 1 }, ['Started=True Started']],
    ['a pod that ended well is counted', { succeeded: 1, active: 1, ready: 0 }, ['Started=True Started']],
    ['a pod that failed is counted', { failed: 1, active: 1, ready: 0 }, ['Started=True Started']],
    ['its pods are counted by an API server that does not tell which are ready', { active: 1 }, ['Started=True Started']],
    ['no pod is ready', { active: 1, ready: 0 }, []],
  ])('has started, or not: %s', (_what, status, told) => {
    const local = anAdmittedJob({ status: { conditions: [RESERVED] } });
    const result = plan(local, [copyOn('eu-1', local, { status })]);
    expect(conditionsHome(result).filter((each) => each.startsWith('Started'))).toEqual(told);
  });

  test('that was said not to start anywhere takes that back when it starts', () => {
    const local = anAdmittedJob({ status: { conditions: [RESERVED, DISPATCHED, aCondition('CannotStart')] } });
    const result = plan(local, [copyOn('eu-1', local, { status: { active: 1, ready: 1 } })]);
    expect(conditionsHome(result)).toContain('CannotStart=False Started');
  });
});

describe('a Job that is to end, because it has not started anywhere', () => {
  const fail = { reason: 'CannotStart', message: 'eu-1: Refused' };
  const local = anAdmittedJob({ spec: { suspend: true } }, { evicted: true, fail });
  const FAILED = ['CannotStart=True TooManyMoves', 'FailureTarget=True CannotStart', 'Failed=True CannotStart'];

  test('ends once its copy rests, and not before', () => {
    const stopping = plan(local, [copyOn('eu-1', local, { status: { active: 1 }, suspend: true })]);
    expect(conditionsHome(stopping)).not.toContain('Failed=True CannotStart');
    const rests = plan(local, [copyOn('eu-1', local, { status: { conditions: [aCondition('Suspended')] }, suspend: true })]);
    expect(conditionsHome(rests)).toEqual(expect.arrayContaining(FAILED));
    expect(rests.home).toMatchObject({ urgent: true });
  });

  test('ends where there is no copy, once that is certain', () => {
    expect(conditionsHome(plan(local, []))).toEqual(expect.arrayContaining(FAILED));
    expect(conditionsHome(plan(local, [], { 'eu-1': LOST }))).not.toContain('Failed=True CannotStart');
    const doubtful: ClusterView = { ...CLUSTER, doubt: { kind: 'Waiting', forMs: 1 } };
    expect(conditionsHome(plan(local, [], { 'eu-1': doubtful }))).not.toContain('Failed=True CannotStart');
  });

  test('ends where the cluster has refused it', () => {
    const refusal = aCondition('Dispatched', { status: 'False', ...refusalOf(1, { reason: 'Refused', message: 'no' }) });
    const refused = { ...local, status: { conditions: [refusal] } };
    expect(conditionsHome(plan(refused, []))).toEqual(expect.arrayContaining(FAILED));
  });

  test('keeps an end that its pods have come to', () => {
    const ended = { ...local, status: { succeeded: 1, conditions: [aCondition('SuccessCriteriaMet')] } };
    expect(conditionsHome(plan(ended, []))).toContain('Complete=True Reason');
  });
});
