import { expect, test } from 'vitest';
import { createCompleteListing } from '../../../../../manager/dispatch/listing/complete-listing.ts';
import type { KubeObject, WorkObject } from '../../../../../shared/api/kubernetes.ts';
import { ApiError } from '../../../../../shared/kube/api-error.ts';
import type { ObjectList } from '../../../../../shared/kube/client.ts';
import type { Informer } from '../../../../../shared/kube/informer.ts';
import { silentLogger } from '../../../../../shared/runtime/logger.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

/** A cluster whose Jobs are listed at once, and whose pods are listed while `mayListPods`. */
function aCluster({ hasJoined = false } = {}) {
  const clock = new FakeClock();
  const state = { homeRestored: false, mayListPods: true, podLists: 0, completed: 0 };
  const informer = { run: () => Promise.resolve(), waitForSync: () => Promise.resolve(), list: () => [] };
  const listing = createCompleteListing({
    cluster: { name: 'eu-1', wrote: () => undefined, writer: { mark: (copy: WorkObject) => Promise.resolve(copy) }, copiesOf: () => [] },
    onPods: () => undefined,
    client: {
      list: async <T extends KubeObject>(): Promise<ObjectList<T>> => {
        state.podLists++;
        if (!state.mayListPods) throw new ApiError(403, { reason: 'Forbidden', message: 'pods is forbidden' });
        return { items: [], resourceVersion: '1' };
      },
    },
    allJobs: () => informer as unknown as Informer<WorkObject>,
    unlisted: () => [],
    inPlace: () => true,
    hasJoined,
    homeRestored: () => state.homeRestored,
    onComplete: () => void state.completed++,
    origin: 'm1',
    local: false,
    servedNamespaces: undefined,
    clock,
    log: silentLogger,
  });
  return { clock, state, listing, list: () => listing.outOfPlace(new AbortController().signal) };
}

test('a cluster that has joined is listed once, without its pods', async () => {
  const { listing, list, state } = aCluster({ hasJoined: true });
  expect(listing.isDue()).toBe(true);
  await list();
  expect([listing.isDue(), state.podLists]).toEqual([false, 0]);
});

test('once the manager cluster was restored all is listed again, whatever was listed before', async () => {
  const { listing, list, state } = aCluster({ hasJoined: true });
  await list();
  state.homeRestored = true;
  expect([listing.isDue(), listing.isComplete()]).toEqual([true, false]);
  await list();
  await list();
  expect([listing.isDue(), listing.isComplete(), state]).toEqual([false, true, expect.objectContaining({ podLists: 1, completed: 1 })]);
});

test('a cluster whose pods may not be listed has not shown all, and is listed again after half a minute', async () => {
  const { clock, listing, list, state } = aCluster();
  state.homeRestored = true;
  state.mayListPods = false;
  await list();
  expect([listing.isDue(), listing.isComplete()]).toEqual([false, false]);
  await clock.advance(30_000);
  expect(listing.isDue()).toBe(true);
  state.mayListPods = true;
  await list();
  expect([listing.isComplete(), state.completed]).toEqual([true, 1]);
});
