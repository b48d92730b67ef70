import type { DeepReadonly, Deployment, ReplicaSet } from '../../../api/kubernetes.ts';

/** How many pods a ReplicaSet is to have from now on. */
export type Scaling = { readonly replicaSet: DeepReadonly<ReplicaSet>; readonly replicas: number };

export type Rollout = {
  readonly deployment: DeepReadonly<Deployment>;
  /** The ReplicaSet of the present template; undefined where there is none yet. */
  readonly current: DeepReadonly<ReplicaSet> | undefined;
  /** Those of earlier templates, oldest first. */
  readonly old: readonly DeepReadonly<ReplicaSet>[];
  /** Pods of earlier templates that have not ended. */
  readonly oldPods: number;
};

/** The annotation by which a ReplicaSet knows how many pods its Deployment wanted when it was last scaled. */
export const DESIRED_REPLICAS = 'deployment.kubernetes.io/desired-replicas';

const wanted = ({ spec }: DeepReadonly<ReplicaSet>): number => spec.replicas ?? 0;
const available = ({ status }: DeepReadonly<ReplicaSet>): number => status?.availableReplicas ?? 0;
const sum = (sets: readonly DeepReadonly<ReplicaSet>[], of: (set: DeepReadonly<ReplicaSet>) => number): number =>
  sets.reduce((total, set) => total + of(set), 0);

/** The next steps of a rollout: each comes true before the next ones are planned. */
export function planRollout(rollout: Rollout): Scaling[] {
  const { deployment, current, old } = rollout;
  const { replicas = 1, paused = false, strategy } = deployment.spec;
  const active = [...old, ...(current === undefined ? [] : [current])].filter((set) => wanted(set) > 0);
  const isRescaled = active.some((set) => (set.metadata.annotations?.[DESIRED_REPLICAS] ?? String(replicas)) !== String(replicas));
  if (paused || isRescaled) {
    const only = active.length > 1 ? undefined : (active[0] ?? current ?? old.at(-1));
    if (only !== undefined) return wanted(only) === replicas && !isRescaled ? [] : [{ replicaSet: only, replicas }];
    if (paused) return [];
  }
  return strategy?.type === 'Recreate' ? planRecreation(rollout, replicas) : planRolling(rollout, replicas);
}

/** No new pod before the last old one has ended. */
function planRecreation({ current, old, oldPods }: Rollout, replicas: number): Scaling[] {
  const doomed = old.filter((set) => wanted(set) > 0);
  if (doomed.length > 0) return doomed.map((replicaSet) => ({ replicaSet, replicas: 0 }));
  return current === undefined || oldPods > 0 || wanted(current) === replicas ? [] : [{ replicaSet: current, replicas }];
}

function planRolling(rollout: Rollout, replicas: number): Scaling[] {
  const { current, old } = rollout;
  if (current === undefined) return [];
  const { surge, unavailable } = limitsOf(rollout.deployment);
  const total = wanted(current) + sum(old, wanted);
  const up = Math.min(replicas + surge - total, replicas - wanted(current));
  if (wanted(current) > replicas) return [{ replicaSet: current, replicas }];
  if (up > 0) return [{ replicaSet: current, replicas: wanted(current) + up }];
  return planShrinking(current, old, total, replicas - unavailable);
}

/** Old pods that are not available go first, then as many as the available ones can spare. */
function planShrinking(
  current: DeepReadonly<ReplicaSet>,
  old: readonly DeepReadonly<ReplicaSet>[],
  total: number,
  minAvailable: number,
): Scaling[] {
  let spare = total - minAvailable - (wanted(current) - available(current));
  const left = new Map(old.map((set) => [set, wanted(set)]));
  const take = (set: DeepReadonly<ReplicaSet>, count: number): number => {
    const taken = Math.max(0, Math.min(count, left.get(set) ?? 0));
    left.set(set, (left.get(set) ?? 0) - taken);
    return taken;
  };
  for (const set of old) spare -= take(set, Math.min(spare, wanted(set) - available(set)));
  let spareAvailable = Math.min(spare, sum([current, ...old], available) - minAvailable);
  for (const set of old) spareAvailable -= take(set, spareAvailable);
  return old.flatMap((replicaSet) => {
    const replicas = left.get(replicaSet) ?? 0;
    return replicas === wanted(replicaSet) ? [] : [{ replicaSet, replicas }];
  });
}

/** How many pods may be more than asked for, and how many may be missing (ResolveFenceposts). */
export function limitsOf({ spec: { replicas = 1, strategy } }: DeepReadonly<Deployment>): { surge: number; unavailable: number } {
  if (strategy?.type === 'Recreate') return { surge: 0, unavailable: 0 };
  const { maxSurge = '25%', maxUnavailable = '25%' } = strategy?.rollingUpdate ?? {};
  const surge = countOf(maxSurge, replicas, Math.ceil);
  const unavailable = countOf(maxUnavailable, replicas, Math.floor);
  return { surge, unavailable: Math.min(surge === 0 && unavailable === 0 ? 1 : unavailable, replicas) };
}

const countOf = (amount: number | string, replicas: number, round: (value: number) => number): number =>
  typeof amount === 'number' ? amount : round((Number.parseInt(amount, 10) * replicas) / 100);
