import type { DeepReadonly, WorkObject } from '../../shared/api/kubernetes.ts';
import { MANAGER_CONTROLLER_NAME } from '../../shared/api/names.ts';
import { findCondition, isFinished } from '../../shared/kube/conditions.ts';
import type { EventRecorder } from '../../shared/kube/event-recorder.ts';
import type { EventHandler } from '../../shared/kube/informer.ts';
import type { Lister } from '../../shared/kube/indexer.ts';
import { keyOfObject, parseKey } from '../../shared/kube/keys.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { InvariantMetrics } from '../../shared/runtime/invariant-metrics.ts';
import { createInvariantWatch, type InvariantWatch } from '../../shared/runtime/invariant-watch.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Violation } from '../../shared/runtime/violations.ts';
import { dispatchedMessage, isDispatched } from '../api/dispatch-proof.ts';
import { JobEventReason, SwitchyardCondition } from '../api/reasons.ts';
import type { RecordReader } from '../api/records.ts';
import type { ShownCopy } from '../api/shown-copy.ts';
import { WORKER_CLUSTERS, type WorkerCluster } from '../api/worker-cluster.ts';
import { type Account, findingsOfJob, JOB_GRACE_MS, type JobInvariant, type JobSeen, type LocalJobSeen } from './job-invariants.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';

/** Checks the invariants of Jobs on the leader, by the caches of admission and dispatch. */
export type LiveInvariants = InvariantWatch & {
  /** Handles the Jobs of the manager cluster. */
  readonly handler: EventHandler<WorkObject>;
};

export type LiveInvariantsDeps = {
  readonly kind: WorkKind;
  readonly jobs: Lister<WorkObject>;
  /** When the manager cluster last sent an event or bookmark, on the clock's `monotonic`. */
  readonly homeHeardMs: () => number;
  readonly workerClusters: Lister<WorkerCluster>;
  readonly readRecord: RecordReader;
  readonly accountOf: (key: string) => Account;
  readonly dispatch: DispatchSeen;
  readonly events: EventRecorder;
  readonly metrics: InvariantMetrics;
  /** Factor of all grace periods: 1, except in simulations. */
  readonly patience: number;
  readonly clock: Clock;
  readonly log: Logger;
};

/** The state of dispatch. */
export type DispatchSeen = {
  /** Worker clusters that answer now and whose copies are all known; none while no copy may be started. */
  shown(): ReadonlySet<string>;
  /** The copies of Jobs of this name. */
  shownCopies(localKey: string): readonly ShownCopy[];
  /** Keys of Jobs that have copies. */
  copiedKeys(): Iterable<string>;
  /** The WorkerCluster that the record of this Job names; undefined where it names none. */
  placeOf(localKey: string): string | undefined;
};

/**
 * Grace for a cluster that was out of sight, or was restored from a backup: its worker notices, its copies are corrected, and pods take
 * their grace period.
 */
const SETTLING_MS = 240_000;
/** Silence after which the manager cluster may be unreachable, so that writes to it fail. A bookmark comes once a minute. */
const HOME_UNHEARD_MS = 90_000;

export function createLiveInvariants(deps: LiveInvariantsDeps): LiveInvariants {
  const { kind, jobs, homeHeardMs, workerClusters, readRecord, accountOf, dispatch, events, metrics, patience, clock, log } = deps;
  /** Since when each cluster has been in sight without a gap, on the clock's `monotonic`. */
  const shownSinceMs = new Map<string, number>();

  const begin = (): void => {
    const isHomeUnheard = clock.monotonic() - homeHeardMs() > HOME_UNHEARD_MS;
    const shown = isHomeUnheard ? NONE_SHOWN : dispatch.shown();
    for (const name of shownSinceMs.keys()) if (!shown.has(name)) shownSinceMs.delete(name);
    for (const name of shown) if (!shownSinceMs.has(name)) shownSinceMs.set(name, clock.monotonic());
  };
  const isInSight = (cluster: string): boolean =>
    clock.monotonic() - (shownSinceMs.get(cluster) ?? clock.monotonic()) >= patience * SETTLING_MS;

  const localSeen = (key: string, job: DeepReadonly<WorkObject>): LocalJobSeen => {
    const parsed = readRecord(job);
    const record = parsed.kind === 'Record' ? parsed.record : parsed.last;
    const place = dispatch.placeOf(key);
    const told = findCondition(job.status?.conditions, SwitchyardCondition.Dispatched);
    return {
      uid: job.metadata.uid,
      suspended: kind.isSuspended(job),
      finished: isFinished(job.status),
      deleting: job.metadata.deletionTimestamp !== undefined,
      record,
      place,
      placeInSight: place !== undefined && isInSight(place),
      saysDispatched: record !== undefined && isDispatched(job.status, record),
      // A Job whose pods are still there without its copy stays dispatched, and its message says so.
      saysWhyNot: told?.status === 'False' || (record !== undefined && told?.message !== dispatchedMessage(record)),
      account: accountOf(key),
    };
  };
  const see = (key: string): JobSeen => {
    const job = jobs.get(parseKey(key));
    return {
      job: job !== undefined && kind.controllerOf(job) === MANAGER_CONTROLLER_NAME ? localSeen(key, job) : undefined,
      copies: dispatch.shownCopies(key).map((copy) => ({ ...copy, inSight: copy.inSight && isInSight(copy.cluster) })),
    };
  };

  const onViolation = ({ subject, invariant, message }: Violation<JobInvariant>): void => {
    const text = `${invariant}: ${message}`;
    const job = jobs.get(parseKey(subject));
    if (job !== undefined) return events.event(kind.resource, job, 'Warning', JobEventReason.InvariantViolated, text);
    for (const { cluster } of dispatch.shownCopies(subject)) {
      const workerCluster = workerClusters.get({ namespace: '', name: cluster });
      if (workerCluster !== undefined)
        events.event(WORKER_CLUSTERS, workerCluster, 'Warning', JobEventReason.InvariantViolated, `Job ${subject}: ${text}`);
    }
  };

  const watch = createInvariantWatch<JobInvariant>({
    graceMs: JOB_GRACE_MS,
    patience,
    begin,
    findingsOf: (key) => findingsOfJob(see(key)),
    *subjects() {
      for (const job of jobs.list()) if (kind.controllerOf(job) === MANAGER_CONTROLLER_NAME) yield keyOfObject(job);
      yield* dispatch.copiedKeys();
    },
    seen: (key) => ({ ...jsonOf(see(key)), cached: jobs.get(parseKey(key))?.metadata.resourceVersion }),
    onViolation,
    metrics,
    clock,
    log,
  });
  const changed = (job: DeepReadonly<WorkObject>): void => {
    if (kind.controllerOf(job) === MANAGER_CONTROLLER_NAME) watch.changed(keyOfObject(job));
  };
  return { ...watch, handler: { added: changed, updated: changed, deleted: changed } };
}

const NONE_SHOWN: ReadonlySet<string> = new Set();

/** Converts maps of amounts, which JSON does not have, to objects. */
const jsonOf = (seen: JobSeen): object =>
  JSON.parse(JSON.stringify(seen, (_, value: unknown) => (value instanceof Map ? Object.fromEntries(value) : value))) as object;
