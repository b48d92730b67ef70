import { describe, expect, test } from 'vitest';
import { decideJobSet } from '../../../../../../manager/cli/local/job-set/decide.ts';
import type { JobSet, JobSetStatus } from '../../../../../../manager/cli/local/job-set/definition.ts';
import type { Job, JobCondition } from '../../../../../../shared/api/kubernetes.ts';

const NOW = Date.parse('2026-01-01T00:10:00Z');
const pods = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } };

function aJobSet(spec: Partial<JobSet['spec']> = {}, status?: JobSetStatus): JobSet {
  return {
    metadata: { namespace: 'default', name: 'set', uid: 'set-uid', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: {
      replicatedJobs: [
        { name: 'leader', template: { metadata: { labels: { team: 'a' } }, spec: { template: pods } } },
        { name: 'workers', replicas: 2, template: { spec: { parallelism: 3, completions: 2, template: pods } } },
      ],
      ...spec,
    },
    ...(status && { status }),
  };
}

const condition = (type: string, status = 'True'): JobCondition => ({ type, status, lastTransitionTime: '2026-01-01T00:01:00Z' });

/** The child Jobs as the operator makes them, each with the status that its name has in `statuses`. */
function childrenOf(jobSet: JobSet, statuses: Readonly<Record<string, Job['status']>> = {}): Job[] {
  return decideJobSet(jobSet, [], NOW).create.map((job) => {
    const name = job.metadata.name ?? '';
    const metadata = {
      ...job.metadata,
      namespace: 'default',
      name,
      uid: name,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
    };
    const status = statuses[name];
    return { metadata, spec: job.spec, ...(status && { status }) };
  });
}
const namesOf = (jobs: readonly { readonly metadata: { readonly name?: string } }[]): unknown[] =>
  jobs.map(({ metadata }) => metadata.name);
const conditionsIn = (status: JobSetStatus | undefined): string[] =>
  (status?.conditions ?? []).map(({ type, status: value, reason }) => `${type}=${value} ${reason}`);
const ALL = ['set-leader-0', 'set-workers-0', 'set-workers-1'];
const everyChild = (status: Job['status']): Record<string, Job['status']> => Object.fromEntries(ALL.map((name) => [name, status]));

describe('child Jobs', () => {
  test('every replica of a replicated job is a Job of its own, with the labels of JobSet on it and its pods, and owned by the JobSet', () => {
    const { create } = decideJobSet(aJobSet(), [], NOW);
    expect(namesOf(create)).toEqual(ALL);
    const last = create[2];
    const labels = {
      'jobset.sigs.k8s.io/jobset-name': 'set',
      'jobset.sigs.k8s.io/jobset-uid': 'set-uid',
      'jobset.sigs.k8s.io/replicatedjob-name': 'workers',
      'jobset.sigs.k8s.io/replicatedjob-replicas': '2',
      'jobset.sigs.k8s.io/job-index': '1',
      'jobset.sigs.k8s.io/job-global-index': '2',
      'jobset.sigs.k8s.io/job-key': expect.stringMatching(/^[0-9a-f]{40}$/) as string,
      'jobset.sigs.k8s.io/restart-attempt': '0',
    };
    expect(last?.metadata.labels).toEqual(labels);
    expect(last?.spec.template.metadata?.labels).toEqual(labels);
    expect(create[0]?.metadata.labels).toMatchObject({ team: 'a' });
    expect(last?.metadata.ownerReferences).toMatchObject([{ kind: 'JobSet', name: 'set', uid: 'set-uid', controller: true }]);
    expect(last?.spec).toMatchObject({ suspend: false, parallelism: 3, completions: 2, managedBy: 'switchyard.dev/worker' });
  });

  test('a template may name another Job controller', () => {
    const template = { spec: { managedBy: 'kubernetes.io/job-controller', template: pods } };
    const { create } = decideJobSet(aJobSet({ replicatedJobs: [{ name: 'one', template }] }), [], NOW);
    expect(create[0]?.spec.managedBy).toBe('kubernetes.io/job-controller');
  });

  test.each([
    ['of another manager', aJobSet({ managedBy: 'switchyard.dev/manager' })],
    ['that is being deleted', { ...aJobSet(), metadata: { ...aJobSet().metadata, deletionTimestamp: '2026-01-01T00:05:00Z' } }],
  ])('a JobSet %s is left alone', (_which, jobSet) => {
    expect(decideJobSet(jobSet, [], NOW)).toEqual({ create: [], suspend: [], remove: [] });
  });

  test('a child that is gone is made again, and one that is there is not', () => {
    const jobSet = aJobSet();
    expect(namesOf(decideJobSet(jobSet, childrenOf(jobSet).slice(0, 2), NOW).create)).toEqual(['set-workers-1']);
  });
});

describe('suspension', () => {
  test('children that have not ended are suspended with their JobSet, and resumed with it', () => {
    const children = childrenOf(aJobSet(), { 'set-leader-0': { conditions: [condition('Complete')] } });
    const suspended = decideJobSet(aJobSet({ suspend: true }), children, NOW);
    expect(suspended.suspend.map(({ child, value }) => [child.metadata.name, value])).toEqual([
      ['set-workers-0', true],
      ['set-workers-1', true],
    ]);
    const resumed = decideJobSet(aJobSet(), childrenOf(aJobSet({ suspend: true })), NOW);
    expect(resumed.suspend.map(({ value }) => value)).toEqual([false, false, false]);
  });

  test('the JobSet is Suspended when the last child says that it is, and none has a pod', () => {
    const jobSet = aJobSet({ suspend: true });
    const resting = { conditions: [condition('Suspended')] };
    const oneRuns = childrenOf(jobSet, { ...everyChild(resting), 'set-workers-1': { active: 1, conditions: [condition('Suspended')] } });
    const oneIsUnseen = childrenOf(jobSet, { ...everyChild(resting), 'set-workers-1': {} });
    for (const children of [oneRuns, oneIsUnseen, childrenOf(jobSet, everyChild(resting)).slice(0, 2)])
      expect(conditionsIn(decideJobSet(jobSet, children, NOW).status)).toEqual([]);
    const { status } = decideJobSet(jobSet, childrenOf(jobSet, everyChild(resting)), NOW);
    expect(conditionsIn(status)).toEqual(['Suspended=True SuspendedJobs']);
    expect(status?.conditions?.[0]?.lastTransitionTime).toBe('2026-01-01T00:10:00Z');
    expect(status?.replicatedJobsStatus?.map(({ suspended }) => suspended)).toEqual([1, 2]);
  });

  test('a child whose controller has not seen the resumption is not suspended again, so that what it says is of the present', () => {
    const children = childrenOf(aJobSet(), { 'set-leader-0': { conditions: [condition('Suspended')] } });
    const { suspend, status } = decideJobSet(aJobSet({ suspend: true }), children, NOW);
    expect(suspend.map(({ child }) => child.metadata.name)).toEqual(['set-workers-0', 'set-workers-1']);
    expect(conditionsIn(status)).toEqual([]);
  });

  test('a resumed JobSet says so, and a status that is as it should be is not written again', () => {
    const { status } = decideJobSet(aJobSet({}, { conditions: [condition('Suspended')] }), childrenOf(aJobSet()), NOW);
    expect(conditionsIn(status)).toEqual(['Suspended=False ResumeJobs']);
    expect(decideJobSet(aJobSet({}, status), childrenOf(aJobSet()), NOW + 60_000).status).toBeUndefined();
  });
});

describe('the end', () => {
  const complete = { succeeded: 1, conditions: [condition('Complete')] };

  test('counts say how many child Jobs run, are ready and have ended', () => {
    const children = childrenOf(aJobSet(), {
      'set-leader-0': complete,
      'set-workers-0': { active: 2, ready: 2 },
      'set-workers-1': { active: 2, ready: 1 },
    });
    expect(decideJobSet(aJobSet(), children, NOW).status?.replicatedJobsStatus).toEqual([
      { name: 'leader', active: 0, failed: 0, ready: 0, succeeded: 1, suspended: 0 },
      { name: 'workers', active: 2, failed: 0, ready: 1, succeeded: 0, suspended: 0 },
    ]);
  });

  test('all that complete complete it', () => {
    const children = childrenOf(aJobSet(), everyChild(complete));
    expect(decideJobSet(aJobSet(), children.slice(1), NOW).status?.terminalState).toBeUndefined();
    const { status } = decideJobSet(aJobSet(), children, NOW);
    expect([status?.terminalState, ...conditionsIn(status)]).toEqual(['Completed', 'Completed=True AllJobsCompleted']);
  });

  test('one that fails fails it, and those that still run are removed', () => {
    const children = childrenOf(aJobSet(), { 'set-leader-0': complete, 'set-workers-0': { failed: 1, conditions: [condition('Failed')] } });
    const { status } = decideJobSet(aJobSet(), children, NOW);
    expect([status?.terminalState, ...conditionsIn(status)]).toEqual(['Failed', 'Failed=True FailedJobs']);
    const next = decideJobSet(aJobSet({}, status), children, NOW);
    expect([namesOf(next.remove), next.create, next.status]).toEqual([['set-workers-1'], [], undefined]);
  });
});

test('a replicated job counts those of its Jobs that have pods, are ready, are suspended or have ended, each in its own way', () => {
  const of = (status: Job['status'], suspend = false) => {
    const jobSet = aJobSet({ suspend });
    return decideJobSet(jobSet, childrenOf(jobSet, { 'set-workers-0': status }), NOW).status?.replicatedJobsStatus?.[1];
  };
  const none = { name: 'workers', active: 0, failed: 0, ready: 0, succeeded: 0, suspended: 0 };
  expect(of({ active: 1 })).toEqual({ ...none, active: 1 });
  // Two pods of three at once are enough, where two are all.
  expect(of({ active: 2, ready: 1 })).toEqual({ ...none, active: 1 });
  expect(of({ active: 2, ready: 2 })).toEqual({ ...none, active: 1, ready: 1 });
  expect(of({ active: 1, ready: 1, succeeded: 1 })).toEqual({ ...none, active: 1, ready: 1 });
  expect(of({ active: 1, ready: 2, conditions: [condition('Complete')] })).toEqual({ ...none, succeeded: 1 });
  expect(of({ active: 1, ready: 2, conditions: [condition('Failed')] })).toEqual({ ...none, failed: 1 });
  expect(of({ active: 1 }, true)).toEqual({ ...none, active: 1, suspended: 2 });
  expect(of({ conditions: [condition('Complete')] }, true)).toEqual({ ...none, succeeded: 1, suspended: 1 });
});
