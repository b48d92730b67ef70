import { describe, expect, test } from 'vitest';
import type { Deployment, ReplicaSet } from '../../../../../../shared/api/kubernetes.ts';
import { limitsOf, planRollout } from '../../../../../../shared/controlplane/controllers/deployment/plan-rollout.ts';

const metadata = { namespace: 'ns', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
const aDeployment = (spec: object): Deployment => ({
  metadata: { ...metadata, name: 'web' },
  spec: { replicas: 4, ...spec } as Deployment['spec'],
});
const aSet = (name: string, replicas: number, availableReplicas = replicas, desired = '4'): ReplicaSet => ({
  metadata: { ...metadata, name, annotations: { 'deployment.kubernetes.io/desired-replicas': desired } },
  spec: { replicas, selector: {} },
  status: { replicas, availableReplicas },
});
const rolling = (maxSurge: number | string, maxUnavailable: number | string) => ({
  strategy: { rollingUpdate: { maxSurge, maxUnavailable } },
});
const plan = (spec: object, current: ReplicaSet | undefined, old: ReplicaSet[], oldPods = 0): Record<string, number> =>
  Object.fromEntries(
    planRollout({ deployment: aDeployment(spec), current, old, oldPods }).map(({ replicaSet, replicas }) => [
      replicaSet.metadata.name,
      replicas,
    ]),
  );

describe('a rolling update', () => {
  test('makes no more new pods than the surge allows', () => {
    expect(plan(rolling(1, 0), aSet('new', 0), [aSet('old', 4)])).toEqual({ new: 1 });
  });
  test('spares no available pod beyond the limit', () => {
    expect(plan(rolling(1, 0), aSet('new', 1, 0), [aSet('old', 4)])).toEqual({});
    expect(plan(rolling(1, 0), aSet('new', 1), [aSet('old', 4)])).toEqual({ old: 3 });
  });
  test('takes old pods that are not available first, from whichever set', () => {
    expect(plan(rolling(0, 1), aSet('new', 1, 1), [aSet('first', 2, 2), aSet('second', 1, 0)])).toEqual({ second: 0 });
  });
});

test('a Deployment that recreates waits for the last old pod', () => {
  const recreate = { strategy: { type: 'Recreate' } };
  expect(plan(recreate, aSet('new', 0), [aSet('old', 4)], 4)).toEqual({ old: 0 });
  expect(plan(recreate, aSet('new', 0), [aSet('old', 0)], 1)).toEqual({});
  expect(plan(recreate, aSet('new', 0), [aSet('old', 0)])).toEqual({ new: 4 });
});

test('a Deployment that is scaled scales the only set that has pods, paused or not', () => {
  expect(plan({ replicas: 2 }, aSet('new', 4), [aSet('old', 0)])).toEqual({ new: 2 });
  expect(plan({ replicas: 6, paused: true }, undefined, [aSet('old', 4)])).toEqual({ old: 6 });
});

test('percentages of the surge are rounded up, of the unavailable down, and both are never nothing', () => {
  expect(limitsOf(aDeployment({ replicas: 3 }))).toEqual({ surge: 1, unavailable: 0 });
  expect(limitsOf(aDeployment({ replicas: 10, ...rolling('25%', '25%') }))).toEqual({ surge: 3, unavailable: 2 });
  expect(limitsOf(aDeployment({ replicas: 3, ...rolling(0, '10%') }))).toEqual({ surge: 0, unavailable: 1 });
});
