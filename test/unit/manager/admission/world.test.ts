import { describe, expect, test } from 'vitest';
import { cacheOf, queueingOf, waitingByQueue, waitingIn, workloadsOf } from '../../../../manager/admission/world.ts';
import { AS_WRITTEN } from '../../../../manager/api/adjusted-pod.ts';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import { aCluster, aClusterQueue, aWorkload } from './setup.ts';
import { aWorld, holding } from './explained-world.ts';

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
    expect(waitingIn(world, queueing, aWorkload('a', {}, { hold: true }), 0)).toMatchObject({ reason: 'Held' });
    expect(waitingIn(world, queueing, aWorkload('a', {}, { queue: 'other' }), 0)).toMatchObject({ reason: 'LocalQueueNotFound' });
  });

  test('is made of the Jobs of this manager, the first created first', () => {
    const job = (name: string, creationTimestamp: string, managedBy?: string): Job =>
      ({
        metadata: { name, namespace: 'team', uid: name, resourceVersion: '1', creationTimestamp },
        spec: { suspend: true, template: { spec: { containers: [] } }, ...(managedBy === undefined ? {} : { managedBy }) },
      }) as unknown as Job;
    const ours = 'switchyard.dev/manager';
    const jobs = [job('b', '2026-01-02T00:00:00Z', ours), job('x', '2026-01-01T00:00:00Z'), job('a', '2026-01-01T00:00:00Z', ours)];
    expect(workloadsOf(jobs, AS_WRITTEN).map(({ name }) => name)).toEqual(['a', 'b']);
  });
});
