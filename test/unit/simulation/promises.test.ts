/**
 * Goal: a simulation notices what it is there to notice. Method: worlds of pods that break one promise each, and their neighbours that do
 * not.
 */
import { describe, expect, test } from 'vitest';
import type { Job, Pod } from '../../../shared/api/kubernetes.ts';
import {
  everyJobEnds,
  failsForCause,
  type Excuses,
  namespacesKept,
  nobodyByEquals,
  nobodyWrites,
  nothingLeft,
  oneCopyRuns,
  poolKept,
  quotaKept,
  type Remains,
  statusesAccepted,
  suspendedRest,
  workerMissed,
} from '../../simulation/dispatch/promises.ts';
import { formatAdmissionRecord } from '../../../manager/api/records.ts';
import { ADMISSION_ANNOTATION } from '../../../shared/api/names.ts';
import { aCondition, aHomeJob, aRecord } from '../../support/jobs.ts';
import type { HeldPod } from '../../simulation/dispatch/yard-history.ts';

const NONE: Excuses = { restored: new Set(), givenUp: new Set() };
type Parts = { readonly copy?: HeldPod['copy'] | null; readonly cpu?: string; readonly namespace?: string; readonly going?: boolean };

/** A pod on `cluster`, of the copy of job-1 there. */
function held(cluster: string, { copy, cpu = '1', namespace = 'blue', going = false }: Parts = {}): HeldPod {
  const pod: Pod = {
    metadata: {
      name: `${cluster}-pod`,
      namespace,
      uid: `${cluster}-uid`,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...(going ? { deletionTimestamp: '2026-01-01T00:00:30Z', deletionGracePeriodSeconds: 30 } : {}),
    },
    spec: { containers: [{ name: 'main', image: 'busybox', resources: { requests: { cpu } } }] },
  };
  return { cluster, pod, copy: copy === null ? undefined : (copy ?? copyOn(cluster)) };
}
const copyOn = (cluster: string, fenced = true) => ({ uid: `copy-${cluster}`, originUid: 'job-1', name: 'job', fenced });

describe('at most one copy of a Job runs', () => {
  test('pods of one copy are as many as there may be', () => {
    expect(oneCopyRuns([held('east'), held('east')], NONE)).toEqual([]);
  });

  test('pods of two copies of a Job are noticed, wherever they are', () => {
    expect(oneCopyRuns([held('east'), held('west')], NONE)).toEqual(['east/east-pod and west/west-pod run for one Job']);
    const other = held('east', { copy: { ...copyOn('east'), uid: 'made-anew' } });
    expect(oneCopyRuns([held('east'), other], NONE)).toHaveLength(1);
  });

  test('pods of two Jobs are not', () => {
    expect(oneCopyRuns([held('east'), held('west', { copy: { ...copyOn('west'), originUid: 'job-2' } })], NONE)).toEqual([]);
  });

  test('a pod in its grace period runs', () => {
    expect(oneCopyRuns([held('east', { going: true }), held('west')], NONE)).toHaveLength(1);
  });

  test('what a restored store has brought back is excused for a while', () => {
    const both = [held('east'), held('west')];
    expect(oneCopyRuns(both, { ...NONE, restored: new Set(['east']) })).toEqual([]);
    expect(oneCopyRuns([...both, held('north')], { ...NONE, restored: new Set(['east']) })).toHaveLength(1);
  });

  test('on a cluster that an operator gave up only Jobs without a fence are excused', () => {
    const givenUp = { ...NONE, givenUp: new Set(['east']) };
    const unfenced = (cluster: string) => held(cluster, { copy: copyOn(cluster, false) });
    expect(oneCopyRuns([unfenced('east'), unfenced('west')], givenUp)).toEqual([]);
    expect(oneCopyRuns([unfenced('east'), unfenced('west')], NONE)).toHaveLength(1);
    expect(oneCopyRuns([held('east'), held('west')], givenUp)).toHaveLength(1);
  });
});

describe('quota is kept', () => {
  const teams = [{ namespace: 'blue', quota: { cpu: '2', pods: '2' } }];

  test('what all clusters together hold is compared, by resource', () => {
    expect(quotaKept([held('east'), held('west')], teams, NONE)).toEqual([]);
    expect(quotaKept([held('east'), held('west', { cpu: '1001m' })], teams, NONE)).toEqual([
      'blue holds 2.001 cpu of 2: east/east-pod, west/west-pod',
    ]);
    expect(
      quotaKept(
        ['east', 'west', 'north'].map((name) => held(name, { cpu: '1m' })),
        teams,
        NONE,
      ),
    ).toHaveLength(1);
  });

  test('of teams that share a pool it is kept by all together', () => {
    const pods = [held('east', { cpu: '3' }), held('west', { cpu: '1', namespace: 'green' })];
    expect(poolKept(pods, ['blue', 'green'], { cpu: '4' }, NONE)).toEqual([]);
    expect(poolKept(pods, ['blue', 'green'], { cpu: '3' }, NONE)).toEqual([
      'blue and green holds 4 cpu of 3: east/east-pod, west/west-pod',
    ]);
  });

  test('other teams have quota of their own, and a store that was put back is excused', () => {
    expect(quotaKept([held('east', { cpu: '9', namespace: 'green' })], teams, NONE)).toEqual([]);
    expect(quotaKept([held('east', { cpu: '9' })], teams, { ...NONE, restored: new Set(['east']) })).toEqual([]);
  });
});

test('pods in a namespace of nobody, and pods that no copy has made, are noticed', () => {
  expect(namespacesKept([held('east')], ['blue'])).toEqual([]);
  expect(namespacesKept([held('east')], ['green'])).toEqual(['east: pod blue/east-pod runs outside of green']);
  expect(namespacesKept([held('east', { copy: null })], ['blue'])).toEqual(['east: pod blue/east-pod was made by no copy']);
});

test('a status that the API server refused is noticed', () => {
  expect(statusesAccepted([])).toEqual([]);
  expect(statusesAccepted(['manager: PATCH job-1: startTime is required'])).toEqual([
    'a status was refused: manager: PATCH job-1: startTime is required',
  ]);
});

test('pods of a Job that is suspended are noticed, those of others are not', () => {
  const job = (uid: string, suspend: boolean): Job => ({
    metadata: { name: 'job', namespace: 'blue', uid, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { suspend, template: {} },
  });
  expect(suspendedRest([held('east')], [job('job-1', true)])).toEqual(['east: pod east-pod runs on, though blue/job is suspended']);
  expect(suspendedRest([held('east')], [job('job-1', false), job('job-2', true)])).toEqual([]);
  expect(suspendedRest([held('east', { copy: null })], [job('job-1', true)])).toEqual([]);
  const described = new Map([['job-1', 'crew blue/argo']]);
  expect(suspendedRest([held('east')], [], described)).toEqual(['east: pod east-pod runs on, though crew blue/argo is suspended']);
});

test('a Job that neither completes nor fails does not end', () => {
  const job = (type?: string): Job => ({
    metadata: { name: 'job', namespace: 'blue', uid: 'job-1', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { template: {} },
    ...(type === undefined ? {} : { status: { conditions: [{ type, status: 'True' }] } }),
  });
  expect(everyJobEnds([job('Complete'), job('Failed')])).toEqual([]);
  expect(everyJobEnds([job()])).toEqual(['home: blue/job does not end']);
  expect(everyJobEnds([job('Suspended')])).toHaveLength(1);
});

test('a Job that fails without a cause of its own is noticed', () => {
  const failed = (reason: string, spec: object = {}): Job =>
    aHomeJob({ metadata: { uid: 'u' }, spec, status: { conditions: [aCondition('Failed', { reason, message: 'why' })] } });
  const pods = new Set(['u']);
  expect(failsForCause(failed('BackoffLimitExceeded'), pods, false)).toEqual([]);
  expect(failsForCause(failed('BackoffLimitExceeded'), new Set(), false)).toEqual([
    'home: team/sum has failed (BackoffLimitExceeded: why), and no pod of it did',
  ]);
  expect(failsForCause(failed('DeadlineExceeded', { activeDeadlineSeconds: 5 }), new Set(), false)).toEqual([]);
  expect(failsForCause(failed('DeadlineExceeded'), pods, false)).toHaveLength(1);
  expect(failsForCause(failed('CannotStart'), new Set(), true)).toEqual([]);
  expect(failsForCause(failed('CannotStart'), new Set(), false)).toHaveLength(1);
  expect(failsForCause(aHomeJob(), new Set(), false)).toEqual([]);
});

describe('nothing is left', () => {
  const clean: Remains = {
    cluster: 'east',
    copies: [],
    pods: [],
    madeNamespaces: ['blue'],
    usedNamespaces: new Set(['blue']),
    carried: [],
  };
  test.each<[string, Partial<Remains>, string[]]>([
    ['where there is nothing', {}, []],
    ['a copy', { copies: ['blue/job'] }, ['east: the copy of blue/job is left']],
    ['a pod', { pods: ['blue/job-x'] }, ['east: pod blue/job-x is left']],
    ['what a copy has brought', { carried: ['Secret blue/token-1'] }, ['east: Secret blue/token-1 is left, and no copy has it']],
    ['a namespace without a copy', { usedNamespaces: new Set() }, ['east: namespace blue was made for nothing']],
  ])('%s', (_, parts, told) => {
    expect(nothingLeft([{ ...clean, ...parts }])).toEqual(told);
  });
});

test('whoever writes in a world in which nothing moves is noticed', () => {
  expect(nobodyWrites(new Map([['home', 0]]))).toEqual([]);
  expect(nobodyWrites(new Map([['home', 2]]))).toEqual(['2 writes to home in a world in which nothing moves']);
});

describe('nobody is preempted by an equal', () => {
  const priorities = new Map([
    ['blue/low', new Set([-2])],
    ['blue/high', new Set([0])],
    ['blue/other', new Set([-2, -1])],
  ]);
  const preempted = (name: string, by: string, rule: string): Job =>
    aHomeJob({
      metadata: { name, namespace: 'blue', annotations: { [ADMISSION_ANNOTATION]: sealed({ by, clusterQueue: 'blue', rule }) } },
    });
  const sealed = (each: { by: string; clusterQueue: string; rule: string }): string =>
    formatAdmissionRecord(aRecord({ evicted: true, preempted: each }), { written: '2026-01-01T00:00:00Z', seal: 'x' });
  const judge = (
    job: Job,
    withinClusterQueue: 'LowerPriority' | 'LowerOrNewerEqualPriority',
    reclaimWithinCohort: 'LowerPriority' | 'Any' = 'LowerPriority',
  ) => nobodyByEquals(job, { preemption: { withinClusterQueue, reclaimWithinCohort }, priorities });
  test('by one of higher priority, or whose name has had one', () => {
    expect(judge(preempted('low', 'blue/high', 'InClusterQueue'), 'LowerPriority')).toEqual([]);
    expect(judge(preempted('low', 'blue/other', 'InCohortReclamation'), 'LowerPriority')).toEqual([]);
    expect(judge(aHomeJob(), 'LowerPriority')).toEqual([]);
  });
  test('by an equal only where the policy says so', () => {
    const byEqual = (rule: string) => preempted('low', 'blue/low', rule);
    expect(judge(byEqual('InClusterQueue'), 'LowerPriority')).toHaveLength(1);
    expect(judge(byEqual('InClusterQueue'), 'LowerOrNewerEqualPriority')).toEqual([]);
    expect(judge(byEqual('InCohortReclamation'), 'LowerOrNewerEqualPriority')).toHaveLength(1);
    expect(judge(byEqual('InCohortReclamation'), 'LowerPriority', 'Any')).toEqual([]);
    expect(judge(byEqual('InCohortReclaimWhileBorrowing'), 'LowerPriority', 'Any')).toHaveLength(1);
  });
  test('never by a lower one', () => {
    expect(judge(preempted('high', 'blue/low', 'InClusterQueue'), 'LowerOrNewerEqualPriority')).toEqual([
      'blue/high of priority 0 was preempted by blue/low of priority -2 (InClusterQueue)',
    ]);
  });
});

test('teams of one cohort share their quota', () => {
  const teams = [
    { namespace: 'blue', quota: { cpu: '1' }, cohort: 'all' },
    { namespace: 'green', quota: { cpu: '2' }, cohort: 'all' },
  ];
  expect(quotaKept([held('east', { cpu: '3' })], teams, NONE)).toEqual([]);
  expect(quotaKept([held('east', { cpu: '2' }), held('west', { cpu: '1500m', namespace: 'green' })], teams, NONE)).toEqual([
    'blue and green holds 3.5 cpu of 3: east/east-pod, west/west-pod',
  ]);
});

describe('a cluster whose worker has been gone for two minutes', () => {
  const said = (message: string): Job => {
    return { ...aHomeJob(), status: { conditions: [aCondition('Dispatched', { message })] } };
  };
  const OUT = 'no worker runs it on cluster "east": it is gone; to give up what runs of it there: kubectl delete job -n blue job';
  const missed = (parts: { isReady?: boolean; message?: string; hasBegun?: boolean; isNew?: boolean }): string[] => {
    const { isReady = false, message = OUT, hasBegun = true, isNew = false } = parts;
    return workerMissed({ cluster: 'east', isReady, jobs: [{ job: said(message), hasBegun, isNew }] });
  };

  test('is not Ready, takes no Jobs, and the Jobs that it has begun say so with the way out', () => {
    expect(missed({})).toEqual([]);
    expect(missed({ isReady: true })).toEqual(['home: east is Ready, and has no worker']);
    expect(missed({ isNew: true })).toEqual([expect.stringContaining('is admitted to east, which has no worker')]);
    expect(missed({ message: 'dispatched to cluster "east"' })).toEqual([expect.stringContaining('does not say that no worker runs it')]);
  });

  test('may keep silent about a Job that it has not begun', () => {
    expect(missed({ message: 'dispatched', hasBegun: false })).toEqual([]);
  });
});
