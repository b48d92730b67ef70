import type { DeepReadonly, Namespace } from '../../../shared/api/kubernetes.ts';
import { QUEUE_NAME_LABEL } from '../../../shared/api/names.ts';
import { MATCHES_NOTHING, matchesLabelSelector, requirementsOf, type LabelRequirements } from '../../../shared/kube/selectors.ts';
import { repellingTaint, type Taint } from '../../../shared/kube/taints.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { chargeName } from '../../api/amount.ts';
import type { CarriedKind, CarryContent } from '../../api/carried-kinds.ts';
import type { ClusterQueue, ClusterQueueSpec, PlacementPolicy } from '../../api/cluster-queue.ts';
import type { Cohort } from '../../api/cohort.ts';
import type { LocalQueue, PriorityBounds } from '../../api/local-queue.ts';
import { parseDurationMs } from '../../api/duration.ts';
import { weightOf } from '../../api/fair-weight.ts';
import { QuotaReservedReason } from '../../api/reasons.ts';
import type { ResourceFlavor } from '../../api/resource-flavor.ts';
import type { AdmittedIndex } from '../workload/admitted-index.ts';
import type { CheckRule } from '../workload/check-rules.ts';
import type { ClusterState } from '../quota/cluster-state.ts';
import type { FairSharingConfig } from '../fair-sharing/fair-strategy.ts';
import type { LocalQueueUsage } from '../fair-sharing/local-queue-order.ts';
import { preemptionPolicies, type PreemptionPolicies } from '../quota/preemption-policies.ts';
import { resolvePriority, type PriorityClasses } from '../workload/priority.ts';
import { buildQuotaTree, flavorResource, type FlavorResource, type QuotaNode, type QuotaTree } from '../quota/quota-tree.ts';
import { outputsOf, transformationsOf, type ResourceTransformations } from '../quota/resource-transformations.ts';
import type { ReleaseProfile } from '../workload/release-profile.ts';
import type { ShapesOfCycle } from '../workload/shape-avoidance.ts';
import type { Usage } from '../quota/usage.ts';
import type { Workload } from '../workload/workload.ts';

/** The input of a scheduling cycle: quota, usage and clusters. */
export type Snapshot = {
  readonly queues: ReadonlyMap<string, QueueSetup>;
  readonly clusters: readonly ClusterState[];
  /** Workloads that hold quota. */
  readonly admitted: AdmittedIndex;
  /** All ClusterQueues in the quota tree, by name. */
  readonly nodes: ReadonlyMap<string, QuotaNode>;
  /** How ClusterQueues share what their Cohorts lend; undefined: by priority and age. */
  readonly fairSharing?: FairSharingConfig | undefined;
  /** The usage of LocalQueues, where it orders their Jobs. */
  readonly localQueueUsage?: LocalQueueUsage | undefined;
  /** Whether a ClusterQueue admits nothing until pods of its admitted Workloads are ready; absent: none does. */
  readonly isBlocked?: (clusterQueue: string) => boolean;
  /** A private fork: the cycle charges its decisions to it. */
  readonly usage: Usage;
  /** What is known about Jobs of equal shape; a private fork. */
  readonly shapes: ShapesOfCycle;
  /** Expected releases of admitted Workloads; absent: nothing is known. */
  readonly releases?: ReleaseProfile | undefined;
};

/** The queues as administrators set them up. Rebuilt when one of the objects changes. */
export type QueueingSetup = {
  /** Active ClusterQueues, by name. */
  readonly queues: ReadonlyMap<string, QueueSetup>;
  /** Why each other ClusterQueue is inactive. */
  readonly inactive: ReadonlyMap<string, InadmissibleReason>;
  /** LocalQueues by `namespace/name`. */
  readonly localQueues: ReadonlyMap<string, LocalQueueSetup>;
  /** Labels by namespace. */
  readonly namespaces: ReadonlyMap<string, Readonly<Record<string, string>>>;
  readonly tree: QuotaTree;
  /** Some queue has stopPolicy HoldAndDrain. */
  readonly draining: boolean;
  /** Some queue has the strategy Backfill, which needs to know how long Jobs run. */
  readonly backfills: boolean;
  /** How ClusterQueues share what their Cohorts lend; undefined: by priority and age. */
  readonly fairSharing: FairSharingConfig | undefined;
};

export type LocalQueueSetup = {
  readonly clusterQueue: string;
  readonly stopPolicy: StopPolicy;
  readonly priorityBounds: DeepReadonly<PriorityBounds> | undefined;
  /** The kinds of objects that travel with its Jobs; undefined: its ClusterQueue decides. */
  readonly carry: readonly CarriedKind[] | undefined;
  /** Which content they have when a Job moves; undefined: its ClusterQueue decides. */
  readonly carryContent?: CarryContent | undefined;
  /** The weight that divides the LocalQueue's usage, with admission fair sharing. */
  readonly weight: number;
};

export type QueueSetup = {
  readonly name: string;
  readonly node: QuotaNode;
  readonly strict: boolean;
  /** Whether its first Workload that does not fit has an expected start, which others may use the time before. */
  readonly backfills?: boolean;
  /** Which of the clusters with room its Jobs go to. */
  readonly placement: PlacementPolicy;
  readonly stopPolicy: StopPolicy;
  /** How long a placement may take to start, 0: unlimited. */
  readonly startTimeoutMs: number;
  /** How long a Job that has started may have fewer ready pods than it needs, 0: unlimited. */
  readonly recoveryTimeoutMs: number;
  /** Whether it admits no Workload while an admitted one has pods that are not ready. */
  readonly blocksAdmission?: boolean;
  /** After so many consecutive failed placements the Job is reported as unable to start. */
  readonly maxMoves: number;
  readonly onCannotStart: 'Wait' | 'Fail';
  /** Admission checks of its Jobs after quota reservation, and their timeout, 0: unlimited. */
  readonly checks?: readonly CheckRule[];
  readonly checksTimeoutMs?: number;
  /** Finished pods keep their quota until the Job ends. */
  readonly keepsFinished?: boolean;
  /** The kinds of objects that travel with its Jobs; absent: none. */
  readonly carry?: readonly CarriedKind[];
  /** Which content they have when a Job moves; absent: Current. */
  readonly carryContent?: CarryContent;
  /** What happens to Jobs whose cluster is lost. */
  readonly onLoss: Pick<DeepReadonly<ClusterQueueSpec>, 'fencing' | 'podFence' | 'onClusterLost'>;
  readonly namespaces: LabelRequirements;
  /** Whether the search for a flavor stops at the first in which a Job fits by borrowing, or continues for one without borrowing. */
  readonly whenCanBorrow: 'MayStopSearch' | 'TryNextFlavor';
  /** The same for a flavor in which the Job fits only by preemption. */
  readonly whenCanPreempt: 'MayStopSearch' | 'TryNextFlavor';
  /** Which of two flavors is preferred if neither is simply free. */
  readonly flavorPreference: 'BorrowingOverPreemption' | 'PreemptionOverBorrowing';
  readonly preemption: PreemptionPolicies;
  /** Whether the ClusterQueue may preempt and borrow at once. */
  readonly mayPreemptWhileBorrowing: boolean;
  /** Whether the usage of its LocalQueues orders their Jobs. */
  readonly admissionMode: 'UsageBasedAdmissionFairSharing' | 'NoAdmissionFairSharing';
  /** Whether Jobs may ask for resources for which the queue has no quota; those that are never charged have these prefixes. */
  readonly ignoresUndeclared?: boolean;
  readonly excludedPrefixes?: readonly string[];
  /** What is charged in place of requests; absent: requests are. */
  readonly transformations?: ResourceTransformations;
  /**
   * The resource groups, without resources that are not charged. Resources have the names under which requests say what is charged: their
   * own, or with transformations their `chargeName`.
   */
  readonly groups: readonly { readonly resources: readonly string[]; readonly flavors: readonly FlavorSetup[] }[];
};
export type FlavorSetup = {
  readonly name: string;
  /** The keys of its quota, by resource of the group as named there. */
  readonly keys: ReadonlyMap<string, FlavorResource>;
  readonly clusters: LabelRequirements;
  readonly nodeLabels: Readonly<Record<string, string>>;
  /** Taints of the nodes that the pods themselves have to tolerate. */
  readonly taints: readonly Taint[];
};
export type StopPolicy = 'None' | 'Hold' | 'HoldAndDrain';

/** Defaults of a ClusterQueue. */
const START_TIMEOUT_MS = 600_000;
const MAX_MOVES = 5;

/** Why a Workload cannot be admitted now: a reason for programs, a message for users. */
export type InadmissibleReason = {
  readonly reason: QuotaReservedReason;
  readonly message: string;
  /** The resources of which too little is free, in the first flavor, or on the first cluster, that lacks them. */
  readonly shortOf?: readonly string[] | undefined;
  /** Pods of the Job may still run. */
  readonly mayRun?: boolean;
};

export type QueueingObjects = {
  readonly clusterQueues: readonly DeepReadonly<ClusterQueue>[];
  readonly localQueues: readonly DeepReadonly<LocalQueue>[];
  readonly resourceFlavors: readonly DeepReadonly<ResourceFlavor>[];
  readonly cohorts: readonly DeepReadonly<Cohort>[];
  readonly namespaces: readonly DeepReadonly<Namespace>[];
};

/** `defaultPlacement`: of ClusterQueues that do not say how their Jobs are placed. */
export function buildQueueingSetup(
  objects: QueueingObjects,
  fairSharing?: FairSharingConfig,
  defaultPlacement: PlacementPolicy = 'LeastRoom',
): QueueingSetup {
  const tree = buildQuotaTree(objects.clusterQueues, objects.cohorts);
  const flavors = new Map(objects.resourceFlavors.map((flavor) => [flavor.metadata.name, flavorSetup(flavor)]));
  const queues = new Map<string, QueueSetup>();
  const inactive = new Map<string, InadmissibleReason>();
  for (const clusterQueue of objects.clusterQueues) {
    const setup = queueSetup(clusterQueue, tree, flavors, { fairSharing, defaultPlacement });
    if ('reason' in setup) inactive.set(clusterQueue.metadata.name, setup);
    else queues.set(setup.name, setup);
  }
  return {
    queues,
    inactive,
    tree,
    localQueues: new Map(
      objects.localQueues.map(({ metadata, spec }) => [
        `${metadata.namespace}/${metadata.name}`,
        {
          clusterQueue: spec.clusterQueue,
          stopPolicy: spec.stopPolicy ?? 'None',
          priorityBounds: spec.priorityBounds,
          carry: spec.carry,
          carryContent: spec.carryContent,
          weight: weightOf(spec.fairSharing),
        },
      ]),
    ),
    namespaces: new Map(objects.namespaces.map(({ metadata }) => [metadata.name, metadata.labels ?? {}])),
    fairSharing,
    backfills: [...queues.values()].some((queue) => queue.backfills === true),
    draining: [...objects.clusterQueues, ...objects.localQueues].some(({ spec }) => spec.stopPolicy === 'HoldAndDrain'),
  };
}

const flavorSetup = ({ metadata, spec }: DeepReadonly<ResourceFlavor>): Omit<FlavorSetup, 'keys'> => ({
  name: metadata.name,
  clusters: requirementsOf(spec?.clusterSelector ?? {}),
  nodeLabels: spec?.nodeLabels ?? {},
  taints: (spec?.nodeTaints ?? []).filter((taint) => repellingTaint([taint], spec?.tolerations ?? []) !== undefined),
});

function queueSetup(
  { metadata, spec }: DeepReadonly<ClusterQueue>,
  tree: QuotaTree,
  flavors: ReadonlyMap<string, Omit<FlavorSetup, 'keys'>>,
  { fairSharing, defaultPlacement }: { readonly fairSharing: FairSharingConfig | undefined; readonly defaultPlacement: PlacementPolicy },
): QueueSetup | InadmissibleReason {
  const { name } = metadata;
  const node = tree.clusterQueues.get(name);
  if (node === undefined) {
    return {
      reason: QuotaReservedReason.CohortCycle,
      message: `the cohorts above cluster queue ${name} form a cycle: ${tree.cycles.get(name)}`,
    };
  }
  const groups = spec.resourceGroups ?? [];
  const covered = groups.flatMap((group) => group.coveredResources);
  const twice = covered.find((resource, index) => covered.indexOf(resource) !== index);
  if (twice !== undefined) {
    return { reason: QuotaReservedReason.InvalidClusterQueue, message: `cluster queue ${name} gives ${twice} in two resource groups` };
  }
  const missing = groups.flatMap((group) => group.flavors).find((flavor) => !flavors.has(flavor.name));
  if (missing !== undefined) {
    return {
      reason: QuotaReservedReason.ResourceFlavorNotFound,
      message: `resource flavor ${missing.name} of cluster queue ${name} does not exist`,
    };
  }
  const preemption = preemptionPolicies(spec.preemption);
  const excluded = spec.excludeResourcePrefixes ?? [];
  const transformations = transformationsOf(spec);
  const outputs = transformations && outputsOf(transformations);
  const isCharged = (resource: string): boolean =>
    outputs?.has(resource) === true || !excluded.some((prefix) => resource.startsWith(prefix));
  const nameOf = transformations === undefined ? (resource: string): string => resource : chargeName;
  return {
    name,
    node,
    strict: spec.queueingStrategy === 'StrictFIFO',
    backfills: spec.queueingStrategy === 'Backfill',
    placement: spec.placement ?? defaultPlacement,
    stopPolicy: spec.stopPolicy ?? 'None',
    startTimeoutMs: parseDurationMs(spec.startTimeout ?? '') ?? START_TIMEOUT_MS,
    recoveryTimeoutMs: parseDurationMs(spec.recoveryTimeout ?? '') ?? 0,
    blocksAdmission: spec.blockAdmission === true,
    maxMoves: spec.maxMoves ?? MAX_MOVES,
    onCannotStart: spec.onCannotStart ?? 'Wait',
    checks: (spec.admissionChecksStrategy?.admissionChecks ?? []).map(({ name: check, onFlavors = [] }) => ({ name: check, onFlavors })),
    checksTimeoutMs: parseDurationMs(spec.admissionChecksTimeout ?? '') ?? 0,
    keepsFinished: spec.reclaimablePods === 'Keep',
    ...omitUndefined({ carry: spec.carry, carryContent: spec.carryContent }),
    onLoss: spec,
    namespaces: requirementsOf(spec.namespaceSelector),
    whenCanBorrow: spec.flavorFungibility?.whenCanBorrow === 'TryNextFlavor' ? 'TryNextFlavor' : 'MayStopSearch',
    whenCanPreempt: (spec.flavorFungibility?.whenCanPreempt ?? 'TryNextFlavor') === 'TryNextFlavor' ? 'TryNextFlavor' : 'MayStopSearch',
    flavorPreference: spec.flavorFungibility?.preference ?? 'BorrowingOverPreemption',
    preemption,
    mayPreemptWhileBorrowing:
      preemption.borrowWithinCohort.policy !== 'Never' || (fairSharing !== undefined && preemption.reclaimWithinCohort !== 'Never'),
    admissionMode: spec.admissionScope?.admissionMode ?? 'NoAdmissionFairSharing',
    ignoresUndeclared: spec.quotaCheckStrategy === 'IgnoreUndeclared',
    excludedPrefixes: excluded,
    ...omitUndefined({ transformations }),
    groups: groups.map((group) => {
      const resources = group.coveredResources.filter(isCharged);
      return {
        resources: resources.map(nameOf),
        flavors: group.flavors.flatMap(({ name: flavor }) => {
          const found = flavors.get(flavor);
          const keys = new Map(resources.map((resource) => [nameOf(resource), flavorResource(flavor, resource)]));
          return found === undefined ? [] : [{ ...found, keys }];
        }),
      };
    }),
  };
}

/** The ClusterQueue of a pending Workload, its priority there, and the kinds of objects that travel with it. */
export type Route = {
  readonly queue: QueueSetup;
  readonly priority: number;
  readonly carry: readonly CarriedKind[];
  readonly carryContent: CarryContent;
};

/** Why a ClusterQueue admits no Jobs of this namespace. */
export const notSelected = ({ name, namespaces }: QueueSetup, namespace: string): string =>
  namespaces === MATCHES_NOTHING
    ? `cluster queue ${name} selects no namespace: its spec.namespaceSelector is absent; {} selects all`
    : `the namespaceSelector of cluster queue ${name} does not select namespace ${namespace}`;

/** The route of a pending Workload, or why it joins no queue. */
export function routeOf(workload: Workload, setup: QueueingSetup, classes: PriorityClasses): Route | InadmissibleReason {
  if (workload.problem !== undefined) return { reason: QuotaReservedReason.InvalidJob, message: workload.problem };
  if (workload.forbidden !== undefined) return { reason: QuotaReservedReason.ForbiddenByLimitRange, message: workload.forbidden };
  if (workload.queue === undefined) {
    return { reason: QuotaReservedReason.LocalQueueNotFound, message: `the Job names no local queue; set its label ${QUEUE_NAME_LABEL}` };
  }
  const local = setup.localQueues.get(`${workload.namespace}/${workload.queue}`);
  if (local === undefined) {
    return {
      reason: QuotaReservedReason.LocalQueueNotFound,
      message: `local queue ${workload.queue} does not exist in namespace ${workload.namespace}`,
    };
  }
  const queue = setup.queues.get(local.clusterQueue);
  if (queue === undefined) {
    return (
      setup.inactive.get(local.clusterQueue) ?? {
        reason: QuotaReservedReason.ClusterQueueNotFound,
        message: `cluster queue ${local.clusterQueue} of local queue ${workload.queue} does not exist`,
      }
    );
  }
  if (local.stopPolicy !== 'None') return { reason: QuotaReservedReason.QueueStopped, message: `local queue ${workload.queue} is stopped` };
  if (queue.stopPolicy !== 'None') return { reason: QuotaReservedReason.QueueStopped, message: `cluster queue ${queue.name} is stopped` };
  if (!matchesLabelSelector(queue.namespaces, setup.namespaces.get(workload.namespace))) {
    return {
      reason: QuotaReservedReason.NamespaceNotAllowed,
      message: notSelected(queue, workload.namespace),
    };
  }
  const priority = resolvePriority(workload.priorityWish, classes, local.priorityBounds);
  if (priority.kind !== 'Priority') return { reason: priority.reason, message: priority.message };
  return {
    queue,
    priority: priority.value,
    carry: workload.carry ?? local.carry ?? queue.carry ?? [],
    carryContent: local.carryContent ?? queue.carryContent ?? 'Current',
  };
}
