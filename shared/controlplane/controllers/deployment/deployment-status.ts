import type { DeepReadonly, Deployment, DeploymentStatus, ReplicaSet } from '../../../api/kubernetes.ts';
import { toWireTime } from '../../../api/wire-time.ts';
import { omitUndefined } from '../../../runtime/omit-undefined.ts';
import { findCondition } from '../../../kube/conditions.ts';
import { limitsOf } from './plan-rollout.ts';

type Condition = NonNullable<DeploymentStatus['conditions']>[number];
type Said = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

export type Observed = {
  readonly deployment: DeepReadonly<Deployment>;
  readonly current: DeepReadonly<ReplicaSet> | undefined;
  readonly all: readonly DeepReadonly<ReplicaSet>[];
  /** The ReplicaSet of the present template was made, or found again, just now. */
  readonly began: 'NewReplicaSetCreated' | 'FoundNewReplicaSet' | undefined;
};

/** The status of a Deployment by its ReplicaSets, and when its deadline of progress is, if one runs. */
export function statusOf(
  observed: Observed,
  nowMs: number,
): { readonly status: DeploymentStatus; readonly deadlineMs: number | undefined } {
  const { deployment, current, all } = observed;
  const total = (of: (status: NonNullable<DeepReadonly<ReplicaSet>['status']>) => number | undefined): number =>
    all.reduce((sum, { status }) => sum + (status === undefined ? 0 : (of(status) ?? 0)), 0);
  const available = total(({ availableReplicas }) => availableReplicas);
  const asked = all.reduce((sum, { spec }) => sum + (spec.replicas ?? 0), 0);
  const counts = {
    observedGeneration: deployment.metadata.generation ?? 0,
    replicas: total(({ replicas }) => replicas),
    updatedReplicas: current?.status?.replicas ?? 0,
    readyReplicas: total(({ readyReplicas }) => readyReplicas),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, asked - available),
    terminatingReplicas: total(({ terminatingReplicas }) => terminatingReplicas),
  };
  const before = deployment.status;
  const progress = progressOf(observed, counts, nowMs);
  const conditions = [availabilityOf(deployment, available), ...(progress === undefined ? [] : [progress.said])].map((said) =>
    stamped(said, before, nowMs, progress?.hasChanged === true && said === progress.said),
  );
  // Conditions keep their places, or the status would never come to rest.
  const known = (before?.conditions ?? []).map((each) => conditions.find(({ type }) => type === each.type) ?? { ...each });
  const added = conditions.filter(({ type }) => !known.some((each) => each.type === type));
  const { collisionCount } = before ?? {};
  const status = { ...counts, ...omitUndefined({ collisionCount }), conditions: [...known, ...added] };
  return { status, deadlineMs: progress?.deadlineMs };
}

function availabilityOf(deployment: DeepReadonly<Deployment>, available: number): Said {
  const isEnough = available >= (deployment.spec.replicas ?? 1) - limitsOf(deployment).unavailable;
  return isEnough
    ? { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable', message: 'Deployment has minimum availability.' }
    : {
        type: 'Available',
        status: 'False',
        reason: 'MinimumReplicasUnavailable',
        message: 'Deployment does not have minimum availability.',
      };
}

type Counts = Pick<DeploymentStatus, 'replicas' | 'updatedReplicas' | 'readyReplicas' | 'availableReplicas'>;
type Progress = { readonly said: Said; readonly hasChanged: boolean; readonly deadlineMs?: number };

/** Undefined where nothing is to be said of progress: what was said before stays. */
function progressOf({ deployment, current, began }: Observed, counts: Counts, nowMs: number): Progress | undefined {
  const { replicas = 1, paused = false, progressDeadlineSeconds = 600 } = deployment.spec;
  const known = findCondition(deployment.status?.conditions, 'Progressing');
  const said = (status: string, reason: string, message: string): Said => ({ type: 'Progressing', status, reason, message });
  if (paused) {
    return known?.reason === 'DeploymentPaused'
      ? undefined
      : { said: said('Unknown', 'DeploymentPaused', 'Deployment is paused'), hasChanged: true };
  }
  if (known?.reason === 'DeploymentPaused') {
    return { said: said('Unknown', 'DeploymentResumed', 'Deployment is resumed'), hasChanged: true };
  }
  const subject = current === undefined ? `Deployment "${deployment.metadata.name}"` : `ReplicaSet "${current.metadata.name}"`;
  const isComplete =
    counts.updatedReplicas === replicas && counts.replicas === replicas && counts.availableReplicas === replicas && began === undefined;
  if (isComplete) {
    const hasChanged = known?.reason !== 'NewReplicaSetAvailable';
    return { said: said('True', 'NewReplicaSetAvailable', `${subject} has successfully progressed.`), hasChanged };
  }
  if (began !== undefined) {
    const name = JSON.stringify(current?.metadata.name ?? '');
    const message = began === 'NewReplicaSetCreated' ? `Created new replica set ${name}` : `Found new replica set ${name}`;
    return { said: said('True', began, message), hasChanged: true, deadlineMs: nowMs + progressDeadlineSeconds * 1000 };
  }
  const before = deployment.status ?? {};
  const hasProgressed =
    (counts.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    (counts.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (counts.availableReplicas ?? 0) > (before.availableReplicas ?? 0) ||
    (counts.replicas ?? 0) - (counts.updatedReplicas ?? 0) < (before.replicas ?? 0) - (before.updatedReplicas ?? 0);
  if (hasProgressed || known === undefined) {
    const progressing = said('True', 'ReplicaSetUpdated', `${subject} is progressing.`);
    return { said: progressing, hasChanged: true, deadlineMs: nowMs + progressDeadlineSeconds * 1000 };
  }
  if (known.reason === 'NewReplicaSetAvailable' || known.reason === 'ProgressDeadlineExceeded') return undefined;
  const deadlineMs = Date.parse(known.lastUpdateTime ?? '') + progressDeadlineSeconds * 1000;
  const unchanged = said(known.status, known.reason ?? '', known.message ?? '');
  if (nowMs < deadlineMs) return { said: unchanged, hasChanged: false, deadlineMs };
  return { said: said('False', 'ProgressDeadlineExceeded', `${subject} has timed out progressing.`), hasChanged: true };
}

/** lastUpdateTime is that of the last news, lastTransitionTime that of the last change of status. */
function stamped(said: Said, before: DeepReadonly<DeploymentStatus> | undefined, nowMs: number, hasChanged: boolean): Condition {
  const known = findCondition(before?.conditions, said.type);
  const now = toWireTime(nowMs);
  const isSame = !hasChanged && known?.status === said.status && known.reason === said.reason;
  return {
    ...said,
    lastUpdateTime: (isSame ? known.lastUpdateTime : undefined) ?? now,
    lastTransitionTime: (known?.status === said.status ? known.lastTransitionTime : undefined) ?? now,
  };
}
