import type { ContainerStatus, DeepReadonly, Pod, PodCondition, PodStatus } from '../../../api/kubernetes.ts';
import { toWireTime } from '../../../api/wire-time.ts';
import { omitUndefined } from '../../../runtime/omit-undefined.ts';

export type ContainerState =
  | { readonly kind: 'waiting'; readonly reason: string; readonly message?: string }
  | { readonly kind: 'running'; readonly startedAtMs: number }
  | {
      readonly kind: 'terminated';
      readonly exitCode: number;
      readonly reason: string;
      readonly message?: string;
      readonly startedAtMs?: number;
      readonly finishedAtMs?: number;
    };

/** One container as the node agent knows it. */
export type ContainerRecord = {
  readonly name: string;
  readonly image: string;
  state: ContainerState;
  last: ContainerState | undefined;
  restarts: number;
  /** Its startup probe has succeeded, or it has none. */
  started: boolean;
};

/** One pod as the node agent knows it. */
export type PodRecord = {
  readonly init: readonly ContainerRecord[];
  readonly main: readonly ContainerRecord[];
  initialized: boolean;
  /** Set when nothing of the pod will run any more. */
  outcome: { readonly phase: 'Succeeded' | 'Failed'; readonly reason?: string; readonly message?: string } | undefined;
  readonly startedAtMs: number;
  readonly podIp: string;
  readonly hostIp: string;
};

/** A condition as a strategic merge patch carries it: null takes away what the known one has. */
export type PatchedCondition = Omit<PodCondition, 'reason' | 'message'> & { reason?: string | null; message?: string | null };
export type PatchedStatus = Omit<Partial<PodStatus>, 'conditions'> & { conditions: PatchedCondition[] };

/**
 * The status kubelet would write, as a strategic merge patch of the pod's. Conditions keep their transition time while their status does.
 */
export function podStatus(pod: DeepReadonly<Pod>, record: PodRecord, nowMs: number): PatchedStatus {
  const { outcome } = record;
  const started = record.initialized && record.main.some(({ state, restarts }) => state.kind !== 'waiting' || restarts > 0);
  return {
    phase: outcome?.phase ?? (started ? 'Running' : 'Pending'),
    ...omitUndefined({ reason: outcome?.reason, message: outcome?.message }),
    conditions: conditions(pod, record, nowMs),
    hostIP: record.hostIp,
    hostIPs: [{ ip: record.hostIp }],
    podIP: record.podIp,
    podIPs: [{ ip: record.podIp }],
    startTime: toWireTime(record.startedAtMs),
    ...(record.init.length === 0 ? {} : { initContainerStatuses: record.init.map((each) => containerStatus(pod, each)) }),
    containerStatuses: record.main.map((each) => containerStatus(pod, each)),
    ...omitUndefined({ observedGeneration: pod.metadata.generation }),
  };
}

function containerStatus(pod: DeepReadonly<Pod>, { name, image, state, last, restarts, started }: ContainerRecord): ContainerStatus {
  const running = state.kind === 'running';
  const id = state.kind === 'waiting' ? {} : { containerID: containerId(pod, name, restarts) };
  return {
    name,
    image,
    imageID: '',
    ...id,
    restartCount: restarts,
    ready: running && started,
    started: running && started,
    state: wireState(state, containerId(pod, name, restarts)),
    lastState: last === undefined ? {} : wireState(last, containerId(pod, name, restarts - 1)),
  };
}

const containerId = (pod: DeepReadonly<Pod>, name: string, restarts: number): string => `process://${pod.metadata.uid}/${name}/${restarts}`;

function wireState(state: ContainerState, containerID: string): NonNullable<ContainerStatus['state']> {
  switch (state.kind) {
    case 'waiting':
      return { waiting: { reason: state.reason, ...omitUndefined({ message: state.message }) } };
    case 'running':
      return { running: { startedAt: toWireTime(state.startedAtMs) } };
    case 'terminated': {
      const { exitCode, reason, message, startedAtMs, finishedAtMs } = state;
      return {
        terminated: {
          exitCode,
          reason,
          ...omitUndefined({ message }),
          ...(startedAtMs === undefined ? {} : { startedAt: toWireTime(startedAtMs) }),
          ...(finishedAtMs === undefined ? {} : { finishedAt: toWireTime(finishedAtMs) }),
          containerID,
        },
      };
    }
  }
}

type Verdict = { readonly type: string; readonly status: 'True' | 'False'; readonly reason?: string; readonly message?: string };

function conditions(pod: DeepReadonly<Pod>, record: PodRecord, nowMs: number): PatchedCondition[] {
  const ready = readiness(record);
  const verdicts: Verdict[] = [
    { type: 'PodReadyToStartContainers', status: record.outcome === undefined ? 'True' : 'False' },
    initialization(record),
    { type: 'Ready', ...ready },
    { type: 'ContainersReady', ...ready },
  ];
  const known = pod.status?.conditions ?? [];
  return verdicts.map((verdict) => {
    const previous = known.find(({ type }) => type === verdict.type);
    const lastTransitionTime = previous?.status === verdict.status ? (previous.lastTransitionTime ?? toWireTime(nowMs)) : toWireTime(nowMs);
    const outdated = {
      ...(previous?.reason !== undefined && verdict.reason === undefined ? { reason: null } : {}),
      ...(previous?.message !== undefined && verdict.message === undefined ? { message: null } : {}),
    };
    return { ...verdict, ...outdated, lastTransitionTime };
  });
}

function readiness({ outcome, initialized, main }: PodRecord): Omit<Verdict, 'type'> {
  if (outcome !== undefined) return { status: 'False', reason: outcome.phase === 'Succeeded' ? 'PodCompleted' : 'PodFailed' };
  const unready = main.filter(({ state, started }) => state.kind !== 'running' || !started).map(({ name }) => name);
  if (initialized && unready.length === 0) return { status: 'True' };
  return { status: 'False', reason: 'ContainersNotReady', message: `containers with unready status: [${unready.join(' ')}]` };
}

function initialization({ initialized, init, outcome }: PodRecord): Verdict {
  if (initialized) return { type: 'Initialized', status: 'True', ...(outcome?.phase === 'Succeeded' ? { reason: 'PodCompleted' } : {}) };
  const incomplete = init.filter(({ state }) => state.kind !== 'terminated' || state.exitCode !== 0).map(({ name }) => name);
  return {
    type: 'Initialized',
    status: 'False',
    reason: 'ContainersNotInitialized',
    message: `containers with incomplete status: [${incomplete.join(' ')}]`,
  };
}
