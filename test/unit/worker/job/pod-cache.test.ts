import { describe, expect, test } from 'vitest';
import type { Pod } from '../../../../shared/api/kubernetes.ts';
import { createObjectCache } from '../../../../shared/kube/indexer.ts';
import {
  createPodTrimmer,
  ownerlessPods,
  podIndexers,
  countedFailedPods,
  countedPods,
  uncountedPods,
} from '../../../../worker/job/pod-cache.ts';
import { aPod, decideOn, indexedJob } from './situation.ts';

const names = (pods: readonly { readonly metadata: { readonly name: string } }[]): string[] => pods.map(({ metadata }) => metadata.name);
const job = { namespace: 'ns', name: 'job', uid: 'job-uid' };

describe('finding pods', () => {
  test('settled pods stand apart from those that are still to be looked after', () => {
    const cache = createObjectCache<Pod>(podIndexers);
    const ownerless = aPod({ name: 'ownerless' });
    delete ownerless.metadata.ownerReferences;
    const ended = aPod({ name: 'ended', phase: 'Succeeded' });
    for (const pod of [
      aPod({ name: 'runs', tracked: false }),
      ended,
      aPod({ name: 'counted', phase: 'Failed', tracked: false }),
      ownerless,
    ])
      cache.set(pod);
    expect(names(uncountedPods(cache, job))).toEqual(['runs', 'ended']);
    expect(names(countedPods(cache, job))).toEqual(['counted']);
    expect(names(ownerlessPods(cache, 'ns'))).toEqual(['ownerless']);
    cache.set({ ...ended, metadata: { ...ended.metadata, finalizers: [] } });
    expect(names(countedPods(cache, job))).toEqual(['counted', 'ended']);
    expect(names(countedFailedPods(cache, job))).toEqual(['counted']);
  });

  test('pods of another UID, name or kind are not found', () => {
    const cache = createObjectCache<Pod>(podIndexers);
    cache.set(aPod());
    expect(uncountedPods(cache, { ...job, uid: 'other' })).toEqual([]);
    expect(uncountedPods(cache, { ...job, name: 'other' })).toEqual([]);
    expect(uncountedPods(cache, { ...job, namespace: 'other' })).toEqual([]);
  });
});

test('a trimmed pod leads to the same decisions', () => {
  const sidecar = { name: 'side', image: 'i', restartPolicy: 'Always' };
  const full = [
    aPod({ index: 0, phase: 'Failed', failures: 1, ignored: 1, exitCode: 3 }),
    aPod({ index: 1, phase: 'Running', ready: true, restarts: 2, deleting: true }),
    aPod({ index: 2, phase: 'Running', ready: true, bound: false }),
  ].map((pod) => ({ ...pod, spec: { ...pod.spec, initContainers: [sidecar] } }));
  const withoutPods = (decision: ReturnType<typeof decideOn>): unknown =>
    JSON.parse(JSON.stringify(decision, (key, value: unknown) => (key === 'pod' ? undefined : value)));
  const perIndex = indexedJob(5, { backoffLimitPerIndex: 2 });
  expect(withoutPods(decideOn(perIndex, full.map(createPodTrimmer())))).toEqual(withoutPods(decideOn(perIndex, full)));
  expect(JSON.stringify(createPodTrimmer()(full[0]!)).length).toBeLessThan(JSON.stringify(full[0]).length);
});

test('trimmed pods share what is equal in them', () => {
  const trimPod = createPodTrimmer();
  const fromWire = (name: string): Pod => structuredClone(aPod({ name, phase: 'Failed', exitCode: 3 }));
  const [one, other] = [trimPod(fromWire('one')), trimPod(fromWire('other'))];
  expect(one.metadata.ownerReferences).toBe(other.metadata.ownerReferences);
  expect(one.status?.containerStatuses?.[0]).toBe(other.status?.containerStatuses?.[0]);
  expect(one.metadata.name).not.toBe(other.metadata.name);
});

test('of the conditions of a pod only the time of its readiness is kept', () => {
  const lastTransitionTime = '2026-01-01T00:00:05Z';
  const condition = (type: string) => ({ type, status: 'True', lastTransitionTime, message: 'words' });
  const pod = aPod({ phase: 'Running' });
  const trimmed = createPodTrimmer()({ ...pod, status: { ...pod.status, conditions: [condition('Ready'), condition('Initialized')] } });
  expect(trimmed.status?.conditions).toEqual([
    { type: 'Ready', status: 'True', lastTransitionTime },
    { type: 'Initialized', status: 'True' },
  ]);
});
