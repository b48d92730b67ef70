/** Who waits for what is his own gets it, whatever else comes meanwhile. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { omitUndefined } from '../../../../../shared/runtime/omit-undefined.ts';
import { potentialAvailable } from '../../../../../manager/admission/quota/quota-tree.ts';
import { parseAmount } from '../../../../../manager/api/amount.ts';
import type { CycleDeps } from '../../../../../manager/admission/queues/scheduling-cycle.ts';
import type { PendingQueues } from '../../../../../manager/admission/queues/pending-queues.ts';
import { anOrderWorld } from './order-world.ts';
import { aCluster, aClusterQueue } from '../setup.ts';

const all = { cohortName: 'all' };

/** Ends one of the stream's Jobs after the other, with another coming for each, until `name` runs. How many ended until then. */
function completionsUntil(name: string, world: ReturnType<typeof anOrderWorld>, stream: { queue: string; cpu: string }): number {
  for (let ended = 0; ended < 100; ended++) {
    if (world.running.has(name)) return ended;
    const next = [...world.running.keys()].find((each) => each !== name);
    if (next === undefined) throw new Error('nothing is left that could end');
    world.end(next);
    world.arrive(stream.queue, `again-${ended}`, stream.cpu);
    world.settle();
  }
  return Number.POSITIVE_INFINITY;
}

describe('room on clusters', () => {
  test('A1: a large Job of high priority with quota of its own is not passed for ever by small ones of another queue', () => {
    const world = anOrderWorld({ clusterQueues: [aClusterQueue('urgent', { default: '4' }), aClusterQueue('batch', { default: '100' })] }, [
      aCluster('eu', { capacity: { cpu: '4' } }),
      aCluster('us', { capacity: { cpu: '4' } }),
    ]);
    for (let index = 0; index < 12; index++) world.arrive('batch', `small-${index}`, '1');
    world.settle();
    world.arrive('urgent', 'large', '4', { priority: 1000 });
    world.settle();
    expect(world.reasonOf('large')).toBe('NoClusterFits');
    expect(completionsUntil('large', world, { queue: 'batch', cpu: '1' })).toBeLessThanOrEqual(8);
  });

  test('it is kept on one cluster; the others go on', () => {
    const world = anOrderWorld({ clusterQueues: [aClusterQueue('urgent', { default: '4' }), aClusterQueue('batch', { default: '100' })] }, [
      aCluster('eu', { capacity: { cpu: '4' } }),
      aCluster('us', { capacity: { cpu: '4' } }),
    ]);
    for (let index = 0; index < 8; index++) world.arrive('batch', `small-${index}`, '1');
    world.settle();
    world.arrive('urgent', 'large', '4', { priority: 1 });
    for (let index = 8; index < 16; index++) world.arrive('batch', `small-${index}`, '1');
    world.settle();
    const on = (cluster: string) => [...world.running].filter(([, record]) => record.cluster === cluster).map(([name]) => name);
    const [first] = on('eu');
    world.end(first ?? '');
    expect(world.settle()).toEqual([]);
    expect(world.reasonOf('small-8')).toBe('BehindOtherQueues');
    const [other] = on('us');
    world.end(other ?? '');
    expect(world.settle()).toEqual(['small-8']);
    for (const name of on('eu')) world.end(name);
    expect(world.settle()).toContain('large');
  });

  test('when the one it is kept for is deleted, it is free for the others at once', () => {
    const world = anOrderWorld({ clusterQueues: [aClusterQueue('urgent', { default: '4' }), aClusterQueue('batch', { default: '100' })] }, [
      aCluster('eu', { capacity: { cpu: '4' } }),
    ]);
    for (let index = 0; index < 5; index++) world.arrive('batch', `small-${index}`, '1');
    world.settle();
    world.arrive('urgent', 'large', '4', { priority: 1 });
    world.settle();
    world.end('small-0');
    expect(world.settle()).toEqual([]);
    world.end('large');
    expect(world.settle()).toEqual(['small-4']);
  });

  test('it is not kept from those that go first', () => {
    const world = anOrderWorld({ clusterQueues: [aClusterQueue('calm', { default: '4' }), aClusterQueue('urgent', { default: '100' })] }, [
      aCluster('eu', { capacity: { cpu: '4' } }),
    ]);
    for (let index = 0; index < 4; index++) world.arrive('urgent', `small-${index}`, '1', { priority: 1 });
    world.settle();
    world.arrive('calm', 'large', '4');
    world.arrive('urgent', 'small-4', '1', { priority: 1 });
    world.settle();
    world.end('small-0');
    expect(world.settle()).toEqual(['small-4']);
  });
});

describe('a queue that waits for its own nominal quota', () => {
  test.each(['BestEffortFIFO', 'StrictFIFO'] as const)('A2: keeps it from borrowers (%s)', (queueingStrategy) => {
    const world = anOrderWorld(
      {
        clusterQueues: [
          aClusterQueue('owner', { default: '4' }, { ...all, queueingStrategy }),
          aClusterQueue('borrower', { default: '0' }, all),
        ],
      },
      [aCluster('eu')],
    );
    for (let index = 0; index < 6; index++) world.arrive('borrower', `small-${index}`, '1');
    world.settle();
    world.arrive('owner', 'large', '4');
    world.settle();
    expect(world.reasonOf('large')).toBe('InsufficientQuota');
    expect(completionsUntil('large', world, { queue: 'borrower', cpu: '1' })).toBe(4);
  });

  test('keeps no more than is its own', () => {
    const world = anOrderWorld(
      {
        clusterQueues: [
          aClusterQueue('owner', { default: '2' }, all),
          aClusterQueue('lender', { default: '4' }, all),
          aClusterQueue('borrower', { default: '0' }, all),
        ],
      },
      [aCluster('eu')],
    );
    world.arrive('owner', 'first', '1');
    for (let index = 0; index < 6; index++) world.arrive('borrower', `small-${index}`, '1');
    world.settle();
    expect(world.running.size).toBe(6);
    world.arrive('owner', 'second', '1');
    world.settle();
    world.end('small-0');
    expect(world.settle()).toEqual(['second']);
    world.end('small-1');
    expect(world.settle()).toEqual(['small-5']);
  });

  test.each([8, 40])('keeps it however many others wait before it in other cohorts (%i)', (strangers) => {
    const world = anOrderWorld(
      {
        clusterQueues: [
          aClusterQueue('owner', { default: '5' }, { ...all, queueingStrategy: 'StrictFIFO' }),
          aClusterQueue('borrower', { default: '0' }, all),
          ...Array.from({ length: strangers }, (_, index) =>
            aClusterQueue(`other-${index}`, { default: '1' }, { cohortName: `others-${index}` }),
          ),
        ],
      },
      [aCluster('eu')],
    );
    for (let index = 0; index < strangers; index++) {
      world.arrive(`other-${index}`, `runs-${index}`, '1');
      world.arrive(`other-${index}`, `waits-${index}`, '1');
    }
    world.arrive('owner', 'first', '3');
    world.settle();
    world.arrive('owner', 'second', '5');
    world.settle();
    for (let index = 0; index < 5; index++) world.arrive('borrower', `small-${index}`, '1');
    expect(world.settle()).toEqual([]);
    world.end('first');
    expect(world.settle()).toEqual(['second']);
  });

  test('does not stop one of higher priority that asks for the same as one that was stopped', () => {
    const world = anOrderWorld({ clusterQueues: [aClusterQueue('large', { default: '4' }), aClusterQueue('small', { default: '4' })] }, [
      aCluster('eu', { capacity: { cpu: '4' } }),
    ]);
    world.arrive('small', 'running', '2');
    world.settle();
    world.arrive('large', 'first', '4', { priority: 1 });
    world.settle();
    world.arrive('small', 'low', '1');
    expect(world.settle()).toEqual([]);
    expect(world.reasonOf('low')).toBe('BehindOtherQueues');
    world.arrive('small', 'high', '1', { priority: 2 });
    expect(world.settle()).toEqual(['high']);
  });

  test('lets younger ones of its own pass, unless it is StrictFIFO', () => {
    const admitted = (queueingStrategy: 'BestEffortFIFO' | 'StrictFIFO') => {
      const world = anOrderWorld({ clusterQueues: [aClusterQueue('main', { default: '4' }, { queueingStrategy })] }, [aCluster('eu')]);
      world.arrive('main', 'running', '2');
      world.arrive('main', 'large', '4');
      world.arrive('main', 'small', '1');
      return world.settle();
    };
    expect(admitted('BestEffortFIFO')).toEqual(['running', 'small']);
    expect(admitted('StrictFIFO')).toEqual(['running']);
  });
});

const NAMES = ['a', 'b', 'c', 'd'] as const;
const worlds = fc.record({
  queues: fc.array(
    fc.record({
      nominal: fc.integer({ min: 0, max: 6 }),
      borrowing: fc.option(fc.integer({ min: 0, max: 6 }), { nil: undefined }),
      strict: fc.boolean(),
      shares: fc.boolean(),
    }),
    { minLength: 2, maxLength: 4 },
  ),
  clusters: fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 3 }),
  stream: fc.array(
    fc.record({ queue: fc.nat(3), cpu: fc.integer({ min: 1, max: 6 }), priority: fc.integer({ min: 0, max: 1 }), ends: fc.nat(20) }),
    { minLength: 30, maxLength: 80 },
  ),
});

function aStreamWorld(
  {
    queues,
    clusters,
  }: {
    queues: readonly { nominal: number; borrowing: number | undefined; strict: boolean; shares: boolean }[];
    clusters: readonly number[];
  },
  asSeen?: (all: PendingQueues) => CycleDeps['queues'],
) {
  const clusterQueues = queues.map(({ nominal, borrowing, strict, shares }, index) => {
    const resources = [{ name: 'cpu', nominalQuota: nominal, ...omitUndefined({ borrowingLimit: shares ? borrowing : undefined }) }];
    return aClusterQueue(
      NAMES[index] ?? '',
      {},
      {
        resourceGroups: [{ coveredResources: ['cpu'], flavors: [{ name: 'default', resources }] }],
        queueingStrategy: strict ? 'StrictFIFO' : 'BestEffortFIFO',
        ...omitUndefined({ cohortName: shares ? 'all' : undefined }),
      },
    );
  });
  return anOrderWorld(
    { clusterQueues },
    clusters.map((cpu, index) => aCluster(`cluster-${index}`, { capacity: { cpu: `${cpu}` } })),
    asSeen,
  );
}

test('no-starvation: the first of a queue that fits its own quota and some cluster is admitted after finitely many completions, and nothing exceeds its limits', () => {
  fc.assert(
    fc.property(worlds, ({ queues, clusters, stream }) => {
      const world = aStreamWorld({ queues, clusters });
      const setup = world.cache.queueing().queues;
      const checkLimits = (): void => {
        for (const { node } of setup.values()) {
          expect(world.cache.usage().get(node.id, 'default/cpu')).toBeLessThanOrEqual(potentialAvailable(node, 'default/cpu'));
        }
        const used = queues.map((_, index) => world.cache.usage().get(`ClusterQueue/${NAMES[index]}`, 'default/cpu'));
        const together = (amounts: readonly number[]) =>
          queues.reduce((sum, { shares }, index) => sum + (shares ? (amounts[index] ?? 0) : 0), 0);
        expect(together(used)).toBeLessThanOrEqual(together(queues.map(({ nominal }) => nominal * 1000)));
        for (const [index, cpu] of clusters.entries()) {
          expect(world.cache.usage().get(`WorkerCluster/cluster-${index}`, 'cpu')).toBeLessThanOrEqual(cpu * 1000);
        }
      };
      const endOne = (choice: number): void => {
        const running = [...world.running.keys()];
        const name = running[choice % running.length];
        if (name !== undefined) world.end(name);
      };
      // Who goes first in its queue: it fits its own quota and some cluster.
      const nominal = queues[0]?.nominal ?? 0;
      const cpu = Math.min(nominal, Math.max(...clusters));
      for (const [index, each] of stream.slice(0, 15).entries()) {
        const clusterQueue = NAMES[each.queue % queues.length] ?? 'a';
        world.arrive(clusterQueue, `before-${index}`, `${each.cpu}`, { priority: clusterQueue === 'a' ? 0 : each.priority });
      }
      world.settle();
      checkLimits();
      if (cpu > 0) world.arrive('a', 'head', `${cpu}`, { priority: 2 });
      world.settle();
      // Others come without end, of other queues and not before it in order; each of them ends at some time.
      const others = stream.slice(15).filter((each) => each.queue % queues.length !== 0);
      for (let completions = 0; cpu > 0 && !world.running.has('head'); completions++) {
        expect(completions).toBeLessThan(100);
        const next = others[completions % Math.max(1, others.length)];
        if (next !== undefined) {
          const clusterQueue = NAMES[next.queue % queues.length] ?? 'a';
          world.arrive(clusterQueue, `job-${completions}`, `${next.cpu}`, { priority: next.priority });
          world.settle();
        }
        endOne(completions % 3 === 0 ? (next?.ends ?? 0) : 0);
        world.settle();
        checkLimits();
      }
      expect(cpu === 0 || world.running.has('head')).toBe(true);
      // Without anybody new everything ends that could ever run, and the system stops.
      for (let rest = 0; world.running.size > 0; rest++) {
        expect(rest).toBeLessThan(1_000);
        endOne(0);
        world.settle();
      }
      for (const [name] of world.queues.counts())
        expect(world.cache.usage().get(`ClusterQueue/${name}`, 'default/cpu')).toBe(parseAmount('cpu', 0));
      expect(world.settle()).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

test('incremental equals rebuilt: whatever came and ended, nobody waits who fits what is neither in use nor kept for others', () => {
  fc.assert(
    fc.property(worlds, ({ queues, clusters, stream }) => {
      const world = aStreamWorld({ queues, clusters });
      for (const [index, each] of stream.entries()) {
        if (each.ends % 3 === 0) {
          const running = [...world.running.keys()];
          const name = running[each.ends % Math.max(1, running.length)];
          if (name !== undefined) world.end(name);
        } else world.arrive(NAMES[each.queue % queues.length] ?? 'a', `job-${index}`, `${each.cpu}`, { priority: each.priority });
        world.settle();
        expect(world.fitting()).toEqual([]);
      }
    }),
    { numRuns: 300 },
  );
});

/** Works out up to which height every claim borrows, whenever it is asked for. */
function recomputing(queues: PendingQueues): CycleDeps['queues'] {
  let version = 0;
  return {
    claims: (borrowing, revise) => queues.claims(borrowing && { ...borrowing, versionOf: () => ++version }, revise),
    reviseAt: (atMs) => queues.reviseAt(atMs),
    heads: (...args) => queues.heads(...args),
    markInadmissible: (...args) => queues.markInadmissible(...args),
    endClaims: (isStopped) => queues.endClaims(isStopped),
    sharesChanged: (clusterQueue) => queues.sharesChanged(clusterQueue),
  };
}

test('a claim that is not worked out again would be the same: whoever is admitted is admitted at the same time if all are', () => {
  fc.assert(
    fc.property(worlds, ({ queues, clusters, stream }) => {
      const [world, other] = [aStreamWorld({ queues, clusters }), aStreamWorld({ queues, clusters }, recomputing)];
      for (const [index, each] of stream.entries()) {
        const running = [...world.running.keys()];
        const ending = each.ends % 3 === 0 ? running[each.ends % Math.max(1, running.length)] : undefined;
        for (const one of [world, other]) {
          if (ending !== undefined) one.end(ending);
          else one.arrive(NAMES[each.queue % queues.length] ?? 'a', `job-${index}`, `${each.cpu}`, { priority: each.priority });
        }
        expect(world.settle()).toEqual(other.settle());
        expect([...world.running]).toEqual([...other.running]);
      }
    }),
    { numRuns: 150 },
  );
});
