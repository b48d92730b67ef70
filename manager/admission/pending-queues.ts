import { IndexedHeap } from '../../shared/kube/indexed-heap.ts';
import { given } from '../../shared/runtime/given.ts';
import { QuotaReservedReason } from '../api/reasons.ts';
import { Lanes } from './lanes.ts';
import { compareQueued, type QueuedWorkload } from './ordering.ts';
import type { Claim, Head, WaitsFor } from './decision.ts';
import type { InadmissibleReason } from './snapshot.ts';

/** Why a Workload that was tried could not be admitted, and what must change before it is tried again. */
export type Inadmissibility = InadmissibleReason & {
  readonly waitsFor: WaitsFor;
  /** It is also tried again at this time, in epoch milliseconds. */
  readonly retryAtMs?: number;
  /** What is kept for it while it waits. */
  readonly claim?: Claim;
};

/**
 * What waits for admission. Each ClusterQueue is a heap by priority and age, below what its LocalQueues have used where that counts, split into groups of equal scheduling hash and priority: when the first
 * Workload of a group does not fit, none of the group does, so all of them are inadmissible together and cost nothing until a change wakes
 * them. A queue is blocked as a whole by a Workload that waits for those that it preempts, and a StrictFIFO queue by its first Workload, unless that waits for other queues or clusters than there are: it is set
 * aside like any other, because *never* is not *not now*. Memory only: everything here is derived from Jobs.
 */
export interface PendingQueues {
  /**
   * Adds a Workload, or replaces its earlier version. In an inadmissible group it is inadmissible, too. Those of one group have the same
   * scheduling hash, and the same that sets them `apart`: clusters that are for their namespaces and not for all, or what clusters have done to their like.
   */
  add(clusterQueue: string, strict: boolean, queued: QueuedWorkload, apart?: readonly string[]): void;
  /** Takes a Workload out, if it is there. */
  delete(key: string): void;
  has(key: string): boolean;
  /** The first Workload of each ClusterQueue that has one to try. It stays where it is. */
  heads(): Head[];
  /** The others for which something is kept: one of a ClusterQueue, which was the first when it was tried. Whoever is stopped by that is woken when it ends. */
  claimants(): Head[];
  /**
   * Everything in the head's group is inadmissible, or its StrictFIFO queue is blocked. Costs the same however many wait. Where the group is to
   * be tried again at a time that nobody waits for yet, it returns what is to be called then.
   */
  markInadmissible(head: Head, inadmissibility: Inadmissibility): (() => void) | undefined;
  /** Why a Workload that waits here was not admitted when it, or one like it, was last tried; undefined before the first try. */
  inadmissibilityOf(key: string): Inadmissibility | undefined;
  /** Quota of these ClusterQueues has become free: all their Workloads are active again for which that may be enough. */
  wake(clusterQueues: Iterable<string>): void;
  /** Room on clusters has become free: all Workloads are active again that had quota and found no cluster. */
  wakeWaitingForCluster(): void;
  /** The clusters are other ones now: so are those that found none, now or ever. */
  wakeAfterClusterChange(): void;
  /** The queues are other ones now: all Workloads are active again. */
  wakeAll(): void;
  /** A LocalQueue of the ClusterQueue, or any of all ClusterQueues, has used something else now. */
  usageChanged(clusterQueue?: string, localQueue?: string): void;
  /** Every ClusterQueue that has held a Workload, with how many will be tried and how many are inadmissible. */
  counts(): ReadonlyMap<string, { readonly active: number; readonly inadmissible: number }>;
  /** How many Workloads of the same ClusterQueue go before this one; undefined when it does not wait here. */
  position(key: string): number | undefined;
}

/** Workloads of one ClusterQueue that fit together or fail together. */
type Group = {
  readonly id: string;
  /** The LocalQueue, where those of the ClusterQueue share it by what they have used. */
  readonly lane: string;
  readonly waiting: IndexedHeap<QueuedWorkload>;
  /** Not to be tried until a change wakes it. */
  inadmissible: boolean;
  /** Somebody waits for this time to have it tried again. */
  retryAtMs: number | undefined;
  /** Of the last try; it outlives the wake, until the next try says something else. */
  inadmissibility: Inadmissibility | undefined;
};
type Queue = {
  readonly name: string;
  strict: boolean;
  readonly groups: Map<string, Group>;
  /** Groups to be tried, by their first Workload. */
  readonly active: Lanes<Group>;
  /** A StrictFIFO queue waits behind its first Workload. */
  blocked: { readonly key: string; readonly inadmissibility: Inadmissibility } | undefined;
  /** For whom something is kept, and what. */
  claimant: { readonly key: string; readonly claim: Claim } | undefined;
};
type Entry = { readonly queue: Queue; readonly group: Group; readonly queued: QueuedWorkload };

/** `usageOf`: what a LocalQueue, by `namespace/name`, has used; undefined where that does not order its ClusterQueue. */
export function createPendingQueues(usageOf: (localQueue: string) => number | undefined = () => undefined): PendingQueues {
  const queues = new Map<string, Queue>();
  const entries = new Map<string, Entry>();

  const queueNamed = (name: string): Queue => {
    const known = queues.get(name);
    if (known !== undefined) return known;
    const queue: Queue = {
      name,
      strict: false,
      groups: new Map(),
      active: new Lanes<Group>({
        keyOf: ({ id }) => id,
        laneOf: ({ lane }) => lane,
        compare: compareGroups,
        usageOf: (lane) => usageOf(lane) ?? 0,
      }),
      blocked: undefined,
      claimant: undefined,
    };
    queues.set(name, queue);
    return queue;
  };

  const remove = (key: string): void => {
    const queue = entries.get(key)?.queue;
    take(key);
    if (queue?.claimant?.key === key) setClaimant(queue, undefined);
  };

  /** Those whom a claim has stopped are tried again when it has become another one. */
  const setClaimant = (queue: Queue, claimant: Queue['claimant']): void => {
    const before = queue.claimant;
    queue.claimant = claimant;
    if (before === undefined || (claimant !== undefined && isSameClaim(before.claim, claimant.claim))) return;
    for (const each of queues.values()) reactivate(each, ({ reason }) => reason === QuotaReservedReason.BehindOtherQueues);
  };

  const take = (key: string): void => {
    const entry = entries.get(key);
    if (entry === undefined) return;
    entries.delete(key);
    const { queue, group } = entry;
    if (firstOf(queue)?.workload.key === key) queue.blocked = undefined;
    group.waiting.delete(key);
    if (group.waiting.size === 0) {
      queue.groups.delete(group.id);
      queue.active.delete(group.id);
    } else if (!group.inadmissible) queue.active.set(group);
  };

  const reactivate = (queue: Queue, isConcerned: (inadmissibility: Inadmissibility) => boolean): void => {
    if (queue.blocked !== undefined && isConcerned(queue.blocked.inadmissibility)) queue.blocked = undefined;
    for (const group of queue.groups.values()) {
      if (!group.inadmissible || group.inadmissibility === undefined || !isConcerned(group.inadmissibility)) continue;
      group.inadmissible = false;
      queue.active.set(group);
    }
    // Whoever was set aside and stands before the one that blocks is to be tried.
    if (queue.blocked !== undefined && firstOf(queue)?.workload.key !== queue.blocked.key) queue.blocked = undefined;
  };

  const retry = (queue: Queue, group: Group, retryAtMs: number): void => {
    if (group.retryAtMs === retryAtMs) group.retryAtMs = undefined;
    if (queue.blocked !== undefined && entries.get(queue.blocked.key)?.group === group) queue.blocked = undefined;
    if (!group.inadmissible || queue.groups.get(group.id) !== group) return;
    group.inadmissible = false;
    queue.active.set(group);
  };

  const headOf = (queue: Queue, queued: QueuedWorkload): Head => {
    const { key } = queued.workload;
    const lane = entries.get(key)?.group.lane ?? '';
    return {
      clusterQueue: queue.name,
      queued,
      ...given({
        claim: queue.claimant?.key === key ? queue.claimant.claim : undefined,
        usage: lane === '' ? undefined : queue.active.usageOf(lane),
      }),
    };
  };

  return {
    add: (clusterQueue, strict, queued, apart = []) => {
      const { workload } = queued;
      const before = entries.get(workload.key);
      take(workload.key);
      const queue = queueNamed(clusterQueue);
      if (queue.strict !== strict) {
        queue.strict = strict;
        reactivate(queue, () => true);
      }
      const localQueue = `${workload.namespace}/${workload.queue ?? ''}`;
      const lane = usageOf(localQueue) === undefined ? '' : localQueue;
      // Whom it may preempt is a matter of its priority.
      const groupId = [workload.schedulingHash, String(queued.priority), ...(lane === '' ? apart : [...apart, lane])].join(' ');
      const group = queue.groups.get(groupId) ?? newGroup(groupId, lane);
      queue.groups.set(groupId, group);
      group.waiting.set(queued);
      entries.set(workload.key, { queue, group, queued });
      // With the same wishes it keeps what is kept for it.
      if (before?.queue.claimant?.key === workload.key && (before.queue !== queue || before.group.id !== groupId))
        setClaimant(before.queue, undefined);
      if (group.inadmissible && !isPassed(group, queued)) return;
      group.inadmissible = false;
      queue.active.set(group);
      // Whoever arrives behind a blocked first Workload changes nothing; whoever arrives before it is to be tried.
      if (queue.blocked !== undefined && firstOf(queue)?.workload.key === workload.key) queue.blocked = undefined;
    },
    delete: remove,
    has: (key) => entries.has(key),
    heads: () => {
      const heads: Head[] = [];
      for (const queue of queues.values()) {
        const first = queue.blocked === undefined ? firstOf(queue) : undefined;
        if (first !== undefined) heads.push(headOf(queue, first));
      }
      return heads;
    },
    claimants: () => {
      const heads: Head[] = [];
      for (const queue of queues.values()) {
        const key = queue.claimant?.key;
        const queued = key === undefined ? undefined : entries.get(key)?.queued;
        if (queued === undefined) continue;
        const first = queue.blocked === undefined ? firstOf(queue) : undefined;
        // A StrictFIFO queue waits for its first Workload, and for nobody else.
        const stands = queue.strict ? queue.blocked?.key === key : first !== queued;
        if (stands) heads.push(headOf(queue, queued));
      }
      return heads;
    },
    markInadmissible: ({ queued }, inadmissibility) => {
      const entry = entries.get(queued.workload.key);
      if (entry === undefined) return undefined;
      const { queue, group } = entry;
      group.inadmissibility = inadmissibility;
      const { claim } = inadmissibility;
      const { key } = queued.workload;
      if (claim !== undefined) setClaimant(queue, { key, claim });
      else if (queue.claimant?.key === key) setClaimant(queue, undefined);
      const blocks = queue.strict || inadmissibility.reason === QuotaReservedReason.Preempting;
      if (blocks && inadmissibility.waitsFor !== 'setup') queue.blocked = { key, inadmissibility };
      else {
        group.inadmissible = true;
        queue.active.delete(group.id);
      }
      const { retryAtMs } = inadmissibility;
      if (retryAtMs === undefined || retryAtMs === group.retryAtMs) return undefined;
      group.retryAtMs = retryAtMs;
      return () => retry(queue, group, retryAtMs);
    },
    inadmissibilityOf: (key) => {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      const { queue, group } = entry;
      if (queue.blocked === undefined || queue.blocked.key === key || group.inadmissible) return group.inadmissibility;
      return behind(queue, queue.blocked.inadmissibility);
    },
    wake: (clusterQueues) => {
      for (const name of clusterQueues) {
        const queue = queues.get(name);
        if (queue !== undefined) reactivate(queue, ({ waitsFor }) => waitsFor !== 'setup');
      }
    },
    wakeWaitingForCluster: () => {
      for (const queue of queues.values()) reactivate(queue, ({ waitsFor }) => waitsFor === 'cluster');
    },
    wakeAfterClusterChange: () => {
      for (const queue of queues.values()) reactivate(queue, ({ waitsFor }) => waitsFor !== 'quota');
    },
    wakeAll: () => {
      for (const queue of queues.values()) reactivate(queue, () => true);
    },
    usageChanged: (clusterQueue, localQueue) => {
      for (const queue of clusterQueue === undefined ? queues.values() : [queues.get(clusterQueue)]) {
        queue?.active.usageChanged(localQueue);
        // Another LocalQueue may go first now, and so another Workload.
        if (queue?.blocked !== undefined && firstOf(queue)?.workload.key !== queue.blocked.key) queue.blocked = undefined;
      }
    },
    counts: () => new Map([...queues.values()].map((queue) => [queue.name, countOf(queue)])),
    position: (key) => {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      const { active } = entry.queue;
      const usage = active.usageOf(entry.group.lane);
      let before = 0;
      for (const group of entry.queue.groups.values()) {
        const theirs = active.usageOf(group.lane);
        if (theirs < usage) before += group.waiting.size;
        if (theirs !== usage) continue;
        for (const other of group.waiting.values()) if (compareQueued(other, entry.queued) < 0) before++;
      }
      return before;
    },
  };
}

const isSameClaim = (a: Claim, b: Claim): boolean =>
  a.cluster === b.cluster && Object.entries(a.flavors).every(([resource, flavor]) => b.flavors[resource] === flavor);

/** What is kept for those that go before a group is not kept from one that goes before them. */
const isPassed = ({ inadmissibility, waiting }: Group, queued: QueuedWorkload): boolean =>
  inadmissibility?.reason === QuotaReservedReason.BehindOtherQueues && waiting.peek() === queued;

const newGroup = (id: string, lane: string): Group => ({
  id,
  lane,
  waiting: new IndexedHeap((queued) => queued.workload.key, compareQueued),
  inadmissible: false,
  retryAtMs: undefined,
  inadmissibility: undefined,
});

/** What is told to those behind a blocked first Workload. It names nobody, so that it stays true while the queue moves. */
const behind = (queue: Queue, { waitsFor, reason }: Inadmissibility): Inadmissibility => ({
  reason: QuotaReservedReason.BehindEarlierJob,
  message: `an earlier Job of cluster queue ${queue.name} ${
    reason === QuotaReservedReason.Preempting ? 'waits until those that it preempts have stopped' : 'does not fit yet (StrictFIFO)'
  }`,
  waitsFor,
});

const firstOf = (queue: Queue): QueuedWorkload | undefined => queue.active.peek()?.waiting.peek();

function compareGroups(a: Group, b: Group): number {
  const first = a.waiting.peek();
  const second = b.waiting.peek();
  if (first === undefined || second === undefined) return first === undefined ? 1 : -1;
  return compareQueued(first, second);
}

function countOf(queue: Queue): { active: number; inadmissible: number } {
  let active = 0;
  let inadmissible = 0;
  for (const group of queue.groups.values()) {
    if (!group.inadmissible && queue.blocked === undefined) active += group.waiting.size;
    else inadmissible += group.waiting.size;
  }
  return { active, inadmissible };
}
