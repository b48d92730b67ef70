/** Jobs and pods for tests of the Job controller: only what matters is said, the rest is what an API server would fill in. */
import {
  FENCED_ANNOTATION,
  JOB_COMPLETION_INDEX,
  JOB_INDEX_FAILURE_COUNT_ANNOTATION,
  JOB_INDEX_IGNORED_FAILURE_COUNT_ANNOTATION,
  JOB_TRACKING_FINALIZER,
} from '../../../../shared/api/names.ts';
import type { Job, JobCondition, JobSpec, JobStatus, Pod, PodCondition, PodFailurePolicy } from '../../../../shared/api/kubernetes.ts';
import { type BackoffRecord, NO_BACKOFF } from '../../../../worker/job/backoff.ts';
import { account, type Ledger, type PodsOutcome } from '../../../../worker/job/account.ts';
import { decide, type Decision, type Observation } from '../../../../worker/job/decide.ts';
import { untilStopped } from '../../../../worker/job/fenced-job.ts';
import type { FenceState } from '../../../../worker/fence/origin-fence.ts';
import { viewJob } from '../../../../worker/job/job-view.ts';
import { viewPod } from '../../../../worker/job/pod-view.ts';
import { settle, type Settlement } from '../../../../worker/job/settle.ts';
import { toWireTime } from '../../../../shared/api/wire-time.ts';

export const NOW = Date.UTC(2026, 0, 1, 12, 0, 0);
export const ago = (seconds: number): string => toWireTime(NOW - seconds * 1000);

export function aJob(spec: Partial<JobSpec> = {}, status: JobStatus = {}, metadata: Partial<Job['metadata']> = {}): Job {
  const defaults =
    spec.completions === undefined && spec.parallelism === undefined ? { completions: 1, parallelism: 1 } : { parallelism: 1 };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: 'job',
      namespace: 'ns',
      uid: 'job-uid',
      resourceVersion: '1',
      creationTimestamp: ago(3600),
      generation: 1,
      ...metadata,
    },
    spec: {
      backoffLimit: 6,
      completionMode: 'NonIndexed',
      podReplacementPolicy: spec.podFailurePolicy ? 'Failed' : 'TerminatingOrFailed',
      suspend: false,
      selector: { matchLabels: { job: 'job-uid' } },
      template: {
        metadata: { labels: { job: 'job-uid' } },
        spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'i' }] },
      },
      ...defaults,
      ...spec,
    },
    status: { ...(spec.suspend ? {} : { startTime: ago(600) }), ready: 0, terminating: 0, uncountedTerminatedPods: {}, ...status },
  };
}

export const indexedJob = (completions: number, spec: Partial<JobSpec> = {}, status: JobStatus = {}): Job =>
  aJob({ completionMode: 'Indexed', completions, parallelism: completions, ...spec }, status);

export type PodSituation = {
  name?: string;
  phase?: string;
  index?: number | string;
  ready?: boolean;
  readySince?: string;
  deleting?: boolean;
  /** The fence has stopped it. */
  fenced?: boolean;
  tracked?: boolean;
  bound?: boolean;
  exitCode?: number;
  finishedSecondsAgo?: number;
  createdSecondsAgo?: number;
  restarts?: number;
  /** Gives the pod a sidecar that has restarted so often. */
  sidecarRestarts?: number;
  failures?: number;
  ignored?: number;
  conditions?: PodCondition[];
  labels?: Record<string, string>;
};

export function aPod(situation: PodSituation = {}): Pod {
  const { phase = 'Pending', tracked = true, bound = true, name = `pod-${situation.index ?? 'x'}` } = situation;
  const terminal = phase === 'Succeeded' || phase === 'Failed';
  const exitCode = situation.exitCode ?? (phase === 'Failed' ? 1 : 0);
  const ready = situation.ready === undefined ? [] : [{ type: 'Ready', status: situation.ready ? 'True' : 'False' }];
  const readyConditions = ready.map((condition) => ({ ...condition, lastTransitionTime: situation.readySince ?? ago(60) }));
  const annotations = {
    ...(situation.index === undefined ? {} : { [JOB_COMPLETION_INDEX]: `${situation.index}` }),
    ...(situation.failures === undefined ? {} : { [JOB_INDEX_FAILURE_COUNT_ANNOTATION]: `${situation.failures}` }),
    ...(situation.ignored === undefined ? {} : { [JOB_INDEX_IGNORED_FAILURE_COUNT_ANNOTATION]: `${situation.ignored}` }),
    ...(situation.fenced ? { [FENCED_ANNOTATION]: 'true' } : {}),
  };
  return {
    metadata: {
      name,
      namespace: 'ns',
      uid: `uid-${name}`,
      resourceVersion: '10',
      creationTimestamp: ago(situation.createdSecondsAgo ?? 300),
      labels: situation.labels ?? { job: 'job-uid' },
      annotations,
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'job', uid: 'job-uid', controller: true, blockOwnerDeletion: true }],
      ...(tracked ? { finalizers: [JOB_TRACKING_FINALIZER] } : {}),
      ...(situation.deleting ? { deletionTimestamp: ago(0), deletionGracePeriodSeconds: 30 } : {}),
    },
    spec: {
      restartPolicy: 'Never',
      containers: [{ name: 'main', image: 'i' }],
      ...(situation.sidecarRestarts === undefined ? {} : { initContainers: [{ name: 'sidecar', image: 'i', restartPolicy: 'Always' }] }),
      ...(bound ? { nodeName: 'node-1' } : {}),
    },
    status: {
      phase,
      conditions: [...readyConditions, ...(situation.conditions ?? [])],
      ...(situation.sidecarRestarts === undefined
        ? {}
        : {
            initContainerStatuses: [
              { name: 'sidecar', image: 'i', imageID: 'i', ready: true, restartCount: situation.sidecarRestarts, state: {} },
            ],
          }),
      containerStatuses: [
        {
          name: 'main',
          image: 'i',
          imageID: 'i',
          ready: situation.ready ?? false,
          restartCount: situation.restarts ?? 0,
          state: terminal ? { terminated: { exitCode, finishedAt: ago(situation.finishedSecondsAgo ?? 20) } } : {},
        },
      ],
    },
  };
}

/** `count` pods alike, told apart by their names. */
export const pods = (count: number, situation: PodSituation = {}): Pod[] =>
  Array.from({ length: count }, (_, position) =>
    aPod({ ...situation, name: `${situation.name ?? situation.phase ?? 'Pending'}-${position}` }),
  );

export type Circumstances = {
  fence?: FenceState;
  denied?: boolean;
  satisfied?: boolean;
  backoff?: BackoffRecord;
  removalPending?: readonly string[];
  adopted?: readonly string[];
};

export function observe(job: Job, seen: readonly Pod[], circumstances: Circumstances = {}): Observation {
  const view = viewJob(job, circumstances.fence, circumstances.denied);
  const views = seen.map((pod) =>
    viewPod(pod, {
      onlyReplaceFailed: view.replacesFailedOnly,
      adopted: circumstances.adopted?.includes(pod.metadata.name) ?? false,
      removalPending: circumstances.removalPending?.includes(pod.metadata.uid) ?? false,
    }),
  );
  return {
    job: untilStopped(view, views),
    pods: views,
    satisfied: circumstances.satisfied ?? true,
    backoff: circumstances.backoff ?? NO_BACKOFF,
  };
}

export const decideOn = (job: Job, seen: readonly Pod[] = [], circumstances: Circumstances = {}): Decision =>
  decide(observe(job, seen, circumstances), NOW);

/** What a plan comes to when every call succeeds. */
export function carriedOut({ plan, tally }: Decision): PodsOutcome {
  const active = tally.active.length;
  switch (plan.kind) {
    case 'create':
      return { active: active + plan.slots.length, deleted: 0, deletedReady: 0, mayHaveDeleted: false };
    case 'remove':
    case 'finish':
      return {
        active: active - plan.pods.length,
        deleted: plan.pods.length,
        deletedReady: plan.pods.filter((pod) => pod.ready).length,
        mayHaveDeleted: plan.pods.length > 0,
      };
    case 'wait':
      return { active: 0, deleted: 0, deletedReady: 0, mayHaveDeleted: false };
    case 'deny':
    case 'keep':
    case 'leave':
      return { active, deleted: 0, deletedReady: 0, mayHaveDeleted: false };
  }
}

/** One whole sync without an API server: decide, count and settle, every call succeeding. */
export function sync(
  job: Job,
  seen: readonly Pod[],
  circumstances: Circumstances = {},
): { decision: Decision; ledger: Ledger; settled: Settlement } {
  const observation = observe(job, seen, circumstances);
  const decision = decide(observation, NOW);
  const ledger = account(observation, decision, carriedOut(decision), NOW);
  return { decision, ledger, settled: settle(observation.job, ledger, new Set(ledger.removals.map(({ uid }) => uid)), NOW) };
}

export const condition = (type: string, reason: string, message: string, status = 'True'): JobCondition => ({
  type,
  status,
  reason,
  message,
  lastProbeTime: ago(100),
  lastTransitionTime: ago(100),
});

/** `Type=Status Reason` of each condition. */
export const told = (
  conditions: readonly { readonly type: string; readonly status: string; readonly reason?: string }[] | undefined,
): string[] => (conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`);

export const onExitCodes = (action: string, ...values: number[]): PodFailurePolicy => ({
  rules: [{ action, onExitCodes: { operator: 'In', values } }],
});
