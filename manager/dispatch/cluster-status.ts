import type { DeepReadonly } from '../../shared/api/kubernetes.ts';
import { toWireTime } from '../../shared/api/wire-time.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import type { Condition } from '../api/schema-parts.ts';
import { ClusterCondition, type WorkerClusterStatus } from '../api/worker-cluster.ts';
import { given } from '../../shared/runtime/given.ts';
import type { ClusterHealth } from './cluster-health.ts';
import { sameJson } from './json-diff.ts';
import type { Capacity } from './node-capacity.ts';

/** Why a cluster cannot even be connected to. */
export type ConfigurationProblem = { readonly reason: string; readonly message: string };
export type Finding =
  | { readonly kind: 'Misconfigured'; readonly problem: ConfigurationProblem }
  | { readonly kind: 'Running'; readonly health: ClusterHealth; readonly capacity: Capacity };

/** The status of a WorkerCluster after a finding; undefined when there is nothing new to say. */
export function clusterStatus(
  previous: DeepReadonly<WorkerClusterStatus> | undefined,
  finding: Finding,
  generation: number | undefined,
  nowMs: number,
): WorkerClusterStatus | undefined {
  const judged = judge(finding);
  const lostSince = nextLostSince(previous, finding, nowMs);
  const next: WorkerClusterStatus = {
    ...(structuredClone<unknown>(previous ?? {}) as WorkerClusterStatus),
    conditions: [
      condition(previous, ClusterCondition.Connected, judged.connected, judged.reason, judged.message, generation, nowMs),
      condition(previous, ClusterCondition.Ready, judged.ready, judged.reason, judged.message, generation, nowMs),
      ...(previous?.conditions ?? []).filter(({ type }) => type === ClusterCondition.WorkerAlive),
    ],
    ...(finding.kind === 'Running' && finding.health.version !== undefined ? { version: finding.health.version } : {}),
    ...(finding.kind === 'Running' ? given({ allocatable: nextAllocatable(previous, finding.capacity) }) : {}),
  };
  delete next.lostSince;
  if (lostSince !== undefined) next.lostSince = lostSince;
  if (sameJson(previous ?? {}, next)) return undefined;
  // A round trip is told along with other news; alone it would be a write for every probe.
  return finding.kind === 'Running' && finding.health.roundTripMs !== undefined
    ? { ...next, roundTripMs: finding.health.roundTripMs }
    : next;
}

/**
 * What the nodes offer that are there. When all are gone, nothing is left of what they offered; a cluster that never showed any is taken on trust, as
 * one that makes its nodes when they are needed.
 */
function nextAllocatable(
  previous: DeepReadonly<WorkerClusterStatus> | undefined,
  { allocatable, isAll }: Capacity,
): Record<string, string> | undefined {
  if (Object.keys(allocatable).length > 0) return allocatable;
  const before = previous?.allocatable;
  return isAll === true && before !== undefined ? Object.fromEntries(Object.keys(before).map((resource) => [resource, '0'])) : undefined;
}

type Judgement = { readonly connected: boolean; readonly ready: boolean; readonly reason: string; readonly message: string };
function judge(finding: Finding): Judgement {
  if (finding.kind === 'Misconfigured') return { connected: false, ready: false, ...finding.problem };
  const { connected, contact, reason, message } = finding.health;
  const ready = contact === 'Ready';
  const { problem } = finding.capacity;
  return { connected, ready, reason, message: ready && problem !== undefined ? `${message}; ${problem}` : message };
}

/** Counted from the first failure, over restarts of the manager, until the cluster is ready again. Every cause counts alike. */
function nextLostSince(previous: DeepReadonly<WorkerClusterStatus> | undefined, finding: Finding, nowMs: number): string | undefined {
  if (finding.kind === 'Misconfigured') return previous?.lostSince ?? toWireTime(nowMs);
  const { contact, failingSinceMs } = finding.health;
  if (contact === 'Ready') return undefined;
  return previous?.lostSince ?? (contact === 'Lost' ? toWireTime(failingSinceMs ?? nowMs) : undefined);
}

function condition(
  previous: DeepReadonly<WorkerClusterStatus> | undefined,
  type: string,
  value: boolean,
  reason: string,
  message: string,
  generation: number | undefined,
  nowMs: number,
): Condition {
  const status = value ? 'True' : 'False';
  const present = findCondition(previous?.conditions, type);
  const lastTransitionTime = present?.status === status ? present.lastTransitionTime : toWireTime(nowMs);
  return { type, status, reason, message, lastTransitionTime, ...given({ observedGeneration: generation }) };
}
