import { describe, expect, test } from 'vitest';
import type { ClusterView, Copy } from '../../../../../manager/dispatch/mirror/mirror-group.ts';
import { refusalOf } from '../../../../../manager/api/refusals.ts';
import type { JobStatus } from '../../../../../shared/api/kubernetes.ts';
import { aCondition, anAdmittedJob } from '../../../../support/jobs.ts';
import { actions, CLUSTER, conditionsHome, copyOn, LOST, plan } from '../decisions/mirror-situation.ts';

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

describe('a suspended Job whose copy has come to its verdict after it was suspended', () => {
  const local = anAdmittedJob({ spec: { suspend: true }, status: { conditions: [DISPATCHED] } });
  const met = (status: JobStatus = {}): Copy =>
    copyOn('eu-1', local, {
      suspend: true,
      status: { active: 0, terminating: 0, succeeded: 1, conditions: [aCondition('SuccessCriteriaMet')], ...status },
    });

  test('ends at home, because no API server lets its copy end without a startTime', () => {
    const result = plan(local, [met()]);
    expect(actions(result)).toEqual([]);
    expect(conditionsHome(result)).toEqual(expect.arrayContaining(['SuccessCriteriaMet=True Reason', 'Complete=True Reason']));
  });
  test('does not end while pods of the copy stop, or are not counted, and once it goes on it is its cluster that ends it', () => {
    for (const unsettled of [met({ terminating: 1 }), met({ uncountedTerminatedPods: { succeeded: ['a'] } })])
      expect(conditionsHome(plan(local, [unsettled]))?.join()).not.toContain('Complete');
    const resumed = anAdmittedJob({ status: { conditions: [DISPATCHED] } });
    expect(actions(plan(resumed, [met()]))).toEqual(['Update eu-1']);
    expect(conditionsHome(plan(resumed, [met()]))?.join()).not.toContain('Complete');
  });
});

describe('a copy that was resumed and suspended again', () => {
  const SUSPENDED_AT = '2026-01-01T00:00:10Z';
  const suspended = (lastTransitionTime: string): JobStatus => ({
    active: 0,
    terminating: 0,
    conditions: [aCondition('Suspended', { lastTransitionTime })],
  });
  const resting = anAdmittedJob({ spec: { suspend: true }, status: { conditions: [DISPATCHED] } });
  const resumedFrom = (since: string, status: JobStatus): Copy => {
    const copy = copyOn('eu-1', resting, { suspend: true, status });
    const annotations = { ...copy.job.metadata.annotations, 'switchyard.dev/resumed-from': since };
    return { ...copy, job: { ...copy.job, metadata: { ...copy.job.metadata, annotations } } };
  };

  test('is resumed with the word of the suspension that it comes from', () => {
    const local = anAdmittedJob();
    const at = copyOn('eu-1', local, { suspend: true, status: suspended(SUSPENDED_AT) });
    expect(plan(local, [at]).remote).toMatchObject([
      { kind: 'Update', spec: { suspend: false }, annotations: { 'switchyard.dev/resumed-from': SUSPENDED_AT } },
    ]);
    expect(plan(local, [copyOn('eu-1', local, { suspend: true })]).remote).toMatchObject([
      { kind: 'Update', annotations: { 'switchyard.dev/resumed-from': '' } },
    ]);
  });

  test('does not rest while its condition is the one of the suspension before: its Job controller has to say it anew, and nothing is deleted', () => {
    const result = plan(resting, [resumedFrom(SUSPENDED_AT, suspended(SUSPENDED_AT))]);
    expect(actions(result)).toEqual(['TakeBackSuspended eu-1']);
    expect(conditionsHome(result)).not.toContain('Dispatched=False AtRest');
    const unrecorded = plan(resting, [resumedFrom(SUSPENDED_AT, suspended(SUSPENDED_AT))], {}, { record: { kind: 'None' } });
    expect(actions(unrecorded)).toEqual(['TakeBackSuspended eu-1']);
  });

  test('does not rest until its Job controller has answered', () => {
    const status: JobStatus = { active: 0, terminating: 0, conditions: [aCondition('Suspended', { status: 'False' })] };
    const result = plan(resting, [copyOn('eu-1', resting, { suspend: true, status })]);
    expect(actions(result)).toEqual([]);
    expect(conditionsHome(result)).not.toContain('Dispatched=False AtRest');
  });

  test('rests when its Job controller has noticed, and says so anew', () => {
    for (const since of [SUSPENDED_AT, '']) {
      const result = plan(resting, [resumedFrom(since, suspended('2026-01-01T00:00:20Z'))]);
      expect(actions(result)).toEqual([]);
      expect(conditionsHome(result)).toContain('Dispatched=False AtRest');
    }
  });
});
