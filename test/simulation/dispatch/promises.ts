/** What is promised of an installation, judged by the pods on the worker clusters: what anybody says of itself counts for nothing. */
import type { ClusterQueueSpec } from '../../../manager/api/cluster-queue.ts';
import { FailReason } from '../../../manager/api/reasons.ts';
import { writtenRecordOf } from '../../../manager/api/records.ts';
import type { Job } from '../../../shared/api/kubernetes.ts';
import { COPIES_FINALIZER } from '../../../shared/api/names.ts';
import { findCondition } from '../../../shared/kube/conditions.ts';
import { parseQuantity } from '../../../shared/kube/quantity.ts';
import { isOver } from '../../support/invariants/invariant.ts';
import { type HeldPod, reservedFor } from './yard-history.ts';
import type { Team } from './yard.ts';

/** What no program can be blamed for. */
export type Excuses = {
  /**
   * Clusters whose store was put back a moment ago: it says that pods run whose Job has moved on since, nodes start them, and nobody is
   * asked before. They count again once a worker has had the time to notice.
   */
  readonly restored: ReadonlySet<string>;
  /** Clusters of which an operator has said that nothing runs there any more. His word is all there is for Jobs without a fence. */
  readonly givenUp: ReadonlySet<string>;
};

/**
 * Of each Job at most one copy has pods. A pod counts from the moment it exists until it has ended: in its grace period it runs. Whoever is
 * on a node that is gone runs no more.
 */
export function oneCopyRuns(held: readonly HeldPod[], { restored, givenUp }: Excuses): string[] {
  const copies = new Map<string, Map<string, HeldPod>>();
  for (const each of held) {
    if (each.copy === undefined || restored.has(each.cluster) || (!each.copy.fenced && givenUp.has(each.cluster))) continue;
    const known = copies.get(each.copy.originUid) ?? new Map<string, HeldPod>();
    copies.set(each.copy.originUid, known.set(each.copy.uid, each));
  }
  return [...copies.values()]
    .filter((each) => each.size > 1)
    .map((each) => `${[...each.values()].map(({ cluster, pod }) => `${cluster}/${pod.metadata.name}`).join(' and ')} run for one Job`);
}

/**
 * No team holds more than its quota, on all clusters together, and teams that share theirs no more than all of it. A team is told by the
 * namespace of the pods.
 */
export const quotaKept = (held: readonly HeldPod[], teams: readonly Team[], excuses: Excuses = NO_EXCUSES): string[] =>
  poolsOf(teams).flatMap(({ namespaces, quota }) => within(held, namespaces, quota, excuses));

/** Nor do several teams together hold more than the pool that they share. */
export const poolKept = (
  held: readonly HeldPod[],
  namespaces: readonly string[],
  quota: Team['quota'],
  excuses: Excuses = NO_EXCUSES,
): string[] => within(held, namespaces, nanosOf(quota), excuses);

function within(
  held: readonly HeldPod[],
  namespaces: readonly string[],
  quota: ReadonlyMap<string, bigint>,
  { restored, givenUp }: Excuses,
): string[] {
  const theirs = held.filter(
    ({ cluster, copy, pod }) =>
      namespaces.includes(pod.metadata.namespace ?? '') && !restored.has(cluster) && (copy?.fenced !== false || !givenUp.has(cluster)),
  );
  return [...quota].flatMap(([resource, nominal]) => {
    const used = theirs.reduce((total, { pod }) => total + (reservedFor(pod).get(resource) ?? 0n), 0n);
    if (used <= nominal) return [];
    const pods = theirs.map(({ cluster, pod }) => `${cluster}/${pod.metadata.name}`).join(', ');
    return [`${namespaces.join(' and ')} holds ${Number(used) / 1e9} ${resource} of ${Number(nominal) / 1e9}: ${pods}`];
  });
}

const nanosOf = (quota: Team['quota']): ReadonlyMap<string, bigint> =>
  new Map(Object.entries(quota).map(([resource, amount]) => [resource, parseQuantity(amount).nanos]));

type Pool = { readonly namespaces: readonly string[]; readonly quota: ReadonlyMap<string, bigint> };

function poolsOf(teams: readonly Team[]): readonly Pool[] {
  const pools = new Map<string, Pool>();
  for (const { namespace, cohort, quota } of teams) {
    const name = cohort === undefined ? `namespace ${namespace}` : `cohort ${cohort}`;
    const { namespaces, quota: sum } = pools.get(name) ?? { namespaces: [], quota: new Map<string, bigint>() };
    const more = [...nanosOf(quota)].map(([resource, nominal]) => [resource, (sum.get(resource) ?? 0n) + nominal] as const);
    pools.set(name, { namespaces: [...namespaces, namespace], quota: new Map([...sum, ...more]) });
  }
  return [...pools.values()];
}
const NO_EXCUSES: Excuses = { restored: new Set(), givenUp: new Set() };

/** Nothing runs outside the namespaces of these teams, and nothing that no copy of ours has made. */
export function namespacesKept(held: readonly HeldPod[], namespaces: readonly string[]): string[] {
  return held.flatMap(({ cluster, pod, copy }) => {
    const where = `${cluster}: pod ${pod.metadata.namespace}/${pod.metadata.name}`;
    if (!namespaces.includes(pod.metadata.namespace ?? '')) return [`${where} runs outside of ${namespaces.join(', ')}`];
    return copy === undefined ? [`${where} was made by no copy`] : [];
  });
}

/** The API server's rules for the status of a Job never stand in the way of what is written: no status goes backwards. */
export const statusesAccepted = (refused: readonly string[]): string[] => refused.map((each) => `a status was refused: ${each}`);

/** What somebody has suspended rests until somebody lets it go. `held`: from which version on, by UID. */
export const heldStay = (job: Job, held: ReadonlyMap<string, number>): string[] =>
  Number(job.metadata.resourceVersion) > (held.get(job.metadata.uid) ?? Number.POSITIVE_INFINITY) && job.spec.suspend !== true
    ? [`home: ${job.metadata.namespace}/${job.metadata.name} was suspended by its user, and goes on`]
    : [];

/** What is suspended at home rests on the worker clusters, once it has had the time. `described`: names of objects of other kinds. */
export const suspendedRest = (
  held: readonly HeldPod[],
  jobs: Iterable<Job>,
  described: ReadonlyMap<string, string> = new Map(),
): string[] => {
  const ofJobs = [...jobs].filter(({ spec }) => spec.suspend === true);
  const suspended = new Map([
    ...ofJobs.map(({ metadata }) => [metadata.uid, `${metadata.namespace}/${metadata.name}`] as const),
    ...described,
  ]);
  return held.flatMap(({ cluster, pod, copy }) => {
    const name = suspended.get(copy?.originUid ?? '');
    return name === undefined ? [] : [`${cluster}: pod ${pod.metadata.name} runs on, though ${name} is suspended`];
  });
};

/** Failed by its own pods. */
const OF_PODS = ['BackoffLimitExceeded', 'FailedIndexes', 'MaxFailedIndexesExceeded', 'PodFailurePolicy'];

/**
 * No Job fails but for failures of its own pods, its deadline, or a queue that says so of Jobs that do not start: to be stopped, moved or
 * out of reach is no failure. `withFailures`: UIDs of the Jobs of which a pod has failed.
 */
export function failsForCause({ metadata, spec, status }: Job, withFailures: ReadonlySet<string>, queueMayFail: boolean): string[] {
  const failed = findCondition(status?.conditions, 'Failed');
  if (failed?.status !== 'True') return [];
  const { reason = '' } = failed;
  const isDue =
    (OF_PODS.includes(reason) && withFailures.has(metadata.uid)) ||
    (reason === 'DeadlineExceeded' && spec.activeDeadlineSeconds !== undefined) ||
    (reason === FailReason.CannotStart && queueMayFail);
  return isDue
    ? []
    : [`home: ${metadata.namespace}/${metadata.name} has failed (${reason}: ${failed.message ?? ''}), and no pod of it did`];
}

/** What there is of a cluster whose worker has been gone for two minutes, while nothing else strikes. */
export type Workerless = {
  readonly cluster: string;
  readonly isReady: boolean;
  /** Jobs that are recorded on it, whether their copy has begun, and whether they were admitted to it after those two minutes. */
  readonly jobs: readonly { readonly job: Job; readonly hasBegun: boolean; readonly isNew: boolean }[];
};

/** A cluster without a worker is not Ready and takes no Jobs; those that it has begun say so, with the way out. */
export const workerMissed = ({ cluster, isReady, jobs }: Workerless): string[] => [
  ...(isReady ? [`home: ${cluster} is Ready, and has no worker`] : []),
  ...jobs.flatMap(({ job, hasBegun, isNew }) => {
    const where = `home: ${job.metadata.namespace}/${job.metadata.name}`;
    const { message = '' } = findCondition(job.status?.conditions, 'Dispatched') ?? {};
    if (isNew) return [`${where} is admitted to ${cluster}, which has no worker`];
    const isSaid = message.includes(`no worker runs it on cluster "${cluster}"`) && message.includes('kubectl delete job');
    return hasBegun && !isSaid ? [`${where} does not say that no worker runs it on ${cluster}: ${message}`] : [];
  }),
];

/** Whose manager is in reach is not fenced off, however late the API server answers. For stories in which nothing is out of reach. */
export function fencedForCause(cluster: string, { metadata, status }: Job): string[] {
  const fenced = findCondition(status?.conditions, 'Fenced');
  return fenced?.status === 'True'
    ? [`${cluster}: the copy of ${metadata.namespace}/${metadata.name} is stopped (${fenced.reason}), and its manager is in reach`]
    : [];
}

/** Whatever was dispatched to a cluster that serves its namespace no longer says so. `narrowed`: the namespace, by cluster. */
export const narrowingTold = (narrowed: ReadonlyMap<string, string>, jobs: Iterable<Job>): string[] =>
  [...jobs].flatMap((job) => {
    const { namespace, name, deletionTimestamp } = job.metadata;
    const written = writtenRecordOf(job);
    const cluster = written.kind === 'Record' ? written.record.cluster : '';
    const dispatched = findCondition(job.status?.conditions, 'Dispatched');
    if (isOver(job) || deletionTimestamp !== undefined || narrowed.get(cluster) !== namespace || dispatched?.status !== 'True') return [];
    return dispatched.message?.includes(`no longer serves namespace "${namespace}"`) === true
      ? []
      : [`home: ${namespace}/${name} does not say that ${cluster} serves its namespace no longer: ${dispatched.message}`];
  });

/** In a world without faults every Job ends. One that is deleted and kept by others has ended when the manager has let go of it. */
export const everyJobEnds = (jobs: Iterable<Job>): string[] =>
  [...jobs]
    .filter(
      (job) =>
        !isOver(job) && (job.metadata.deletionTimestamp === undefined || job.metadata.finalizers?.includes(COPIES_FINALIZER) === true),
    )
    .map(({ metadata: { namespace, name } }) => `home: ${namespace}/${name} does not end`);

/** What there is on a worker cluster. */
export type Remains = {
  readonly cluster: string;
  /** Copies, and pods in the namespaces of teams. */
  readonly copies: readonly string[];
  readonly pods: readonly string[];
  /** Namespaces that the manager has made, and those in which there ever was a copy. */
  readonly madeNamespaces: readonly string[];
  readonly usedNamespaces: ReadonlySet<string>;
  /** ConfigMaps and Secrets that copies have brought, and that belong to none that is there. */
  readonly carried: readonly string[];
};

/** When all Jobs are over nothing is left of them on any worker cluster, and no namespace was made for nothing. */
export const nothingLeft = (remains: readonly Remains[]): string[] =>
  remains.flatMap(({ cluster, copies, pods, madeNamespaces, usedNamespaces, carried }) => [
    ...copies.map((name) => `${cluster}: the copy of ${name} is left`),
    ...pods.map((name) => `${cluster}: pod ${name} is left`),
    ...carried.map((name) => `${cluster}: ${name} is left, and no copy has it`),
    ...madeNamespaces.filter((name) => !usedNamespaces.has(name)).map((name) => `${cluster}: namespace ${name} was made for nothing`),
  ]);

/** Where nothing moves nobody writes; `writes` are counted by cluster. */
export const nobodyWrites = (writes: ReadonlyMap<string, number>): string[] =>
  [...writes].filter(([, count]) => count > 0).map(([name, count]) => `${count} writes to ${name} in a world in which nothing moves`);

/** The policies of all teams, and what the Jobs of a name have said of their priority. */
export type Precedence = {
  readonly preemption: NonNullable<ClusterQueueSpec['preemption']>;
  /** By `namespace/name`, which may be used again, and by UID, by which those of other namespaces are told. */
  readonly priorities: ReadonlyMap<string, ReadonlySet<number>>;
};

/** Nobody is preempted by an equal, unless the policy says so. What a record says of it is held against what the Jobs have said. */
export function nobodyByEquals(job: Job, { preemption, priorities }: Precedence): string[] {
  const written = writtenRecordOf(job);
  const preempted = written.kind === 'Record' ? written.record.preempted : undefined;
  if (preempted === undefined) return [];
  const { namespace, name } = job.metadata;
  const [own, others] = [`${namespace}/${name}`, preempted.by].map((key) => [...(priorities.get(key) ?? [])]);
  const least = Math.min(...(own ?? []));
  const most = Math.max(...(others ?? []));
  const { withinClusterQueue, reclaimWithinCohort } = preemption;
  const isWithin = preempted.rule === 'InClusterQueue';
  if (preempted.rule === 'InCohortReclamation' && reclaimWithinCohort === 'Any') return [];
  const mayBeEqual = isWithin && withinClusterQueue === 'LowerOrNewerEqualPriority';
  if (most > least || (mayBeEqual && most === least)) return [];
  return [`${namespace}/${name} of priority ${least} was preempted by ${preempted.by} of priority ${most} (${preempted.rule})`];
}
