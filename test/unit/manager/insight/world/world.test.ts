import { describe, expect, test } from 'vitest';
import { cacheOf, queueingOf, waitingByQueue, waitingIn, workloadsOf } from '../../../../../manager/insight/world/world.ts';
import type { World } from '../../../../../manager/insight/world/world.ts';
import { scheduleUntilIdle } from '../../../../../manager/insight/world/schedule-until-idle.ts';
import type { Workload } from '../../../../../manager/admission/workload/workload.ts';
import type { LocalQueue } from '../../../../../manager/api/local-queue.ts';
import { AS_WRITTEN } from '../../../../../manager/api/adjusted-pod.ts';
import type { Job } from '../../../../../shared/api/kubernetes.ts';
import { aCluster, aClusterQueue, aWorkload } from '../../admission/setup.ts';
import { aWorld, holding, NOW_MS } from '../explain/explained-world.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

const main = aClusterQueue('main', { default: '4' });

describe('a world', () => {
  test('counts who holds quota, and nobody who waits or has finished', () => {
    const world = aWorld(
      [main],
      [aCluster('eu')],
      [holding('a', '3'), aWorkload('b'), aWorkload('c', { cpu: '1' }, { phase: 'Finished' })],
    );
    expect([...cacheOf(world, queueingOf(world)).reservations()].map(({ workload }) => workload.name)).toEqual(['a']);
  });

  test('counts who waits for admission checks: his quota is reserved', () => {
    const reserved = { ...holding('a', '3'), phase: 'Reserved' as const };
    const world = aWorld([main], [aCluster('eu')], [reserved]);
    expect([...cacheOf(world, queueingOf(world)).reservations()].map(({ workload }) => workload.name)).toEqual(['a']);
  });

  test('has those that wait in the order of their queue: the older first', () => {
    const world = aWorld([main], [], [aWorkload('young', {}, { createdMs: 2 }), aWorkload('old', {}, { createdMs: 1 })]);
    const waiting = waitingByQueue(world, queueingOf(world)).get('main') ?? [];
    expect(waiting.map(({ queued }) => queued.workload.name)).toEqual(['old', 'young']);
  });

  test('has nobody wait in a queue who is held, or names a queue that there is not', () => {
    const world = aWorld([main], [], []);
    const queueing = queueingOf(world);
    expect(waitingIn(world, queueing)(aWorkload('a', {}, { hold: true }), 0)).toMatchObject({ reason: 'Held' });
    expect(waitingIn(world, queueing)(aWorkload('a', {}, { queue: 'other' }), 0)).toMatchObject({ reason: 'LocalQueueNotFound' });
  });

  test('has nobody of a namespace wait in a queue while something runs there that nobody can charge', () => {
    const lost = aWorkload('lost', {}, { phase: 'Evicting', unaccounted: true });
    const world = aWorld([main], [], [lost, aWorkload('a')]);
    expect(waitingIn(world, queueingOf(world))(aWorkload('a'), 0)).toMatchObject({ reason: 'NamespaceUnaccounted' });
    expect(waitingByQueue(world, queueingOf(world)).size).toBe(0);
    expect(waitingIn({ ...world, workloads: [] }, queueingOf(world))(aWorkload('a'), 0)).toMatchObject({ clusterQueue: 'main' });
  });

  describe('in which usage orders LocalQueues', () => {
    const shared = aClusterQueue('main', { default: '4' }, { admissionScope: { admissionMode: 'UsageBasedAdmissionFairSharing' } });
    const localQueue = (name: string, cpu?: string): LocalQueue => ({
      metadata: { name, namespace: 'team', uid: name, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
      spec: { clusterQueue: 'main' },
      ...(cpu === undefined
        ? {}
        : {
            status: {
              fairSharing: {
                admissionFairSharingStatus: { consumedResources: { cpu }, lastUpdate: new Date(NOW_MS).toISOString() },
              },
            },
          }),
    });
    const policy = { halfLifeMs: 3_600_000, samplingIntervalMs: 60_000, resourceWeights: new Map() };
    const world = (workloads: readonly Workload[], localQueues: readonly LocalQueue[]): World => ({
      ...aWorld([shared], [aCluster('eu')], workloads, { localQueues }),
      admissionFairSharing: policy,
    });
    const busy = aWorkload('of-busy', { cpu: '4' }, { queue: 'busy', createdMs: 1 });
    const idle = aWorkload('of-idle', { cpu: '4' }, { queue: 'idle', createdMs: 2 });
    const orderIn = (each: World) =>
      waitingByQueue(each, queueingOf(each))
        .get('main')
        ?.map(({ queued }) => queued.workload.name);

    test('the one of the LocalQueue that has used less goes first, as its status says', () => {
      const each = world([busy, idle], [localQueue('busy', '9'), localQueue('idle', '1')]);
      expect(orderIn(each)).toEqual(['of-idle', 'of-busy']);
      expect(scheduleUntilIdle(each).get('team/of-idle')).toMatchObject({ kind: 'Admit' });
      expect(scheduleUntilIdle(each).get('team/of-busy')).toMatchObject({ kind: 'Inadmissible' });
    });

    test('and what Jobs have used counts that hold something', () => {
      const runs = { ...holding('runs', '1'), queue: 'busy' };
      expect(orderIn(world([runs, busy, idle], [localQueue('busy'), localQueue('idle')]))).toEqual(['of-idle', 'of-busy']);
    });

    test('where the manager has no such flag, the older goes first', () => {
      const { admissionFairSharing: _, ...each } = world([busy, idle], [localQueue('busy', '9'), localQueue('idle', '1')]);
      expect(orderIn(each)).toEqual(['of-busy', 'of-idle']);
      expect(scheduleUntilIdle(each).get('team/of-busy')).toMatchObject({ kind: 'Admit' });
    });
  });

  test('is made of the Jobs of this manager, the first created first', () => {
    const job = (name: string, creationTimestamp: string, managedBy?: string): Job =>
      ({
        metadata: { name, namespace: 'team', uid: name, resourceVersion: '1', creationTimestamp },
        spec: { suspend: true, template: { spec: { containers: [] } }, ...(managedBy === undefined ? {} : { managedBy }) },
      }) as unknown as Job;
    const ours = 'switchyard.dev/manager';
    const jobs = [job('b', '2026-01-02T00:00:00Z', ours), job('x', '2026-01-01T00:00:00Z'), job('a', '2026-01-01T00:00:00Z', ours)];
    expect(workloadsOf(JOB_KIND, jobs, AS_WRITTEN).map(({ name }) => name)).toEqual(['a', 'b']);
  });
});
