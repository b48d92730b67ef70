import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { createAdmissionCache } from '../../../../../manager/admission/cache/admission-cache.ts';
import { createAdmissionRetries } from '../../../../../manager/admission/snapshot/admission-retries.ts';
import { createJobWatcher } from '../../../../../manager/admission/controllers/job-watcher.ts';
import { EVERYTHING_MAY_FIT, type CapacityBounds } from '../../../../../manager/admission/scheduling/capacity-bounds.ts';
import { NO_PRIORITY_CLASSES } from '../../../../../manager/admission/workload/priority.ts';
import { createPendingQueues } from '../../../../../manager/admission/queues/pending-queues.ts';
import { buildQueueingSetup } from '../../../../../manager/admission/snapshot/snapshot.ts';
import { workloadOf } from '../../../../../manager/admission/workload/workload.ts';
import { createRecordKeeper } from '../../../../../manager/api/record-keeper.ts';
import { createManagerMetrics } from '../../../../../manager/metrics/metrics.ts';
import { nowhereMessage } from '../../../../../manager/api/rest-proof.ts';
import { COPIES_FINALIZER } from '../../../../../shared/api/names.ts';
import { omitUndefined } from '../../../../../shared/runtime/omit-undefined.ts';
import type { Job } from '../../../../../shared/api/kubernetes.ts';
import {
  aCondition,
  aHomeJob,
  anAdmittedJob,
  aRecord,
  recordOn,
  restingAfter,
  TEST_RECORD_KEYS,
  type JobParts,
} from '../../../../support/jobs.ts';
import { aClusterQueue, objects } from '../setup.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

/** All ClusterQueues are of one cohort. */
const sharing: CapacityBounds = { ...EVERYTHING_MAY_FIT, rootOf: () => 'Cohort/all' };

const localQueue = {
  metadata: { name: 'main', namespace: 'team', uid: 'lq', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { clusterQueue: 'cq' },
};
const setup = (...names: string[]) =>
  buildQueueingSetup(
    objects({
      localQueues: [localQueue],
      clusterQueues: names.map((name) => aClusterQueue(name, { default: '9' }, { cohortName: 'all' })),
    }),
  );

function aWatcher(...names: string[]) {
  const registry = new Registry();
  const cache = createAdmissionCache(setup(...names));
  const queues = createPendingQueues();
  const retries = createAdmissionRetries();
  const wakes = { count: 0 };
  const watcher = createJobWatcher({
    kind: JOB_KIND,
    cache,
    queues,
    retries,
    readRecord: createRecordKeeper(TEST_RECORD_KEYS, JOB_KIND).read,
    priorityClasses: () => NO_PRIORITY_CLASSES,
    metrics: createManagerMetrics(registry).admission,
    now: () => Date.parse('2026-01-01T00:01:00Z'),
    wakeScheduler: () => wakes.count++,
  });
  /** As the scheduler finds them: nothing is left to be done before. */
  const heads = (): string[] => {
    watcher.continueVisits(() => false);
    return queues.heads(sharing).map(({ queued }) => queued.workload.name);
  };
  const held = (): string[] => [...cache.reservations()].map(({ workload }) => workload.name);
  return { registry, cache, queues, retries, wakes, watcher, heads, held };
}

const named = (name: string, parts: JobParts = {}): JobParts => ({ ...parts, metadata: { name, uid: `uid-${name}`, ...parts.metadata } });
const pending = (name: string, parts: JobParts = {}): Job => aHomeJob(named(name, parts));
const admitted = (name: string, parts: JobParts = {}): Job => anAdmittedJob(named(name, parts));
const startedAt = '2026-01-01T00:00:00Z';
const evicting = (name: string): Job => admitted(name, { spec: { suspend: true }, status: { startTime: startedAt, active: 1 } });
const finished = (name: string): Job => admitted(name, { status: { conditions: [aCondition('Complete')] } });

/** Decides as the scheduler does: assumes the Job as it is, and takes it out of the queues. */
function assume({ cache, queues }: ReturnType<typeof aWatcher>, job: Job): void {
  const workload = workloadOf(JOB_KIND, job, recordOn(job));
  if (workload === undefined) throw new Error('not a Job of the manager');
  queues.delete(workload.key);
  cache.assume(workload, aRecord());
}

describe('a Job whose record was taken off while no manager ran', () => {
  const lost = (parts: JobParts = {}): Job =>
    pending('lost', { ...parts, metadata: { finalizers: [COPIES_FINALIZER], ...parts.metadata } });
  const proven = (job: Job): Job => {
    const conditions = [
      { ...aCondition('Dispatched'), status: 'False', reason: 'AtRest', message: nowhereMessage(job.metadata.generation) },
    ];
    return { ...job, status: { conditions } };
  };
  test.each<[string, Job]>([
    ['runs', lost({ spec: { suspend: false } })],
    ['is suspended', lost()],
    ['is deleted', lost({ spec: { suspend: false }, metadata: { deletionTimestamp: startedAt } })],
  ])('and that %s keeps its namespace from admitting until nothing runs of it', (_how, job) => {
    const world = aWatcher('cq');
    world.watcher.added(pending('a'));
    world.watcher.added(job);
    world.watcher.added(pending('b'));
    expect(world.heads()).toEqual([]);
    expect(world.watcher.inadmissibleReasonOf('team/a')?.reason).toBe('NamespaceUnaccounted');
    world.watcher.deleted(job);
    expect(world.heads()).toEqual(['a']);
    expect(world.watcher.inadmissibleReasonOf('team/a')).toBeUndefined();
  });

  test('waits like any other, and the others with it, once that is proven', () => {
    const world = aWatcher('cq');
    world.watcher.added(lost());
    world.watcher.added(pending('a'));
    expect(world.heads()).toEqual([]);
    world.watcher.updated(proven(lost()));
    world.watcher.continueVisits(() => false);
    expect([...world.watcher.pending()].map(({ key }) => world.queues.has(key))).toEqual([true, true]);
  });
});

describe('a Job', () => {
  test('that waits is queued, and wakes the scheduler', () => {
    const world = aWatcher('cq');
    world.watcher.added(pending('a'));
    expect(world.heads()).toEqual(['a']);
    expect(world.wakes.count).toBe(1);
    expect([...world.watcher.pending()].map(({ name }) => name)).toEqual(['a']);
    expect([...world.watcher.waiting()]).toEqual(['team/a']);
    expect(world.watcher.inadmissibleReasonOf('team/a')).toBeUndefined();
  });

  test('of somebody else is nothing to it', () => {
    const world = aWatcher('cq');
    world.watcher.added(pending('a', { spec: { managedBy: 'example.com/other' } }));
    expect([...world.watcher.waiting(), ...world.heads()]).toEqual([]);
    expect(world.wakes.count).toBe(0);
  });

  test('whose queue cannot take it waits outside, with the reason, until the queues are set up anew', () => {
    const world = aWatcher();
    world.watcher.added(pending('a'));
    expect(world.heads()).toEqual([]);
    expect(world.watcher.inadmissibleReasonOf('team/a')?.reason).toBe('ClusterQueueNotFound');
    world.cache.setQueueing(setup('cq'));
    world.watcher.requeue();
    world.watcher.continueVisits(() => false);
    expect(world.heads()).toEqual(['a']);
    expect(world.watcher.inadmissibleReasonOf('team/a')).toBeUndefined();
    world.cache.setQueueing(setup());
    world.watcher.requeue();
    world.watcher.continueVisits(() => false);
    expect(world.heads()).toEqual([]);
    expect(world.watcher.inadmissibleReasonOf('team/a')?.reason).toBe('ClusterQueueNotFound');
  });

  test('that carries a record holds quota and waits no more, also after a restart', () => {
    const world = aWatcher('cq');
    world.watcher.added(pending('a'));
    world.watcher.updated(admitted('a'));
    world.watcher.added(admitted('b'));
    expect(world.held()).toEqual(['a', 'b']);
    expect([...world.watcher.waiting(), ...world.heads()]).toEqual([]);
  });

  test('that is being evicted holds quota and says that it waits for it', () => {
    const world = aWatcher('cq');
    world.watcher.added(evicting('a'));
    expect(world.held()).toEqual(['a']);
    expect([...world.watcher.waiting()]).toEqual(['team/a']);
    expect(world.watcher.inadmissibleReasonOf('team/a')?.reason).toBe('Evicted');
    expect([...world.watcher.pending()]).toEqual([]);
  });

  test('that was evicted keeps its place among equals', () => {
    const world = aWatcher('cq');
    world.watcher.added(pending('first'));
    world.watcher.added(pending('second'));
    world.watcher.updated(admitted('first'));
    world.watcher.updated(pending('first', { metadata: { resourceVersion: '12' }, status: { conditions: [restingAfter()] } }));
    expect(world.heads()).toEqual(['first']);
    expect(world.held()).toEqual([]);
  });

  test('that is deleted and created anew stands last', () => {
    const world = aWatcher('cq');
    world.watcher.added(pending('first'));
    world.watcher.added(pending('second'));
    world.watcher.deleted(pending('first'));
    world.watcher.added(pending('first'));
    expect(world.heads()).toEqual(['second']);
  });

  test('that has finished, and is made anew before its deletion is seen, stands last', () => {
    const world = aWatcher('cq');
    world.watcher.added(admitted('first'));
    world.watcher.added(pending('second'));
    world.watcher.updated(finished('first'));
    world.watcher.updated(pending('first', { metadata: { uid: 'another', resourceVersion: '12' } }));
    expect(world.heads()).toEqual(['second']);
  });

  test('that has finished gives its quota back and is counted once', async () => {
    const world = aWatcher('cq');
    world.watcher.added(admitted('a'));
    world.watcher.updated(finished('a'));
    world.watcher.updated(finished('a'));
    expect(world.held()).toEqual([]);
    const lines = (await world.registry.metrics()).split('\n').filter((line) => line.startsWith('switchyard_finished_workloads_total{'));
    expect(lines).toEqual(['switchyard_finished_workloads_total{cluster_queue="cq",result="Complete",kind="Job"} 1']);
  });
});

describe('a Job without a good record', () => {
  /** The record of another Job. */
  const copied = (name: string, parts: JobParts = {}): Job => {
    const { annotations } = admitted('victim').metadata;
    return pending(name, { ...parts, metadata: { resourceVersion: '20', ...omitUndefined({ annotations }), ...parts.metadata } });
  };
  const toCorrect = ({ watcher }: ReturnType<typeof aWatcher>) => [...watcher.toCorrect()].map(({ name, phase }) => `${name} ${phase}`);
  const counted = async ({ registry }: ReturnType<typeof aWatcher>) =>
    (await registry.metrics()).split('\n').filter((line) => /^switchyard_untrusted_\w+{.* [1-9]/.test(line));

  test('that is released is to be suspended, holds nothing and says why', async () => {
    const world = aWatcher('cq');
    world.watcher.added(copied('a', { spec: { suspend: false } }));
    expect(toCorrect(world)).toEqual(['a Unrecorded']);
    expect([...world.held(), ...world.heads()]).toEqual([]);
    expect(world.watcher.inadmissibleReasonOf('team/a')).toEqual({
      reason: 'RecordNotTrusted',
      message:
        'annotation switchyard.dev/admission was not written by this manager for this Job; it waits until nothing of it runs any more',
    });
    expect(await counted(world)).toEqual([
      'switchyard_untrusted_records_total{reason="Forged"} 1',
      'switchyard_untrusted_jobs{reason="Forged"} 1',
    ]);
  });

  test('holds what its last good record said, until nothing of it runs', () => {
    const world = aWatcher('cq');
    world.watcher.added(admitted('a'));
    world.watcher.updated(pending('a', { metadata: { resourceVersion: '11' }, spec: { suspend: false } }));
    expect([world.held(), toCorrect(world)]).toEqual([['a'], ['a Unrecorded']]);
    world.watcher.updated(pending('a', { metadata: { resourceVersion: '12' }, status: { active: 1, startTime: startedAt } }));
    expect([world.held(), toCorrect(world), world.heads()]).toEqual([['a'], ['a Evicting'], []]);
    world.watcher.updated(pending('a', { metadata: { resourceVersion: '13' }, status: { conditions: [restingAfter()] } }));
    expect([world.held(), world.heads()]).toEqual([[], ['a']]);
  });

  test('that waits is queued as any other, and counted while it carries what it carries', async () => {
    const world = aWatcher('cq');
    world.watcher.added(copied('a'));
    world.watcher.updated(copied('a', { metadata: { resourceVersion: '21' } }));
    expect(world.heads()).toEqual(['a']);
    expect(await counted(world)).toEqual([
      'switchyard_untrusted_records_total{reason="Forged"} 1',
      'switchyard_untrusted_jobs{reason="Forged"} 1',
    ]);
    world.watcher.deleted(copied('a'));
    expect(await counted(world)).toEqual(['switchyard_untrusted_records_total{reason="Forged"} 1']);
  });

  test('and without a queue is told of both', () => {
    const world = aWatcher('cq');
    world.watcher.added(copied('a', { metadata: { labels: {} } }));
    expect(world.watcher.inadmissibleReasonOf('team/a')?.message).toBe(
      'the Job names no local queue; set its label switchyard.dev/queue-name; annotation switchyard.dev/admission was not written by this manager for this Job',
    );
  });

  test('and without any trace of one, but with pods that may run, waits for them', () => {
    const world = aWatcher('cq');
    world.watcher.added(pending('a', { status: { active: 1 } }));
    expect([world.held(), world.heads()]).toEqual([[], []]);
    expect(world.watcher.inadmissibleReasonOf('team/a')?.reason).toBe('RecordNotTrusted');
  });
});

describe('a Job that somebody suspends after admission', () => {
  test('holds what it held until its record says that it is suspended', () => {
    const world = aWatcher('cq');
    const resting = { spec: { suspend: true }, status: { conditions: [restingAfter()] } };
    world.watcher.added(admitted('a'));
    world.watcher.updated(admitted('a', { ...resting, metadata: { resourceVersion: '11' } }));
    expect([world.held(), [...world.watcher.toCorrect()].map(({ unmarked }) => unmarked)]).toEqual([['a'], [true]]);
    world.watcher.updated(anAdmittedJob(named('a', { ...resting, metadata: { resourceVersion: '12' } }), { evicted: true }));
    expect([world.held(), [...world.watcher.toCorrect()], world.heads()]).toEqual([[], [], ['a']]);
  });

  test('and lets go again himself is to be suspended once its record says that it was', () => {
    const world = aWatcher('cq');
    world.watcher.added(anAdmittedJob(named('a'), { evicted: true }));
    expect([...world.watcher.toCorrect()].map(({ phase, untrusted }) => [phase, untrusted?.problem])).toEqual([
      ['Unrecorded', 'spec.suspend was set to false, which is for the manager to do when the Job is admitted'],
    ]);
  });
});

describe('freed quota', () => {
  const blockedBy = (holder: Job) => {
    const world = aWatcher('cq', 'other');
    world.watcher.added(holder);
    world.watcher.added(pending('waiter'));
    const [first] = world.queues.heads(sharing);
    if (first === undefined) throw new Error('nobody waits');
    world.queues.markInadmissible(first, { reason: 'InsufficientQuota', message: 'short', waitsFor: 'quota' });
    expect(world.heads()).toEqual([]);
    return world;
  };

  test.each<[string, Job, (world: ReturnType<typeof aWatcher>) => void]>([
    ['finishes', admitted('a'), ({ watcher }) => watcher.updated(finished('a'))],
    ['is deleted', admitted('a'), ({ watcher }) => watcher.deleted(admitted('a'))],
    [
      'holds less',
      admitted('a', { spec: { parallelism: 3, completions: 3 } }),
      ({ watcher }) => watcher.updated(admitted('a', { spec: { parallelism: 1, completions: 3 } })),
    ],
    ['is placed elsewhere', admitted('a'), ({ watcher }) => watcher.updated(anAdmittedJob(named('a'), { clusterQueue: 'other' }))],
    [
      'is suspended and nothing of it runs any more',
      evicting('a'),
      ({ watcher }) =>
        watcher.updated(anAdmittedJob(named('a', { metadata: { resourceVersion: '12' }, spec: { suspend: true } }), { evicted: true })),
    ],
  ])('of a Job that %s lets those that wait be tried again', (_what, holder, change) => {
    const world = blockedBy(holder);
    change(world);
    expect(world.heads()).toContain('waiter');
  });

  test('is not there while a Job only tells of its progress', () => {
    const world = blockedBy(admitted('a'));
    world.watcher.updated(admitted('a', { status: { startTime: startedAt, active: 1 } }));
    expect(world.heads()).toEqual([]);
  });
});

describe('an admission that is being written', () => {
  test('stands while the Job is seen as it was decided on', () => {
    const world = aWatcher('cq');
    const job = pending('a');
    world.watcher.added(job);
    assume(world, job);
    world.watcher.updated(job);
    expect(world.held()).toEqual(['a']);
    expect(world.heads()).toEqual([]);
  });

  test.each<[string, JobParts]>([
    ['has moved on without the record', { metadata: { resourceVersion: '11' } }],
    ['was deleted and created anew', { metadata: { uid: 'another', resourceVersion: '11' } }],
  ])('is dropped when the Job %s', (_what, change) => {
    const world = aWatcher('cq');
    world.watcher.added(pending('a'));
    assume(world, pending('a'));
    world.watcher.updated(pending('a', change));
    expect(world.held()).toEqual([]);
    expect(world.heads()).toEqual(['a']);
  });

  test('and is given up leaves the Job waiting with the reason, until it is retried', () => {
    const world = aWatcher('cq');
    world.watcher.added(pending('a'));
    assume(world, pending('a'));
    const reservation = world.cache.get('team/a');
    if (reservation === undefined) throw new Error('not assumed');
    world.watcher.giveUp(reservation, { reason: 'InvalidJob', message: 'refused' });
    expect(world.held()).toEqual([]);
    expect(world.heads()).toEqual([]);
    expect(world.watcher.inadmissibleReasonOf('team/a')).toEqual({ reason: 'InvalidJob', message: 'refused' });
    world.watcher.retry('team/a');
    expect(world.heads()).toEqual(['a']);
    expect(world.watcher.inadmissibleReasonOf('team/a')).toBeUndefined();
  });

  test('and failed is not queued again before its next try is due, though the Job changes', () => {
    const world = aWatcher('cq');
    world.watcher.added(pending('a'));
    assume(world, pending('a'));
    const reason = { reason: 'AdmissionRefused', message: 'too large' } as const;
    world.retries.failed('team/a', 0, reason);
    world.watcher.updated(pending('a', { metadata: { resourceVersion: '11' } }));
    world.watcher.requeue();
    world.watcher.continueVisits(() => false);
    expect(world.held()).toEqual([]);
    expect(world.heads()).toEqual([]);
    expect(world.watcher.inadmissibleReasonOf('team/a')).toEqual(reason);
    expect(world.retries.takeDue(500)).toBe('team/a');
    world.watcher.retry('team/a');
    expect(world.heads()).toEqual(['a']);
  });

  test('and failed is tried as if for the first time once the Job is made anew', () => {
    const world = aWatcher('cq');
    world.watcher.added(pending('a'));
    world.retries.failed('team/a', 0, { reason: 'AdmissionRefused', message: 'too large' });
    world.watcher.deleted(pending('a'));
    world.watcher.added(pending('a'));
    expect(world.heads()).toEqual(['a']);
    expect(world.retries.failuresOf('team/a')).toBe(0);
  });

  test('is not given up for one that has taken its place', () => {
    const world = aWatcher('cq');
    assume(world, pending('a'));
    const outdated = world.cache.get('team/a');
    if (outdated === undefined) throw new Error('not assumed');
    world.watcher.added(admitted('a'));
    world.watcher.giveUp(outdated, { reason: 'InvalidJob', message: 'refused' });
    expect(world.held()).toEqual(['a']);
    expect([...world.watcher.waiting()]).toEqual([]);
  });

  test('is not queued again when the queues are set up anew, or when somebody retries it', () => {
    const world = aWatcher('cq');
    world.watcher.added(pending('a'));
    assume(world, pending('a'));
    world.watcher.requeue();
    world.watcher.continueVisits(() => false);
    world.watcher.retry('team/a');
    world.watcher.retry('team/unknown');
    expect(world.heads()).toEqual([]);
  });
});
