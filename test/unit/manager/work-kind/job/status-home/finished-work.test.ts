/** What a new copy is told of the work that its Job has finished elsewhere, and when. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { MirrorPlan } from '../../../../../../manager/dispatch/decisions/mirror-plan.ts';
import { counted, indexListsOf, seedFor } from '../../../../../../manager/work-kind/job/status-home/finished-work.ts';
import type { ClusterView } from '../../../../../../manager/dispatch/mirror/mirror-group.ts';
import { remoteJob } from '../../../../../../manager/work-kind/job/copy/remote-job.ts';
import { toLocalStatus } from '../../../../../../manager/work-kind/job/status-home/to-local-status.ts';
import type { Job, JobSpec, JobStatus } from '../../../../../../shared/api/kubernetes.ts';
import { validateJobStatusUpdate } from '../../../../../../shared/controlplane/kinds/job-status-validation.ts';
import { NO_BACKOFF } from '../../../../../../worker/job/backoff.ts';
import { decide } from '../../../../../../worker/job/decide.ts';
import { viewJob } from '../../../../../../worker/job/job-view.ts';
import { aCondition, aHomeJob, anAdmittedJob, aRecord } from '../../../../../support/jobs.ts';
import { CLUSTER, NOW, plan as planOf } from '../../../dispatch/decisions/mirror-situation.ts';
import { JOB_KIND } from '../../../../../../manager/work-kind/job/job-kind.ts';

const INDEXED: Partial<JobSpec> = { completionMode: 'Indexed', completions: 6, parallelism: 2 };
const PER_INDEX: Partial<JobSpec> = { ...INDEXED, backoffLimitPerIndex: 1 };
const RESTS = [aCondition('Suspended')];

const moved = (status: JobStatus, spec: Partial<JobSpec> = INDEXED): Job =>
  anAdmittedJob({ spec, status: { conditions: RESTS, ...status } }, { cluster: 'us-2', epoch: 2 });

const copyOf = (local: Job, parts: { suspend?: boolean; status?: JobStatus; spec?: Partial<JobSpec> } = {}): Job => {
  const made = remoteJob(local, { origin: 'm1', epoch: 2, jobController: 'switchyard.dev/worker', local: false, flavors: [] });
  const metadata = { name: 'sum', namespace: 'team', uid: 'copy-2', resourceVersion: '7', creationTimestamp: '2026-01-01T00:30:00Z' };
  const { suspend = true, status = {}, spec } = parts;
  return { ...made, metadata: { ...made.metadata, ...metadata }, spec: { ...made.spec, ...spec, suspend }, status };
};

const plan = (local: Job, copy?: Job, view: Partial<ClusterView> = {}): MirrorPlan =>
  planOf(local, copy === undefined ? [] : [{ cluster: 'us-2', job: copy, deleting: false }], { 'us-2': { ...CLUSTER, ...view } });
/** `Create suspended`, `Seed {...}`, `Update {...}`. */
const steps = ({ remote }: MirrorPlan): string[] =>
  remote.map((action) => {
    if (action.kind === 'Create') return `Create ${JOB_KIND.isSuspended(action.job) ? 'suspended' : 'running'}`;
    if (action.kind === 'Seed') return `Seed ${JSON.stringify(action.status)}`;
    return action.kind === 'Update' ? `Update ${JSON.stringify(action.spec)}` : action.kind;
  });

describe('a Job that has moved', () => {
  const local = moved({ succeeded: 3, failed: 1, completedIndexes: '0-2' });
  const SEED = 'Seed {"succeeded":3,"failed":1,"completedIndexes":"0-2"}';

  test('with finished work has its copy made suspended, told of it, and then resumed', () => {
    expect(steps(plan(local))).toEqual(['Create suspended']);
    expect(steps(plan(local, copyOf(local)))).toEqual([SEED]);
    expect(steps(plan(local, copyOf(local, { status: { conditions: RESTS, ready: 0, terminating: 0 } })))).toEqual([SEED]);
    const seeded = { succeeded: 3, failed: 1, completedIndexes: '0-2' };
    expect(steps(plan(local, copyOf(local, { status: seeded })))).toEqual(['Update {"suspend":false}']);
    expect(steps(plan(local, copyOf(local, { status: { ...seeded, conditions: RESTS } })))).toEqual(['Update {"suspend":false}']);
    expect(steps(plan(local, copyOf(local, { suspend: false, status: { ...seeded, active: 2 } })))).toEqual([]);
  });

  test('with nothing finished has its copy made and run at once', () => {
    expect(steps(plan(moved({})))).toEqual(['Create running']);
    expect(steps(plan(moved({ failedIndexes: '' }, PER_INDEX)))).toEqual(['Create running']);
  });

  test('is told of the part that its copy lacks, whatever that is', () => {
    const lacking = (status: JobStatus): string[] => steps(plan(local, copyOf(local, { status })));
    expect(lacking({ succeeded: 3, completedIndexes: '0-2' })).toEqual([SEED]);
    expect(lacking({ failed: 1 })).toEqual([SEED]);
    expect(lacking({ succeeded: 2, failed: 4, completedIndexes: '0,4' })).toEqual([
      'Seed {"succeeded":4,"failed":4,"completedIndexes":"0-2,4"}',
    ]);
  });

  test.each<[string, Partial<JobSpec>, JobStatus, string]>([
    ['without indexes', { completions: 5 }, { succeeded: 2 }, '{"succeeded":2}'],
    ['that has but failed', { completions: 5 }, { failed: 2 }, '{"failed":2}'],
    ['with indexes that failed for good', PER_INDEX, { failed: 2, failedIndexes: '3' }, '{"failed":2,"failedIndexes":"3"}'],
    ['that shrank meanwhile', INDEXED, { succeeded: 8, completedIndexes: '1,4-10' }, '{"succeeded":3,"completedIndexes":"1,4-5"}'],
  ])('%s is told what it needs', (_what, spec, status, expected) => {
    const job = moved(status, spec);
    expect(steps(plan(job, copyOf(job)))).toEqual([`Seed ${expected}`]);
  });

  test('as a work queue of which a pod has succeeded begins anew, for a copy that was told of a success would be complete at once', () => {
    const queue = moved({ succeeded: 1 }, { parallelism: 3, completions: undefined as never });
    expect(steps(plan(queue))).toEqual(['Create running']);
    expect(steps(plan(queue, copyOf(queue)))).toEqual(['Update {"suspend":false}']);
  });

  test('as a work queue is told of its failures, which count on', () => {
    const queue = moved({ succeeded: 1, failed: 2 }, { parallelism: 3, completions: undefined as never });
    expect(steps(plan(queue, copyOf(queue)))).toEqual(['Seed {"failed":2}']);
  });

  test('and has grown since its copy was made: the copy is changed first, and stays suspended', () => {
    const grown = moved({ succeeded: 3, completedIndexes: '0,5-6' }, { ...INDEXED, completions: 8, parallelism: 8 });
    const small = copyOf(grown, { spec: { completions: 4, parallelism: 4 } });
    expect(steps(plan(grown, small))).toEqual(['Update {"parallelism":8,"completions":8}']);
    expect(steps(plan(grown, copyOf(grown)))).toEqual(['Seed {"succeeded":3,"completedIndexes":"0,5-6"}']);
  });

  test('and is suspended again before its copy has been told: nothing is to be done, and home forgets nothing', () => {
    const status = { succeeded: 3, failed: 1, completedIndexes: '0-2', conditions: RESTS };
    const again = { ...local, spec: { ...local.spec, suspend: true }, status };
    const result = plan(again, copyOf(local, { status: { conditions: RESTS } }));
    expect(steps(result)).toEqual([]);
    expect(result.home).toMatchObject({ status: { succeeded: 3, failed: 1, completedIndexes: '0-2' } });
  });

  test('has its copy left alone once that has begun, although it shows less', () => {
    for (const begun of [
      { startTime: '2026-01-01T00:40:00Z' },
      { active: 1 },
      { terminating: 1 },
      { uncountedTerminatedPods: { succeeded: ['a'] } },
    ])
      expect(steps(plan(local, copyOf(local, { status: begun })))).toEqual(['Update {"suspend":false}']);
    expect(steps(plan(local, copyOf(local, { suspend: false })))).toEqual([]);
  });

  test('says why its copy does not run where the cluster refuses to be told, and goes on trying', () => {
    const problem = { reason: 'Refused', message: 'cluster "us-2" said no' } as const;
    const result = plan(local, copyOf(local), { problem });
    expect(steps(result)).toEqual([SEED]);
    const message = 'dispatched to cluster "us-2" (placement 2); cluster "us-2" said no';
    expect(result.home).toMatchObject({ status: { conditions: expect.arrayContaining([expect.objectContaining({ message })]) } });
  });
});

test('a copy that has come to its verdict while it was suspended is resumed, for it needs that to finish', () => {
  const local = moved({ succeeded: 1 }, { completions: 1 });
  const decided = { succeeded: 1, conditions: [...RESTS, aCondition('SuccessCriteriaMet')] };
  expect(steps(plan(local, copyOf(local, { status: decided })))).toEqual(['Update {"suspend":false}']);
  expect(steps(plan(local, copyOf(local, { suspend: false, status: decided })))).toEqual([]);
  const suspended = { ...local, spec: { ...local.spec, suspend: true } };
  expect(steps(plan(suspended, copyOf(local, { status: decided })))).toEqual([]);
});

describe('a copy that rests', () => {
  const evicted = anAdmittedJob(
    { spec: { suspend: true, completions: 4 }, status: { succeeded: 1, conditions: [] } },
    { cluster: 'us-2', epoch: 2 },
  );
  const rests = (status: JobStatus): Job => copyOf(evicted, { status: { conditions: RESTS, ...status } });

  test('with pods in its lists that are as good as counted has them counted at home, once', () => {
    const first = plan(evicted, rests({ succeeded: 1, uncountedTerminatedPods: { succeeded: ['a'], failed: ['b', 'c'] } }));
    expect(first.home).toMatchObject({ status: { succeeded: 2, failed: 2, uncountedTerminatedPods: {} } });
    const home = { ...evicted, status: first.home.kind === 'WriteStatus' ? first.home.status : {} };
    expect(plan(home, rests({ succeeded: 2, failed: 2, uncountedTerminatedPods: {} })).home).toEqual({ kind: 'None' });
  });

  test('of an Indexed Job has told its successes by their indexes', () => {
    const status = { succeeded: 1, completedIndexes: '0', uncountedTerminatedPods: { succeeded: ['a'], failed: ['b'] } };
    expect(counted(status, aHomeJob({ spec: INDEXED }).spec)).toMatchObject({ succeeded: 1, failed: 1, uncountedTerminatedPods: {} });
  });
});

describe('home', () => {
  const lists = (local: JobStatus, remote: JobStatus, spec: Partial<JobSpec> = PER_INDEX): unknown =>
    indexListsOf(aHomeJob({ spec, status: local }), remote);

  test('keeps the indexes that a new copy does not know of, and adds those that it completes', () => {
    expect(lists({ completedIndexes: '0-2' }, {})).toEqual({ completedIndexes: '0-2' });
    expect(lists({ completedIndexes: '0-2', failedIndexes: '4' }, { failedIndexes: '' })).toEqual({
      completedIndexes: '0-2',
      failedIndexes: '4',
    });
    expect(lists({ completedIndexes: '0-2', failedIndexes: '4' }, { completedIndexes: '4,5', failedIndexes: '3' })).toEqual({
      completedIndexes: '0-2,4-5',
      failedIndexes: '3',
    });
  });

  test('takes the words of a copy that knows of everything, and forgets what is beyond the end', () => {
    expect(lists({ completedIndexes: '0-1' }, { completedIndexes: '0,1,2', failedIndexes: '' })).toEqual({
      completedIndexes: '0,1,2',
      failedIndexes: '',
    });
    expect(lists({ completedIndexes: '0-5' }, { completedIndexes: '0-2' }, { ...INDEXED, completions: 3, parallelism: 3 })).toEqual({
      completedIndexes: '0-2',
    });
  });

  test('counts the indexes of an elastic Job that moves, though its new copy does not yet', () => {
    const elastic = aHomeJob({
      spec: { ...INDEXED, parallelism: 6 },
      status: { succeeded: 3, completedIndexes: '0-2', conditions: RESTS },
    });
    const status = toLocalStatus({ local: elastic, remote: { conditions: RESTS }, own: [], nowMs: NOW });
    expect(status).toMatchObject({ succeeded: 3, completedIndexes: '0-2' });
  });
});

const small = fc.nat({ max: 4 });
const spec: fc.Arbitrary<Partial<JobSpec>> = fc.constantFrom(
  { completions: 5 },
  { completionMode: 'NonIndexed', parallelism: 3 },
  INDEXED,
  PER_INDEX,
  { ...INDEXED, parallelism: 6 },
);
const status: fc.Arbitrary<JobStatus> = fc.record(
  {
    succeeded: small,
    failed: small,
    completedIndexes: fc.constantFrom('', '0', '0-2', '1,5', '3-9', 'x'),
    failedIndexes: fc.constantFrom('', '3', '0,4-5'),
  },
  { requiredKeys: [] },
);

test('whatever home and copy show, an API server takes the seed, it is the last one, and home counts no less for it', () => {
  fc.assert(
    fc.property(spec, status, status, (parts, known, shown) => {
      const local = moved(known, parts);
      const copy = copyOf(local, { status: shown });
      const seed = seedFor(copy, local);
      const isPossible = validateJobStatusUpdate(copy as never, { ...copy, status: {} } as never).length === 0;
      fc.pre(seed !== undefined && isPossible);
      const seeded = { ...copy, status: { ...copy.status, ...seed } };
      expect(validateJobStatusUpdate(seeded as never, copy as never)).toEqual([]);
      expect(seedFor(seeded, local)).toBeUndefined();
      const before = toLocalStatus({ local, remote: copy.status, own: [], nowMs: NOW });
      const after = toLocalStatus({ local: { ...local, status: before }, remote: seeded.status, own: [], nowMs: NOW });
      expect(after.succeeded ?? 0).toBeGreaterThanOrEqual(before.succeeded ?? 0);
      expect(after.failed).toBe(before.failed);
    }),
    { numRuns: 2000 },
  );
});

describe('the Job controller of a worker goes on from the seed', () => {
  const next = (parts: Partial<JobSpec>, known: JobStatus): unknown => {
    const local = moved(known, parts);
    const fresh = copyOf(local);
    const job = viewJob({ ...fresh, spec: { ...fresh.spec, suspend: false }, status: { ...seedFor(fresh, local), conditions: RESTS } });
    const { plan: pods, verdict } = decide({ job, pods: [], satisfied: true, backoff: NO_BACKOFF }, NOW);
    if (verdict !== undefined) return verdict.reason;
    return pods.kind === 'create' ? pods.slots.map(({ index }) => index ?? 'pod') : pods.kind;
  };

  test.each<[string, Partial<JobSpec>, JobStatus, unknown]>([
    ['Indexed: with the next indexes', INDEXED, { succeeded: 3, completedIndexes: '0,2-3' }, [1, 4]],
    ['NonIndexed: with as many pods as are missing', { completions: 5, parallelism: 4 }, { succeeded: 3 }, ['pod', 'pod']],
    ['backoffLimit: with the failures that are left', { completions: 1, backoffLimit: 2 }, { failed: 2 }, ['pod']],
    ['backoffLimit: to its end', { completions: 1, backoffLimit: 2 }, { failed: 3 }, 'BackoffLimitExceeded'],
    [
      'backoffLimitPerIndex: without the indexes that failed',
      PER_INDEX,
      { failed: 4, failedIndexes: '0,1', completedIndexes: '2' },
      [3, 4],
    ],
    ['maxFailedIndexes: to its end', { ...PER_INDEX, maxFailedIndexes: 1 }, { failedIndexes: '0,1' }, 'MaxFailedIndexesExceeded'],
    [
      'successPolicy: to its end',
      { ...INDEXED, successPolicy: { rules: [{ succeededCount: 2 }] } },
      { completedIndexes: '1,4' },
      'SuccessPolicy',
    ],
  ])('%s', (_what, parts, known, expected) => {
    expect(next(parts, known)).toEqual(expected);
  });
});

test('the record of a Job that never moved and has finished nothing leads to one create', () => {
  expect(steps(plan(anAdmittedJob({}, { ...aRecord(), cluster: 'us-2' })))).toEqual(['Create running']);
});
