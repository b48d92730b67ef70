import { expect, test } from 'vitest';
import { EndedClaims } from '../../../../../manager/admission/queues/ended-claims.ts';
import { PendingQueue } from '../../../../../manager/admission/queues/pending-queue.ts';
import type { Claim, Inadmissibility } from '../../../../../manager/admission/scheduling/decision.ts';
import { aWorkload, queued } from '../setup.ts';

const behindOthers = (waitsFor: Inadmissibility['waitsFor']): Inadmissibility => ({ reason: 'BehindOtherQueues', message: '', waitsFor });
const aClaim = (clusterQueue: string, holds?: Claim['holds']) => ({
  clusterQueue,
  queued: queued(aWorkload(`job of ${clusterQueue}`), 0),
  claim: { cluster: 'eu-1', flavors: [], borrowing: 0, ...(holds && { holds }) },
});

/** ClusterQueues of tree `a`, one of tree `b`, and what is forgiven once claims have ended. */
function aWorld() {
  const ended = new EndedClaims();
  const queues = new Map(['a-1', 'a-2', 'a-3', 'b-1'].map((name) => [name, new PendingQueue(name, () => undefined)]));
  return {
    block: (name: string, inadmissibility: Inadmissibility): void =>
      ended.markInadmissible(queues.get(name) ?? expect.fail(), inadmissibility),
    reorder: (root: string): void => ended.reordered(root),
    end: (...claims: ReturnType<typeof aClaim>[]) => {
      for (const claim of claims) ended.add(claim);
      const forgiven: string[] = [];
      const found = ended.forgiveBlocked(
        (clusterQueue) => clusterQueue.slice(0, 1),
        ({ name }, hasEnded) => {
          const kinds = (['quota', 'cluster'] as const).filter((waitsFor) => hasEnded(behindOthers(waitsFor)));
          expect(hasEnded({ ...behindOthers('quota'), reason: 'InsufficientQuota' })).toBe(false);
          forgiven.push(`${name} ${kinds.join(' ')}`);
        },
      );
      return found && { roots: [...found.roots], heldRoom: found.heldRoom, forgiven };
    },
  };
}

test('while no claim has ended, nothing is forgiven', () => {
  const { block, end } = aWorld();
  block('a-1', behindOthers('quota'));
  expect(end()).toBeUndefined();
});

test('quota of a claim concerns the queues of its tree, room those of every tree, and each is forgiven once', () => {
  const { block, end } = aWorld();
  block('a-1', behindOthers('quota'));
  block('a-2', behindOthers('cluster'));
  block('b-1', behindOthers('cluster'));
  expect(end(aClaim('a-3', 'Quota'))).toEqual({ roots: ['a'], heldRoom: false, forgiven: ['a-1 quota cluster', 'a-2 quota cluster'] });
  expect(end(aClaim('a-3', 'Room'))).toEqual({ roots: ['a'], heldRoom: true, forgiven: ['b-1 cluster'] });
  expect(end(aClaim('a-3'))).toEqual({ roots: ['a'], heldRoom: true, forgiven: [] });
});

test('a claim has never blocked its own queue, and claims of several queues may have blocked each of them', () => {
  const { block, end } = aWorld();
  block('a-1', behindOthers('quota'));
  block('a-1', behindOthers('cluster'));
  expect(end(aClaim('a-1'))?.forgiven).toEqual([]);
  expect(end(aClaim('a-1'), aClaim('b-1'))?.forgiven).toEqual(['a-1 quota cluster', 'a-1 quota cluster']);
});

test('a Workload that waits for something else, or for a change of setup, is not behind claims', () => {
  const { block, end } = aWorld();
  block('a-1', behindOthers('setup'));
  block('a-2', { ...behindOthers('quota'), reason: 'InsufficientQuota' });
  expect(end(aClaim('a-3'))?.forgiven).toEqual([]);
});

test('in a tree with another order Workloads may go before the claims that blocked them, and in other trees not', () => {
  const { block, reorder, end } = aWorld();
  for (const name of ['a-1', 'b-1']) block(name, behindOthers('cluster'));
  reorder('a');
  expect(end()).toEqual({ roots: ['a'], heldRoom: false, forgiven: ['a-1 quota cluster'] });
  expect(end()).toBeUndefined();
});
