/** What the events of Jobs leave in the worker's memory. */
import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import type { Job, Pod } from '../../../../shared/api/kubernetes.ts';
import type { Informer } from '../../../../shared/kube/informer.ts';
import { createObjectCache } from '../../../../shared/kube/indexer.ts';
import { createWorkqueue } from '../../../../shared/kube/workqueue.ts';
import { createJobMemory } from '../../../../worker/job/job-memory.ts';
import { createJobMetrics } from '../../../../worker/job/metrics.ts';
import { formatOrphanKey, orphanKeyOfJob } from '../../../../worker/job/orphan-pods.ts';
import { jobTriggers, podTriggers } from '../../../../worker/job/triggers.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { aJob, aPod, condition } from './situation.ts';

test('a Job that is gone is forgotten altogether, and only it', () => {
  const clock = new FakeClock();
  const memory = createJobMemory(clock, () => '1');
  const queueNamed = (name: string) => createWorkqueue({ name, clock, rateLimit: { baseDelayMs: 10, maxDelayMs: 1000 } });
  const { deleted } = jobTriggers({
    // Not asked: the event carries the Job.
    jobs: undefined as unknown as Informer<Job>,
    queue: queueNamed('jobs'),
    orphanQueue: queueNamed('orphans'),
    memory,
    metrics: createJobMetrics(new Registry()),
    clock,
    controllerName: 'kubernetes.io/job-controller',
    batchPeriodMs: 1_000,
  });
  for (const uid of ['goes', 'stays']) {
    memory.rememberBackoff(uid, { failuresAfterLastSuccess: 2, lastFailureMs: 1 });
    memory.expectations.expectCreations(uid, 1);
    memory.finalizerExpectations.expectRemoval(uid, ['pod']);
    memory.written.record(uid, 'pods', '100');
    for (const set of [memory.finished, memory.delegated, memory.surveyed]) set.add(uid);
  }
  const known = (uid: string): unknown[] => [
    memory.backoff(uid).failuresAfterLastSuccess,
    memory.expectations.satisfied(uid),
    memory.finalizerExpectations.pending(uid).size,
    memory.written.behind({ uid, namespace: 'ns' }),
    ...[memory.finished, memory.delegated, memory.surveyed].map((set) => set.has(uid)),
  ];
  deleted?.(aJob({}, {}, { uid: 'goes' }), false);
  expect(known('goes')).toEqual([0, true, 0, [], false, false, false]);
  expect(known('stays')).toEqual([2, false, 1, ['pods'], true, true, true]);
});

function triggered(job: Job) {
  const clock = new FakeClock();
  const jobs = createObjectCache<Job>();
  jobs.set(job);
  const queueNamed = (name: string) => createWorkqueue({ name, clock, rateLimit: { baseDelayMs: 10, maxDelayMs: 1000 } });
  const [queue, orphanQueue] = [queueNamed('jobs'), queueNamed('orphans')];
  const deps = {
    jobs: jobs as unknown as Informer<Job>,
    queue,
    orphanQueue,
    memory: createJobMemory(clock, () => '1'),
    metrics: createJobMetrics(new Registry()),
    clock,
    controllerName: 'kubernetes.io/job-controller',
    batchPeriodMs: 1_000,
  };
  return { clock, queue, orphanQueue, ofJobs: jobTriggers(deps), ofPods: podTriggers(deps) };
}

describe('of a finished Job', () => {
  const finished = aJob({}, { succeeded: 1, conditions: [condition('Complete', 'CompletionsReached', 'done')] });

  test('a pod that goes is left to those who let orphans go, and the Job is not synced for it', async () => {
    const { clock, queue, orphanQueue, ofPods } = triggered(finished);
    ofPods.updated?.(aPod({ name: 'late', phase: 'Running', deleting: true }), aPod({ name: 'late', phase: 'Running' }));
    await clock.advance(2_000);
    expect([queue.length(), orphanQueue.length()]).toEqual([0, 1]);
    expect(await orphanQueue.get()).toBe(formatOrphanKey({ kind: 'pod', namespace: 'ns', name: 'late' }));
  });

  test('the end has its late pods let go of, and no further sync', async () => {
    const { clock, queue, orphanQueue, ofJobs } = triggered(finished);
    ofJobs.updated?.(finished, aJob());
    await clock.advance(2_000);
    expect([queue.length(), orphanQueue.length()]).toEqual([0, 1]);
    expect(await orphanQueue.get()).toBe(orphanKeyOfJob(finished, false));
  });
});

describe('a pod without an owner', () => {
  const stray = (labels: Record<string, string>, phase = 'Running'): Pod => {
    const { metadata, ...rest } = aPod({ name: 'stray', phase, labels });
    const { ownerReferences: _none, ...unowned } = metadata;
    return { ...rest, metadata: unowned };
  };

  test('wakes the Job whose selector its new labels match', async () => {
    const { clock, queue, ofPods } = triggered(aJob());
    ofPods.updated?.(stray({ job: 'job-uid' }), stray({ job: 'another' }));
    await clock.advance(2_000);
    expect(queue.length()).toBe(1);
    expect(await queue.get()).toBe('ns/job');
  });

  test('wakes no Job while its labels stay as they are', async () => {
    const { clock, queue, ofPods } = triggered(aJob());
    ofPods.updated?.(stray({ job: 'job-uid' }, 'Running'), stray({ job: 'job-uid' }, 'Pending'));
    await clock.advance(2_000);
    expect(queue.length()).toBe(0);
  });
});
