/** With fair sharing a cycle nominates only heads whose turn may be next, and may end early: what it decides is the same. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createAdmissionCache } from '../../../../../manager/admission/cache/admission-cache.ts';
import { FairStrategy } from '../../../../../manager/admission/fair-sharing/fair-strategy.ts';
import { createPendingQueues } from '../../../../../manager/admission/queues/pending-queues.ts';
import { type CycleDeps, runCycle } from '../../../../../manager/admission/queues/scheduling-cycle.ts';
import { admit, claim, reserveFor, type Cycle } from '../../../../../manager/admission/scheduling/admit.ts';
import { claimedAs, claimsIn, type Claimed } from '../../../../../manager/admission/scheduling/claims.ts';
import type { ClaimOfHead } from '../../../../../manager/admission/scheduling/claims-by-queue.ts';
import type { Decision, Head } from '../../../../../manager/admission/scheduling/decision.ts';
import { orderNominees } from '../../../../../manager/admission/scheduling/nominee-order.ts';
import type { Turn } from '../../../../../manager/admission/scheduling/nominate.ts';
import { nominateLargest } from '../../../../../manager/admission/scheduling/partial-admission.ts';
import { preempt } from '../../../../../manager/admission/scheduling/preempt.ts';
import { schedule } from '../../../../../manager/admission/scheduling/schedule.ts';
import { buildQueueingSetup, type Snapshot } from '../../../../../manager/admission/snapshot/snapshot.ts';
import { priorityClassesOf } from '../../../../../manager/admission/workload/priority.ts';
import { aCohort } from '../preemption/preemption-world.ts';
import { aCluster, aClusterQueue, aWorkload, objects, queued } from '../setup.ts';

const FAIR = { preemptionStrategies: [FairStrategy.LessThanOrEqualToFinalShare, FairStrategy.LessThanInitialShare] };
const PRIORITIES = [0, 1, 2];
const CLASSES = priorityClassesOf(
  PRIORITIES.map((value) => ({
    metadata: { name: `p${value}`, uid: `p${value}`, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
    value,
  })),
  [],
);

/** The cycle at its plainest: every head is nominated at first, and every nominee gets its turn. */
function plainCycle(snapshot: Snapshot, heads: readonly Head[], nowMs: number, earlierClaims: readonly ClaimOfHead[]) {
  const rejected: Decision[] = [];
  const decisions: Decision[] = [];
  const turns: Turn[] = [];
  const tried = new Set(heads.map(keyOf));
  const roots = new Set(heads.map(({ clusterQueue }) => snapshot.queues.get(clusterQueue)?.node.rootId));
  const others = claimsIn(roots, earlierClaims, snapshot.queues).filter((each) => !tried.has(keyOf(each)));
  for (const head of [...others, ...heads]) {
    const queue = snapshot.queues.get(head.clusterQueue);
    if (head.claim !== undefined && head.claim.preempts !== true && !tried.has(keyOf(head))) {
      const { flavors, borrowing } = head.claim;
      if (queue !== undefined) turns.push({ kind: 'Standing', head, queue, flavors, borrowing, claim: head.claim });
      continue;
    }
    const outcome = nominateLargest(snapshot, head, nowMs);
    if (outcome.kind === 'Requeue' || outcome.kind === 'Inadmissible') rejected.push(outcome);
    else turns.push(outcome);
  }
  const cycle: Cycle = {
    snapshot: { ...snapshot, usage: snapshot.usage.fork() },
    unclaimed: snapshot.usage,
    claims: new Map(),
    rooms: new Map(),
    reserving: new Set(),
    displaced: new Set(),
    preemptors: new Set(),
    admittedTo: new Set(),
    hasEarlierClaims: others.length > 0,
    nowMs,
  };
  const order = orderNominees(turns, cycle.snapshot);
  for (let turn = order.next(); turn !== undefined; turn = order.next()) {
    if (turn.kind === 'Standing') {
      const { head, queue, claim: standing } = turn;
      const compute = (): Claimed => claimedAs(head.queued.workload, queue, standing, snapshot.usage);
      if (!cycle.claims.has(queue.name) && !cycle.preemptors.has(queue.name)) reserveFor(cycle, queue.name, compute(), compute);
      continue;
    }
    const outcome = turn.kind === 'Fit' ? admit(cycle, turn) : turn.kind === 'Preempt' ? preempt(cycle, turn) : turn;
    const decision = outcome.kind === 'ReservingHead' ? claim(cycle, outcome) : outcome;
    decisions.push(decision);
    for (const { admitted } of decision.kind === 'Preempt' ? decision.victims : []) {
      const node = snapshot.nodes.get(admitted.reservation.record.clusterQueue);
      if (node !== undefined) order.changed(node);
    }
  }
  return { rejected, decisions, tried };
}

const keyOf = ({ queued: { workload } }: Head): string => workload.key;

/** All of a decision but its words. */
const told = (decision: Decision): string => {
  const { kind, head } = decision;
  const claims = 'claim' in decision ? decision.claim : undefined;
  return JSON.stringify({
    kind,
    key: keyOf(head),
    pods: head.queued.workload.requests.get('pods'),
    ...(decision.kind === 'Admit' ? { record: decision.record, inFront: decision.inFront } : {}),
    ...('reason' in decision ? { reason: decision.reason } : {}),
    ...('waitsFor' in decision ? { waitsFor: decision.waitsFor } : {}),
    ...(decision.kind === 'Preempt'
      ? { victims: decision.victims.map(({ admitted, rule }) => [admitted.reservation.workload.key, rule]) }
      : {}),
    ...(claims === undefined
      ? {}
      : {
          claim: [
            claims.cluster,
            claims.flavors.map(({ flavor }) => flavor),
            claims.borrowing,
            claims.holds,
            claims.start,
            [...(claims.start?.room ?? [])],
          ],
        }),
  });
};

/** What is decided of a state, whichever way, is compared with the plain cycle. */
function compare(snapshot: () => Snapshot, heads: readonly Head[], nowMs: number, claims: readonly ClaimOfHead[], counts: Counts): void {
  const { rejected, decisions, tried } = plainCycle(snapshot(), heads, nowMs, claims);
  const rejectedBy = new Map(rejected.map((each) => [keyOf(each.head), told(each)]));
  const hasEffect = (all: readonly Decision[]): boolean => all.some(({ kind, head }) => kind !== 'Requeue' && tried.has(keyOf(head)));
  for (const most of [1, 2, 4, Number.POSITIVE_INFINITY]) {
    const found = schedule(snapshot(), heads, nowMs, claims, most);
    const first = found.filter(({ head }) => !rejectedBy.has(keyOf(head)));
    expect(first.map(told)).toEqual(decisions.slice(0, first.length).map(told));
    for (const each of found) if (!first.includes(each)) expect(told(each)).toEqual(rejectedBy.get(keyOf(each.head)));
    if (most === Number.POSITIVE_INFINITY) expect(found).toHaveLength(rejected.length + decisions.length);
    else if (found.length < rejected.length + decisions.length) counts.cut++;
    expect(hasEffect(found)).toBe(hasEffect([...rejected, ...decisions]));
  }
  counts.cycles++;
  for (const { kind } of decisions) counts.decisions.set(kind, (counts.decisions.get(kind) ?? 0) + 1);
}
type Counts = { cycles: number; cut: number; readonly decisions: Map<Decision['kind'], number> };

const COHORTS = ['left', 'right', 'deep', 'other', undefined] as const;
const queueOf = fc.record({
  cohort: fc.constantFrom(...COHORTS),
  cpu: fc.nat(4),
  spot: fc.option(fc.nat(3), { nil: undefined }),
  limit: fc.constantFrom(undefined, 1, 3),
  weight: fc.constantFrom('0', '0.5', '1', '3'),
  strategy: fc.constantFrom('BestEffortFIFO', 'BestEffortFIFO', 'StrictFIFO', 'Backfill'),
  within: fc.constantFrom('Never', 'LowerPriority', 'LowerOrNewerEqualPriority'),
  reclaim: fc.constantFrom('Never', 'LowerPriority', 'Any'),
  rather: fc.boolean(),
});
type QueueOf = typeof queueOf extends fc.Arbitrary<infer T> ? T : never;
const clusterOf = fc.record({ cpu: fc.integer({ min: 1, max: 9 }), closed: fc.boolean(), preference: fc.nat(1) });
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      does: fc.constant('arrive' as const),
      queue: fc.nat(9),
      cpu: fc.integer({ min: 1, max: 4 }),
      priority: fc.nat(2),
      parts: fc.nat(5),
    }),
  },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('end' as const), which: fc.nat(30) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('requeue' as const), queue: fc.nat(9), to: queueOf, holds: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('cluster' as const), which: fc.nat(2), to: clusterOf }) },
);
const worlds = fc.record({
  queues: fc.array(queueOf, { minLength: 3, maxLength: 9 }),
  clusters: fc.array(clusterOf, { minLength: 1, maxLength: 3 }),
  /** Several things happen between two passes. */
  steps: fc.array(fc.record({ step, passes: fc.integer({ min: 0, max: 5 }) }), { minLength: 30, maxLength: 90 }),
  slow: fc.boolean(),
});

const clusterQueueOf = (name: string, { cohort, cpu, spot, limit, weight, strategy, within, reclaim, rather }: QueueOf, holds: boolean) => {
  const amount = (nominalQuota: number) => [
    { name: 'cpu', nominalQuota, ...(limit === undefined || cohort === undefined ? {} : { borrowingLimit: limit }) },
  ];
  return aClusterQueue(
    name,
    {},
    {
      resourceGroups: [
        {
          coveredResources: ['cpu'],
          flavors: [
            { name: 'default', resources: amount(cpu) },
            ...(spot === undefined ? [] : [{ name: 'spot', resources: amount(spot) }]),
          ],
        },
      ],
      ...(cohort === undefined ? {} : { cohortName: cohort }),
      queueingStrategy: strategy,
      fairSharing: { weight },
      stopPolicy: holds ? 'Hold' : 'None',
      preemption: { withinClusterQueue: within, reclaimWithinCohort: reclaim },
      ...(rather ? { flavorFungibility: { whenCanPreempt: 'MayStopSearch' } } : {}),
    },
  );
};

type World = typeof worlds extends fc.Arbitrary<infer T> ? T : never;

/** Plays a world, and compares every cycle in it. `slow`: those that are preempted stop only before the next step. */
function play({ queues: given, clusters: shapes, steps, slow }: World, counts: Counts): void {
  const specs = given.map((each) => ({ each, holds: false }));
  const setupOf = () =>
    buildQueueingSetup(
      objects({
        clusterQueues: specs.map(({ each, holds }, index) => clusterQueueOf(`q${index}`, each, holds)),
        cohorts: [aCohort('root', undefined, { cpu: '3' }), aCohort('left', 'root'), aCohort('right', 'root'), aCohort('deep', 'left')],
      }),
      FAIR,
    );
  const states = shapes.map(({ cpu, closed, preference }, index) => stateOf(index, cpu, closed, preference));
  const cache = createAdmissionCache(setupOf(), () => CLASSES);
  cache.setClusters(states);
  const queues = createPendingQueues();
  const running = new Map<string, Head>();
  const stopping = new Set<string>();
  let nowMs = Date.UTC(2026, 0, 1);
  let heads: readonly Head[] = [];
  let claims: readonly ClaimOfHead[] = [];
  const seen: CycleDeps['queues'] = {
    reviseAt: (atMs) => queues.reviseAt(atMs),
    markInadmissible: (...args) => queues.markInadmissible(...args),
    endClaims: (isStopped) => queues.endClaims(isStopped),
    sharesChanged: (clusterQueue) => queues.sharesChanged(clusterQueue),
    heads: (...args) => (heads = queues.heads(...args)),
    claims: (...args) => (claims = queues.claims(...args)),
  };
  const release = (key: string): void => {
    running.delete(key);
    stopping.delete(key);
    const gone = cache.forget(key);
    if (gone === undefined) return;
    queues.wake(cache.rootOf(gone.record.clusterQueue));
    queues.wakeWaitingForCluster();
  };
  const add = ({ clusterQueue, queued: entry }: Head): void =>
    queues.add(clusterQueue, cache.queueing().queues.get(clusterQueue)?.strict ?? false, entry);
  const stop = (): void => {
    for (const key of stopping) {
      const head = running.get(key);
      release(key);
      if (head !== undefined) add(head);
    }
  };
  const settle = (): void => {
    for (let cycles = 0; cycles < 40; cycles++) {
      nowMs += 1_000;
      const result = runCycle(
        {
          cache,
          queues: seen,
          admit: ({ head, record }) => {
            queues.delete(keyOf(head));
            cache.assume(head.queued.workload, record);
            running.set(keyOf(head), head);
            return true;
          },
          at: () => undefined,
          decided: () => compare(() => cache.snapshot(), heads, nowMs, claims, counts),
        },
        nowMs,
      );
      for (const { record } of cache.withdraw(({ key }) => queues.has(key))) queues.wake(cache.rootOf(record.clusterQueue));
      for (const { reservation } of cache.displaced()) stopping.add(reservation.workload.key);
      if (!slow) stop();
      if (result.tried === 0 || !result.progressed) return;
    }
  };
  for (const [index, { step: each, passes }] of steps.entries()) {
    stop();
    if (each.does === 'arrive') {
      const name = `job-${index}`;
      const expectedMs = each.parts === 5 ? { expectedMs: 5_000 * each.cpu } : {};
      const fewer = each.parts === 4 ? { minPods: 1 } : {};
      const pods = each.parts === 4 ? `${each.cpu}` : '1';
      const workload = aWorkload(
        name,
        { cpu: `${each.cpu}`, pods },
        { createdMs: index, priorityWish: { workloadClass: `p${each.priority}` }, ...expectedMs, ...fewer },
      );
      add({ clusterQueue: `q${each.queue % specs.length}`, queued: queued(workload, index, each.priority) });
    } else if (each.does === 'end') {
      const keys = [...running.keys()];
      release(keys[each.which % Math.max(1, keys.length)] ?? '');
    } else if (each.does === 'requeue') {
      const which = each.queue % specs.length;
      // A queue keeps its cohort and strategy: the Workloads in it are not routed anew here.
      const { cohort, strategy } = specs[which]?.each ?? each.to;
      specs[which] = { each: { ...each.to, cohort, strategy }, holds: each.holds };
      cache.setQueueing(setupOf());
      cache.continueVisits(() => false);
      queues.wakeAll();
    } else {
      const { cpu, closed, preference } = each.to;
      cache.setClusters(cache.clusters().map((state, at) => (at === each.which ? stateOf(at, cpu, closed, preference) : state)));
      cache.continueVisits(() => false);
      queues.wakeAll();
    }
    if (passes === 0) settle();
  }
}
const stateOf = (index: number, cpu: number, closed: boolean, preference: number) =>
  aCluster(`cluster-${index}`, { capacity: { cpu: `${cpu}`, pods: '20' }, closed: closed ? 'cordoned' : undefined, preference });

describe('a cycle with fair sharing', () => {
  test('decides what the plain cycle decides, and one that ends early its first turns', () => {
    const counts: Counts = { cycles: 0, cut: 0, decisions: new Map() };
    fc.assert(
      fc.property(worlds, (world) => play(world, counts)),
      { numRuns: 60, interruptAfterTimeLimit: 60_000 },
    );
    // The worlds are no quiet ones.
    expect(counts.cut).toBeGreaterThan(300);
    for (const kind of ['Admit', 'Preempt', 'Inadmissible', 'Requeue'] as const) expect(counts.decisions.get(kind)).toBeGreaterThan(10);
  });
});
