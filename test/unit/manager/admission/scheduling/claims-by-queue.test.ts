import { expect, test } from 'vitest';
import { seededRandom } from '../../../../../shared/runtime/random.ts';
import { CLAIMS_PER_TREE_MAX, createClaimsByQueue, type ClaimOfHead } from '../../../../../manager/admission/scheduling/claims-by-queue.ts';
import { aWorkload, head } from '../setup.ts';

const standing = (queue: string, createdMs: number, cluster = 'eu'): ClaimOfHead => ({
  ...head(queue, aWorkload(`of-${queue}`, {}, { createdMs })),
  claim: { cluster, flavors: [], borrowing: 0 },
});
/** The tree of a queue is the part of its name before the dash. */
const claimsOf = () => {
  const ended: string[] = [];
  const rootOf = (queue: string): string => queue.split('-')[0] ?? '';
  const claims = createClaimsByQueue(rootOf, ({ clusterQueue, claim }) => ended.push(`${clusterQueue} on ${claim.cluster}`));
  const held = () => claims.all().map(({ clusterQueue, claim: { holds } }) => `${clusterQueue} ${holds ?? 'All'}`);
  return { claims, ended, held };
};

test('the first few of each tree hold quota, whoever waits in other trees, and the first on each cluster holds room', () => {
  const { claims, held } = claimsOf();
  for (let index = 0; index < CLAIMS_PER_TREE_MAX + 2; index++) claims.set(standing(`a-${index}`, index));
  claims.set(standing('b-0', 99));
  claims.set(standing('c-0', 100, 'us'));
  expect(held()).toEqual([
    'a-0 All',
    ...Array.from({ length: CLAIMS_PER_TREE_MAX - 1 }, (_, index) => `a-${index + 1} Quota`),
    'b-0 Quota',
    'c-0 All',
  ]);
});

test('a place is left for one that comes before the last of its tree, and in trees with fewer', () => {
  const { claims } = claimsOf();
  for (let index = 0; index < CLAIMS_PER_TREE_MAX; index++) claims.set(standing(`a-${index}`, index));
  const asks = (queue: string, createdMs: number) => claims.hasPlaceFor(standing(queue, createdMs), 0, queue.split('-')[0] ?? '');
  expect([asks('a-50', 50), asks('a-51', -1), asks('a-3', 3), asks('b-0', 50)]).toEqual([false, true, true, true]);
});

test('one that comes before takes the room of the cluster, which the other has again when that one is gone', () => {
  const { claims, ended, held } = claimsOf();
  claims.set(standing('a-1', 1));
  claims.set(standing('b-0', 0));
  expect([held(), ended]).toEqual([['b-0 All', 'a-1 Quota'], ['a-1 on eu']]);
  claims.delete('b-0');
  expect([held(), ended]).toEqual([['a-1 All'], ['a-1 on eu', 'b-0 on eu']]);
});

test('one that goes elsewhere, or is gone, leaves what it held to others', () => {
  const { claims, ended } = claimsOf();
  claims.set(standing('a-1', 1));
  claims.set(standing('a-1', 1));
  expect(ended).toEqual([]);
  claims.set(standing('a-1', 1, 'us'));
  expect(ended).toEqual(['a-1 on eu']);
  claims.delete('a-1');
  expect([ended, claims.all()]).toEqual([['a-1 on eu', 'a-1 on us'], []]);
});

test('what is kept for one whose victims stop is kept whole, and takes no place of others', () => {
  const { claims, held } = claimsOf();
  claims.set(standing('a-0', 0));
  const preemptor = standing('b-0', 1);
  claims.set({ ...preemptor, claim: { ...preemptor.claim, preempts: true } });
  expect(held()).toEqual(['b-0 All', 'a-0 All']);
});

test('one that has to borrow further ends for those that borrow less: they go before it now', () => {
  const { claims, ended, held } = claimsOf();
  claims.set(standing('a-0', 0));
  const update = (height: number) => claims.updateBorrowing({ of: () => height, versionOf: () => height });
  update(0);
  expect(ended).toEqual([]);
  update(2);
  expect([held(), ended]).toEqual([['a-0 All'], ['a-0 on eu']]);
  update(1);
  expect(ended).toEqual(['a-0 on eu']);
});

test('one that is decided with more than it may hold ends once: the same decision again ends nothing', () => {
  const { claims, ended, held } = claimsOf();
  claims.set(standing('a-0', 0));
  // With fair sharing the order of a cycle is another one, so that the later head is decided with the room of the cluster.
  claims.set(standing('a-1', 1));
  expect([held(), ended]).toEqual([['a-0 All', 'a-1 Quota'], ['a-1 on eu']]);
  claims.set(standing('a-1', 1));
  claims.set(standing('a-1', 1));
  expect(ended).toEqual(['a-1 on eu']);
  claims.delete('a-0');
  claims.set(standing('a-0', 0));
  expect([held(), ended]).toEqual([
    ['a-0 All', 'a-1 Quota'],
    ['a-1 on eu', 'a-0 on eu', 'a-1 on eu'],
  ]);
});

test('two Workloads of one ClusterQueue that are decided in turns, with more than they may hold, end once each, and again once capacity is free', () => {
  const { claims, ended } = claimsOf();
  for (let index = 0; index < CLAIMS_PER_TREE_MAX; index++) claims.set(standing(`a-${index}`, index));
  const of = (workload: string, createdMs: number): ClaimOfHead => ({
    ...head('a-late', aWorkload(workload, {}, { createdMs })),
    claim: { cluster: 'eu', flavors: [], borrowing: 0 },
  });
  const decideInTurns = (): void => {
    for (let turn = 0; turn < 10; turn++) claims.set(turn % 2 === 0 ? of('older', 50) : of('younger', 60));
  };
  ended.length = 0;
  decideInTurns();
  expect(ended).toEqual(['a-late on eu', 'a-late on eu']);
  claims.capacityFreed();
  decideInTurns();
  expect(ended).toHaveLength(4);
});

test('whatever came and went before, claims hold what they would hold if they alone had come', () => {
  const random = seededRandom(7);
  const below = (bound: number): number => Math.floor(random() * bound);
  const { claims, held } = claimsOf();
  const present = new Map<string, ClaimOfHead>();
  let idle = 0;
  for (let step = 0; step < 2_000; step++) {
    const queue = `${'abc'.charAt(below(3))}-${below(14)}`;
    if (below(5) === 0) {
      claims.delete(queue);
      present.delete(queue);
    } else {
      const entry = standing(queue, below(30) * 10_000 + step, ['eu', 'us', 'jp'][below(3)]);
      const before = present.get(queue);
      // Every other claim is decided again for the same Workload.
      const next = before === undefined || below(2) === 0 ? entry : { ...before, claim: { ...before.claim, cluster: entry.claim.cluster } };
      claims.set(next);
      present.set(queue, next);
    }
    const anew = claimsOf();
    for (const each of present.values()) anew.claims.set(each);
    expect(held().toSorted()).toEqual(anew.held().toSorted());
    idle += present.size - held().length;
  }
  expect(idle).toBeGreaterThan(2_000);
});
