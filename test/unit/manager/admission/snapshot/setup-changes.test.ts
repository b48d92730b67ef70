import { describe, expect, test } from 'vitest';
import { changeOf, noChangedObjects, type ChangedObjects } from '../../../../../manager/admission/snapshot/setup-changes.ts';
import { buildQueueingSetup, type QueueingObjects } from '../../../../../manager/admission/snapshot/snapshot.ts';
import type { Cohort } from '../../../../../manager/api/cohort.ts';
import { aClusterQueue, aFlavor, objects } from '../setup.ts';

const meta = (name: string) => ({ name, uid: name, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' });
const localQueue = (name: string, clusterQueue: string) => ({ metadata: { ...meta(name), namespace: 'team' }, spec: { clusterQueue } });
const cohort = (name: string): Cohort => ({ metadata: meta(name), spec: {} });
const setup = (parts: Partial<QueueingObjects>) =>
  buildQueueingSetup(
    objects({
      clusterQueues: [
        aClusterQueue('a', { default: '1' }, { cohortName: 'all' }),
        aClusterQueue('b', { default: '1' }, { cohortName: 'all' }),
        aClusterQueue('alone', { spot: '1' }),
      ],
      localQueues: [localQueue('to-a', 'a'), localQueue('to-alone', 'alone')],
      cohorts: [cohort('all')],
      ...parts,
    }),
  );
const before = setup({});
const change = (changed: Partial<ChangedObjects>, parts: Partial<QueueingObjects> = {}) => {
  const { tried, requeued: rerouted } = changeOf({ ...noChangedObjects(), ...changed }, before, setup(parts));
  const concerns = (queue: string, namespace = 'team') => rerouted?.({ namespace, queue }) ?? false;
  return { tried: [...tried].toSorted(), concerns, isRerouted: rerouted !== undefined };
};

describe('a change of the queues', () => {
  test('of quota has those tried that share it, and nobody queued anew', () => {
    const clusterQueues = [
      aClusterQueue('a', { default: '5' }, { cohortName: 'all' }),
      aClusterQueue('b', { default: '1' }, { cohortName: 'all' }),
      aClusterQueue('alone', { spot: '1' }),
    ];
    const { tried, isRerouted } = change({ clusterQueues: new Set(['a']) }, { clusterQueues });
    expect([tried, isRerouted]).toEqual([['a', 'b'], false]);
  });

  test('of whether a queue admits is about the Jobs of that queue', () => {
    const clusterQueues = [
      aClusterQueue('a', { default: '1' }, { cohortName: 'all', stopPolicy: 'Hold' }),
      aClusterQueue('b', { default: '1' }, { cohortName: 'all' }),
      aClusterQueue('alone', { spot: '1' }),
    ];
    const { concerns } = change({ clusterQueues: new Set(['a']) }, { clusterQueues });
    expect(['to-a', 'to-alone', 'nowhere'].map((queue) => concerns(queue))).toEqual([true, false, false]);
  });

  test('of a LocalQueue or a namespace is about their Jobs', () => {
    expect(change({ localQueues: new Set(['team/to-a']) }).concerns('to-a')).toBe(true);
    expect(change({ localQueues: new Set(['team/to-a']) }).concerns('to-alone')).toBe(false);
    expect(change({ namespaces: new Set(['others']) }).concerns('to-a', 'others')).toBe(true);
  });

  test('of a flavor or cohort is about the queues that are built on it, and those that could not be', () => {
    expect(change({ resourceFlavors: new Set(['spot']) }).tried).toEqual(['alone']);
    const { tried, concerns } = change({ resourceFlavors: new Set(['default']) }, { resourceFlavors: [aFlavor('spot')] });
    expect([tried, concerns('to-a'), concerns('to-alone')]).toEqual([['a', 'b'], true, false]);
    expect(change({ cohorts: new Set(['all']) }).tried).toEqual(['a', 'b']);
  });
});
