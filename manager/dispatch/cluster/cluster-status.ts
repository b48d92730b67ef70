import type { DeepReadonly } from '../../../shared/api/kubernetes.ts';
import { toWireTime } from '../../../shared/api/wire-time.ts';
import { findCondition } from '../../../shared/kube/conditions.ts';
import type { Condition } from '../../api/schema-parts.ts';
import { AbleReason, ClusterCondition, type WorkerClusterStatus } from '../../api/worker-cluster.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { ANSWER_FAULTS } from '../../../shared/kube/unusable-answer.ts';
import type { AbilityNow } from './cluster-ability.ts';
import type { ClusterHealth } from './cluster-health.ts';
import { sameJson } from '../../api/json-diff.ts';
import type { Capacity } from './node-capacity.ts';
import { workerAbsence, type WorkerFinding } from './worker-finding.ts';

/** Why a cluster cannot be connected to. */
export type ConfigurationProblem = { readonly reason: string; readonly message: string };
export type Finding =
  | { readonly kind: 'Misconfigured'; readonly problem: ConfigurationProblem }
  | {
      readonly kind: 'Running';
      readonly health: ClusterHealth;
      readonly ability: AbilityNow;
      readonly capacity: Capacity;
      readonly inventory?: Inventory;
      readonly worker: WorkerFinding;
    };

/** What a cluster has of what Jobs need there. Undefined: unknown now. */
export type Inventory = {
  readonly priorityClasses: readonly string[] | undefined;
  readonly runtimeClasses: readonly string[] | undefined;
  /** Kinds of work beside Jobs. */
  readonly workKinds: readonly string[] | undefined;
  /** Objects that waiting Jobs need and that it lacks. */
  readonly missingObjects: readonly string[];
};

const NAMED_MAX = 5;

/** How long the cluster has been lost. */
export type Loss = Required<Pick<WorkerClusterStatus, 'lostSince' | 'lostCounted'>>;

/** The status of a WorkerCluster after a finding; undefined when nothing has changed. */
export function clusterStatus(
  previous: DeepReadonly<WorkerClusterStatus> | undefined,
  finding: Finding,
  loss: Loss | undefined,
  generation: number | undefined,
  nowMs: number,
): WorkerClusterStatus | undefined {
  const worker = workerAlive(previous, finding);
  const { reachable, synced, able, ready } = judge(finding, worker);
  const next: WorkerClusterStatus = {
    ...(structuredClone<unknown>(previous ?? {}) as WorkerClusterStatus),
    conditions: [
      condition(previous, ClusterCondition.Reachable, reachable, generation, nowMs),
      condition(previous, ClusterCondition.Synced, synced, generation, nowMs),
      condition(previous, ClusterCondition.Able, able, generation, nowMs),
      condition(previous, ClusterCondition.Ready, ready, generation, nowMs),
      condition(previous, ClusterCondition.WorkerAlive, worker, generation, nowMs),
    ],
    ...(finding.kind === 'Running' && finding.health.version !== undefined ? { version: finding.health.version } : {}),
    ...(finding.kind === 'Running' ? omitUndefined({ allocatable: nextAllocatable(previous, finding.capacity) }) : {}),
  };
  if (finding.kind === 'Running' && (finding.capacity.isAll === true || finding.capacity.nodeShapes !== undefined)) {
    delete next.nodeShapes;
    Object.assign(next, omitUndefined({ nodeShapes: structuredClone(finding.capacity.nodeShapes) }));
  }
  if (finding.kind === 'Running' && finding.worker.kind !== 'OutOfSight') delete next.worker;
  if (finding.kind === 'Running' && finding.worker.kind === 'Announced') next.worker = finding.worker.worker;
  if (finding.kind === 'Running') Object.assign(next, inventoryIn(next, finding.inventory));
  if (finding.kind === 'Running' && finding.health.contact === 'Ready') {
    delete next.unreadableNamespaces;
    if (finding.health.unreadable.length > 0) next.unreadableNamespaces = [...finding.health.unreadable];
  }
  delete next.lostSince;
  delete next.lostCounted;
  Object.assign(next, loss);
  if (sameJson(previous ?? {}, next)) return undefined;
  // The round trip time is written with other changes only, or it would cost a write for every probe.
  return finding.kind === 'Running' && finding.health.roundTripMs !== undefined
    ? { ...next, roundTripMs: finding.health.roundTripMs }
    : next;
}

/** What is not known now stays as it was. */
function inventoryIn(next: WorkerClusterStatus, inventory: Inventory | undefined): Partial<WorkerClusterStatus> {
  if (inventory === undefined) return {};
  const { priorityClasses, runtimeClasses, workKinds, missingObjects } = inventory;
  const isToldOfKinds = workKinds !== undefined && (workKinds.length > 0 || next.workKinds !== undefined);
  delete next.missingObjects;
  return omitUndefined({
    priorityClasses: priorityClasses && [...priorityClasses],
    runtimeClasses: runtimeClasses && [...runtimeClasses],
    workKinds: isToldOfKinds ? [...workKinds] : undefined,
    missingObjects: missingObjects.length === 0 ? undefined : [...missingObjects],
  });
}

/**
 * The capacity of the present nodes. When all nodes are gone, their resources drop to 0. A cluster that never showed a node gets no
 * amounts, and so no bound: it may create its nodes on demand.
 */
function nextAllocatable(
  previous: DeepReadonly<WorkerClusterStatus> | undefined,
  { allocatable, isAll }: Capacity,
): Record<string, string> | undefined {
  if (Object.keys(allocatable).length > 0) return allocatable;
  const before = previous?.allocatable;
  return isAll === true && before !== undefined ? Object.fromEntries(Object.keys(before).map((resource) => [resource, '0'])) : undefined;
}

type ConditionParts = { readonly status: Condition['status']; readonly reason: string; readonly message: string };
type Judgement = Readonly<Record<'reachable' | 'synced' | 'able' | 'ready', ConditionParts>>;
function judge(finding: Finding, worker: ConditionParts): Judgement {
  if (finding.kind === 'Misconfigured') {
    const unknown: ConditionParts = { status: 'Unknown', ...finding.problem };
    const no: ConditionParts = { status: 'False', ...finding.problem };
    return { reachable: no, synced: unknown, able: unknown, ready: no };
  }
  const { health, capacity } = finding;
  const { connected, contact, reason, message } = health;
  const details = contact === 'Ready' ? [capacity.problem, unreadableMessage(health.unreadable)] : [];
  const told = { reason, message: [message, ...details].filter((part) => part !== undefined).join('; ') };
  const able = ableOf(finding.ability);
  return {
    reachable: connected
      ? { status: 'True', reason: 'Answering', message: 'its API server answers' }
      : { status: 'False', reason, message },
    synced: syncedOf(health),
    able,
    // A cluster that cannot create copies gets no Jobs, but is not lost: its running copies are known.
    ready: readyOf(contact === 'Ready', told, able, worker),
  };
}

/** A cluster that cannot create copies, or has no worker to run them, gets no Jobs, but is not lost: its running copies are known. */
function readyOf(inContact: boolean, said: Omit<ConditionParts, 'status'>, able: ConditionParts, worker: ConditionParts): ConditionParts {
  if (!inContact) return { status: 'False', ...said };
  if (worker.status === 'False') return { status: 'False', reason: 'WorkerNotAlive', message: worker.message };
  return able.status === 'False' ? { status: 'False', reason: 'NotAble', message: able.message } : { status: 'True', ...said };
}

/** False: the cluster answers, and its Jobs are not known. Unknown: the cluster does not answer. */
function syncedOf({ contact, reason, message, unheard, unreadable }: ClusterHealth): ConditionParts {
  const notRead = unreadableMessage(unreadable);
  if (contact === 'Ready' && unheard)
    return {
      status: 'False',
      reason: 'NotHeard',
      message: 'it answers, but what becomes of its Jobs is not heard: watches cannot be kept open',
    };
  if (contact === 'Ready' && notRead !== undefined) return { status: 'False', reason: 'NamespaceUnreadable', message: notRead };
  if (contact === 'Ready') return { status: 'True', reason: 'Synced', message: 'its Jobs are known, and what becomes of them is heard' };
  const isHeard = reason === 'Listing' || ANSWER_FAULTS.some((fault) => fault === reason);
  return { status: isHeard ? 'False' : 'Unknown', reason, message };
}

/** Names some of them: there may be 64. */
function unreadableMessage(unreadable: readonly string[]): string | undefined {
  if (unreadable.length === 0) return undefined;
  const more = unreadable.length > NAMED_MAX ? ` and ${unreadable.length - NAMED_MAX} more` : '';
  return (
    `the manager may not list Jobs in ${unreadable.slice(0, NAMED_MAX).join(', ')}${more}, and places no Jobs of these namespaces there: grant it the rights ` +
    '(chart switchyard-worker: managerAccess.namespaces), or take them off spec.servedNamespaces'
  );
}

function ableOf(ability: AbilityNow): ConditionParts {
  if (ability.kind === 'Able') return { status: 'True', reason: 'Able', message: 'copies can be made, as far as is known' };
  const { reason, message } = ability.problem;
  if (ability.kind === 'NotAble') return { status: 'False', reason, message };
  return { status: 'Unknown', reason: AbleReason.Trying, message: `one Job shows whether it can be used again; before: ${message}` };
}

/** Unknown while the worker cannot be judged: that keeps no Job away. */
function workerAlive(previous: DeepReadonly<WorkerClusterStatus> | undefined, finding: Finding): ConditionParts {
  const worker: WorkerFinding = finding.kind === 'Running' ? finding.worker : { kind: 'OutOfSight' };
  const before = findCondition(previous?.conditions, ClusterCondition.WorkerAlive);
  switch (worker.kind) {
    case 'BuiltIn':
      return unknown('BuiltInController', 'the built-in Job controller runs the copies: fencing is not available');
    case 'OutOfSight':
      return before === undefined ? unknown('Connecting', 'not looked at yet') : said(before);
    case 'None':
      if (!worker.mayStart) return { status: 'False', reason: 'NoWorkerLease', message: workerAbsence(worker) ?? '' };
      return staysOr(before, 'Connecting', `no worker has announced itself in Lease ${worker.where} so far`);
    case 'Other':
      return { status: 'False', reason: 'OtherController', message: workerAbsence(worker) ?? '' };
    case 'Announced':
      return announced(worker, before);
  }
}

function announced(worker: WorkerFinding & { readonly kind: 'Announced' }, before: DeepReadonly<Condition> | undefined): ConditionParts {
  const { name = '' } = worker.worker;
  switch (worker.pulse) {
    case 'Beating':
      return { status: 'True', reason: 'Renewing', message: `worker "${name}" renews its Lease` };
    case 'Unproven':
      return staysOr(before, 'Connecting', `worker "${name}" has not renewed its Lease since it was first looked at`);
    case 'Silent':
      return { status: 'False', reason: 'LeaseExpired', message: workerAbsence(worker) ?? '' };
    case 'Stopped':
      return { status: 'False', reason: 'LeaseReleased', message: workerAbsence(worker) ?? '' };
  }
}

const said = ({ status, reason, message }: DeepReadonly<Condition>): ConditionParts => ({ status, reason, message });
/** The last condition stays until the worker is seen again. */
const staysOr = (before: DeepReadonly<Condition> | undefined, reason: string, message: string): ConditionParts =>
  before === undefined || before.status === 'Unknown' ? unknown(reason, message) : said(before);
const unknown = (reason: string, message: string): ConditionParts => ({ status: 'Unknown', reason, message });

function condition(
  previous: DeepReadonly<WorkerClusterStatus> | undefined,
  type: string,
  { status, reason, message }: ConditionParts,
  generation: number | undefined,
  nowMs: number,
): Condition {
  const present = findCondition(previous?.conditions, type);
  const lastTransitionTime = present?.status === status ? present.lastTransitionTime : toWireTime(nowMs);
  return { type, status, reason, message, lastTransitionTime, ...omitUndefined({ observedGeneration: generation }) };
}
