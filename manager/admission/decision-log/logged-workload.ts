import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import type { Amount, Requests } from '../../api/amount.ts';
import type { DataNames } from '../../api/data-names.ts';
import type { ClusterWish } from '../../api/job-annotations.ts';
import { QuotaReservedReason } from '../../api/reasons.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import { awaitsPods } from '../workload/reservation.ts';
import { ANY_NODE, type NodeWish } from '../workload/node-wish.ts';
import type { PriorityWish } from '../workload/priority.ts';
import { type Lacks, schedulingHashOf, type Workload } from '../workload/workload.ts';

/** A Workload as logged: what decisions depend on, and no more. Field names are short, because there are many. */
export type LoggedJob = {
  /** `namespace/name`. */
  readonly job: string;
  readonly uid: string;
  /** The place in the order in which Jobs were first observed, which decides among Jobs created within one second. */
  readonly arrival: number;
  /** LocalQueue of its namespace. */
  readonly queue?: string;
  /** Epoch milliseconds. */
  readonly created: number;
  /** Since when the Job counts as queued, if not since its creation. */
  readonly queued?: number;
  /** Requests of all pods: thousandths of cpu, whole units of everything else; `pods` is their number. */
  readonly requests: Readonly<Record<string, number>>;
  readonly needed?: LoggedPods;
  /** The fewest pods with which the Job may be admitted. */
  readonly least?: number;
  readonly priority?: PriorityWish;
  readonly clusters?: ClusterWish;
  readonly nodes?: NodeWish;
  /** Its pod sets, where it has several. */
  readonly podSets?: readonly {
    readonly name: string;
    readonly requests: Readonly<Record<string, number>>;
    readonly nodes?: NodeWish;
    readonly least?: number;
  }[];
  readonly shape: string;
  /** The RuntimeClass of its pods. */
  readonly runtime?: string;
  /** The data sets that it reads. */
  readonly data?: DataNames;
  /** Objects that the Workload needs and clusters lack, by cluster. */
  readonly lacks?: Lacks;
  /** The reason why the Job joins no queue, whatever the setup. */
  readonly barred?: string;
  /** Maximum execution time in seconds over all admissions. */
  readonly maxSeconds?: number;
  /** How long the Job is expected to hold its quota once it is admitted, in milliseconds, where that matters. */
  readonly expected?: number;
  readonly fenced?: boolean;
  readonly podFenced?: boolean;
  readonly phase: Workload['phase'];
  /** The Job is admitted, and has pods that are not ready. */
  readonly starting?: true;
  /** The last admission record. */
  readonly record?: LoggedRecord;
};
/** How many pods may still exist at once, if fewer; of several pod sets, by name. */
export type LoggedPods = number | Readonly<Record<string, number>>;
export type LoggedRecord = Omit<AdmissionRecord, 'fail'>;

/** `arrival`: the place in arrival order. */
export function loggedJob(workload: Workload, arrival: number): LoggedJob {
  const { key, uid, queue, createdMs, queuedSinceMs, requests, minPods, priorityWish, wish, nodeWish, shape, record } = workload;
  const barred = barredBy(workload);
  return {
    job: key,
    uid,
    arrival,
    ...omitUndefined({ queue }),
    created: createdMs,
    ...omitUndefined({ queued: queuedSinceMs === createdMs ? undefined : queuedSinceMs }),
    requests: Object.fromEntries(requests),
    ...omitUndefined({
      needed: neededOf(workload),
      least: minPods,
      priority: isEmpty(priorityWish) ? undefined : priorityWish,
      clusters: wish.kind === 'Any' ? undefined : wish.kind === 'Invalid' ? INVALID : wish,
      nodes: nodeWish.digest === '' ? undefined : nodeWish,
      podSets: workload.podSets?.map(({ podSet, requests: each, nodeWish: nodes, minPods: least }) => ({
        name: podSet,
        requests: Object.fromEntries(each),
        ...(nodes.digest === '' ? {} : { nodes }),
        ...omitUndefined({ least }),
      })),
    }),
    shape,
    ...omitUndefined({
      runtime: workload.runtimeClass,
      data: workload.data,
      lacks: workload.lacks,
      barred,
      maxSeconds: workload.maxExecutionSeconds,
      expected: workload.expectedMs,
      fenced: workload.fenced,
      podFenced: workload.podFenced,
    }),
    phase: workload.phase,
    ...omitUndefined({ starting: startingOf(workload) }),
    ...omitUndefined({ record: record && loggedRecord(record) }),
  };
}

export function neededOf({ podsNeeded, podSets = [] }: Workload): LoggedPods | undefined {
  const bySet = podSets.flatMap(({ podSet, podsNeeded: needed }) => (needed === undefined ? [] : [[podSet, needed] as const]));
  return bySet.length === 0 ? podsNeeded : Object.fromEntries(bySet);
}

/** The Workload as it needs so many pods. */
export function withNeeded({ podsNeeded: _before, podSets, ...workload }: Workload, needed: LoggedPods | undefined): Workload {
  const bySet = typeof needed === 'object' ? needed : {};
  return {
    ...workload,
    podsNeeded: typeof needed === 'number' ? needed : undefined,
    ...omitUndefined({
      podSets: podSets?.map(({ podsNeeded: _needed, ...each }) => ({ ...each, ...omitUndefined({ podsNeeded: bySet[each.podSet] }) })),
    }),
  };
}

export const startingOf = (workload: Workload): true | undefined => (awaitsPods(workload) ? true : undefined);

/** Invalid input of tenants is not repeated in the log. */
const INVALID: ClusterWish = { kind: 'Invalid', problem: '' };

const isEmpty = (wish: PriorityWish): boolean => Object.keys(wish).length === 0;

function loggedRecord({ fail: _words, ...record }: AdmissionRecord): LoggedRecord {
  return record;
}

function barredBy({ hold, problem, forbidden }: Workload): string | undefined {
  if (hold === true) return QuotaReservedReason.Held;
  if (problem !== undefined) return QuotaReservedReason.InvalidJob;
  return forbidden === undefined ? undefined : QuotaReservedReason.ForbiddenByLimitRange;
}

/** Whether a pending Workload has to be logged anew. */
export const needsLogging = (now: Workload, before: Workload): boolean =>
  now.schedulingHash !== before.schedulingHash ||
  now.queue !== before.queue ||
  now.queuedSinceMs !== before.queuedSinceMs ||
  now.podsNeeded !== before.podsNeeded ||
  now.shape !== before.shape ||
  now.maxExecutionSeconds !== before.maxExecutionSeconds ||
  now.expectedMs !== before.expectedMs ||
  now.fenced !== before.fenced ||
  now.podFenced !== before.podFenced ||
  now.record?.executedSeconds !== before.record?.executedSeconds ||
  barredBy(now) !== barredBy(before) ||
  (now.lacks !== before.lacks && JSON.stringify(now.lacks) !== JSON.stringify(before.lacks)) ||
  (now.priorityWish !== before.priorityWish && JSON.stringify(now.priorityWish) !== JSON.stringify(before.priorityWish));

/** The pending Workload of a logged Job, with this record. Fields that the log omits are not used by decisions of a cycle. */
export function workloadFrom(logged: LoggedJob, record: AdmissionRecord | undefined): Workload {
  const slash = logged.job.indexOf('/');
  const requests: Requests = new Map(Object.entries(logged.requests) as [string, Amount][]);
  const { least: minPods, clusters: wish = ANYWHERE, nodes: nodeWish = ANY_NODE } = logged;
  const podSets = logged.podSets?.map(({ name, requests: each, nodes = ANY_NODE, least }) => ({
    podSet: name,
    requests: new Map(Object.entries(each) as [string, Amount][]),
    nodeWish: nodes,
    ...omitUndefined({ minPods: least }),
  }));
  const workload: Workload = {
    key: logged.job,
    namespace: logged.job.slice(0, slash),
    name: logged.job.slice(slash + 1),
    uid: logged.uid,
    resourceVersion: '',
    finalizers: [],
    queue: logged.queue,
    priorityWish: logged.priority ?? NO_PRIORITY,
    createdMs: logged.created,
    queuedSinceMs: logged.queued ?? logged.created,
    requests,
    podsNeeded: undefined,
    minPods,
    wish,
    hold: logged.barred === QuotaReservedReason.Held ? true : undefined,
    nodeWish,
    ...omitUndefined({ podSets }),
    podsTold: 0,
    refusal: undefined,
    dispatched: false,
    heldBack: false,
    started: false,
    podsLostSinceMs: undefined,
    startTimeoutMs: undefined,
    recoveryTimeoutMs: undefined,
    maxExecutionSeconds: logged.maxSeconds,
    ...omitUndefined({ expectedMs: logged.expected }),
    fenced: logged.fenced,
    podFenced: logged.podFenced,
    carry: undefined,
    references: [],
    needs: [],
    runtimeClass: logged.runtime,
    ...omitUndefined({ data: logged.data, lacks: logged.lacks }),
    graceSeconds: 0,
    shape: logged.shape,
    cannotStart: undefined,
    record,
    phase: 'Pending',
    unmarked: false,
    untrusted: undefined,
    unaccounted: false,
    problem: logged.barred === QuotaReservedReason.InvalidJob ? logged.barred : undefined,
    checks: NO_CHECKS,
    forbidden: logged.barred === QuotaReservedReason.ForbiddenByLimitRange ? logged.barred : undefined,
    schedulingHash: schedulingHashOf(
      requests,
      minPods,
      { clusters: wish, data: logged.data },
      nodeWish,
      { priorityClass: logged.priority?.podClass, runtimeClass: logged.runtime },
      record,
      podSets,
    ),
  };
  return logged.needed === undefined ? workload : withNeeded(workload, logged.needed);
}
const ANYWHERE: ClusterWish = { kind: 'Any' };
const NO_PRIORITY: PriorityWish = {};
const NO_CHECKS: Workload['checks'] = new Map();
