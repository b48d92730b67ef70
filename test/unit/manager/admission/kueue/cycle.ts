/**
 * One scheduling cycle, from what runs and who is first in each queue to who runs, stops and waits: for situations of which Kueue's tests
 * or documents tell the outcome.
 */
import type { Cohort } from '../../../../../manager/api/cohort.ts';
import type { ResourceFlavorSpec } from '../../../../../manager/api/resource-flavor.ts';
import { multiplyRequests, parseRequests } from '../../../../../manager/api/amount.ts';
import { createAdmittedIndex } from '../../../../../manager/admission/workload/admitted-index.ts';
import type { Decision } from '../../../../../manager/admission/scheduling/decision.ts';
import type { FairSharingConfig } from '../../../../../manager/admission/fair-sharing/fair-strategy.ts';
import { charge } from '../../../../../manager/admission/flavors/holding.ts';
import { nodeWishOf } from '../../../../../manager/admission/workload/node-wish.ts';
import type { Workload } from '../../../../../manager/admission/workload/workload.ts';
import { sumOf } from '../../../../../manager/admission/workload/workload-pod-sets.ts';
import type { RecordedPodSet } from '../../../../../manager/api/records.ts';
import { schedule } from '../../../../../manager/admission/scheduling/schedule.ts';
import { createShapeAvoidance } from '../../../../../manager/admission/workload/shape-avoidance.ts';
import { buildQueueingSetup, type Snapshot } from '../../../../../manager/admission/snapshot/snapshot.ts';
import { createUsage } from '../../../../../manager/admission/quota/usage.ts';
import type { PodSpec } from '../../../../../shared/api/kubernetes.ts';
import { omitUndefined } from '../../../../../shared/runtime/omit-undefined.ts';
import { admittedOf, aQueue, type Flavors, type Holding, type QueueOf, type Quotas } from '../preemption/preemption-world.ts';
import { aCluster, aFlavor, aWorkload, objects } from '../setup.ts';

export type CohortOf = {
  readonly parent?: string;
  readonly quota?: Quotas;
  readonly groups?: readonly Flavors[];
  readonly weight?: string | number;
};

/** `requests` are those of each pod. */
export type PodSetOf = {
  readonly requests: Quotas;
  readonly pods?: number;
  readonly minPods?: number;
  readonly spec?: Partial<PodSpec>;
};

/** The first of a queue. */
export type Waiting = {
  readonly name: string;
  readonly queue: string;
  /** Of all of its pods, or, where there are `pods`, of each. */
  readonly requests?: Quotas;
  readonly pods?: number;
  readonly minPods?: number;
  /** In place of `requests`, where there are several. */
  readonly podSets?: Readonly<Record<string, PodSetOf>>;
  readonly priority?: number;
  /** Seconds since the beginning. */
  readonly created?: number;
  readonly spec?: Partial<PodSpec>;
  /** What its LocalQueue has used, where that orders its queue. */
  readonly usage?: number;
};

export type Cycle = {
  readonly queues: Readonly<Record<string, QueueOf>>;
  readonly cohorts?: Readonly<Record<string, CohortOf>>;
  /** Those that are not like any node. */
  readonly flavors?: Readonly<Record<string, ResourceFlavorSpec>>;
  readonly running?: readonly Holding[];
  readonly waiting: readonly Waiting[];
  readonly fairSharing?: FairSharingConfig;
  /** What LocalQueues of namespace `team` have used, where that orders their queues. */
  readonly used?: Readonly<Record<string, number>>;
};

const meta = (name: string) => ({ name, uid: name, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' });

const cohortOf = ([name, { parent, quota, groups, weight }]: [string, CohortOf]): Cohort => {
  const { resourceGroups } = aQueue(name, { ...omitUndefined({ quota }), ...omitUndefined({ groups }) }).spec;
  return {
    metadata: meta(name),
    spec: { ...omitUndefined({ parentName: parent, resourceGroups }), ...(weight === undefined ? {} : { fairSharing: { weight } }) },
  };
};

const nodesOf = (spec: Partial<PodSpec>) => nodeWishOf({ containers: [], ...spec });
const requestsOf = ({ requests = {}, pods = 1 }: Pick<Waiting, 'requests' | 'pods'>) =>
  multiplyRequests(parseRequests({ ...requests, pods: '1' }), pods);

const sizesOf = ({ podSets, minPods, ...one }: Waiting): Partial<Workload> => {
  if (podSets === undefined) return { requests: requestsOf(one), minPods };
  const several = Object.entries(podSets).map(([podSet, { minPods: least, spec = {}, ...each }]) => ({
    podSet,
    requests: requestsOf(each),
    nodeWish: nodesOf(spec),
    ...omitUndefined({ minPods: least }),
  }));
  const all = Object.values(podSets);
  const fewest = all.reduce((sum, { pods = 1, minPods: least = pods }) => sum + least, 0);
  return {
    requests: sumOf(several),
    podSets: several,
    minPods: all.some((each) => each.minPods !== undefined) ? fewest : undefined,
  };
};

const headOf = (waiting: Waiting, arrival: number) => {
  const { name, queue, requests = {}, priority = 0, created = arrival, spec, usage } = waiting;
  const workload = aWorkload(name, requests, {
    ...sizesOf(waiting),
    createdMs: created * 1000,
    ...(spec === undefined ? {} : { nodeWish: nodesOf(spec) }),
  });
  return { clusterQueue: queue, queued: { workload, priority, arrival: created }, ...omitUndefined({ usage }) };
};

/**
 * What is decided in one cycle, a sentence for everybody whom it concerns, by name: `big runs on spot`, `big runs with 3 pods on spot`,
 * `big runs: head 1 on default, workers 3 on spot`, `low stops (InClusterQueue)`, `big makes room`, `big waits`, `big is too late`
 * (another one was faster).
 */
export function decided({ queues, cohorts = {}, flavors = {}, running = [], waiting, fairSharing, used }: Cycle): readonly string[] {
  const clusterQueues = Object.entries(queues).map(([name, spec]) => aQueue(name, spec));
  const named = clusterQueues.flatMap(({ spec }) => (spec.resourceGroups ?? []).flatMap((group) => group.flavors.map(({ name }) => name)));
  const setup = buildQueueingSetup(
    objects({
      clusterQueues,
      cohorts: Object.entries(cohorts).map(cohortOf),
      resourceFlavors: [...new Set(named)].map((name) => aFlavor(name, flavors[name])),
    }),
    fairSharing,
  );
  const usage = createUsage();
  const admitted = createAdmittedIndex();
  for (const each of running.map(admittedOf)) {
    const { record, held } = each.reservation;
    admitted.set(each);
    const node = setup.tree.clusterQueues.get(record.clusterQueue);
    if (node === undefined) throw new Error(`no queue ${record.clusterQueue}`);
    charge(usage, { node, charges: each.charges, cluster: record.cluster, amounts: held });
  }
  const snapshot: Snapshot = {
    queues: setup.queues,
    clusters: [aCluster('only')],
    admitted,
    nodes: setup.tree.clusterQueues,
    usage,
    shapes: createShapeAvoidance().fork(),
    fairSharing,
    ...(used === undefined ? {} : { localQueueUsage: (localQueue: string) => used[localQueue.slice('team/'.length)] }),
  };
  return schedule(snapshot, waiting.map(headOf), 0).flatMap(told).toSorted();
}

function told(decision: Decision): readonly string[] {
  const { name } = decision.head.queued.workload;
  switch (decision.kind) {
    case 'Admit': {
      const { flavors, parallelism, podSets } = decision.record;
      if (podSets !== undefined) return [`${name} runs: ${podSets.map(podSetTold).join(', ')}`];
      const pods = parallelism === undefined ? '' : ` with ${parallelism} pods`;
      const asked = decision.head.queued.workload.requests;
      const used = [...new Set(Object.entries(flavors).flatMap(([resource, flavor]) => (asked.has(resource) ? [flavor] : [])))];
      return [`${name} runs${pods} on ${used.join(' and ')}`];
    }
    case 'Preempt':
      return [
        `${name} makes room`,
        ...decision.victims.map(({ admitted, rule }) => `${admitted.reservation.workload.name} stops (${rule})`),
      ];
    case 'Requeue':
      return [`${name} is too late`];
    case 'Inadmissible':
      return [`${name} waits`];
  }
}

const podSetTold = ({ name, flavors, requests }: RecordedPodSet): string =>
  `${name} ${requests['pods']} on ${[...new Set(Object.values(flavors))].join(' and ')}`;
