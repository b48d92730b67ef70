import type { EndedPod } from '../../shared/api/ended-pods.ts';
import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { TRACE_ID_ANNOTATION } from '../../shared/api/names.ts';
import { parseWireTime } from '../../shared/api/wire-time.ts';
import { findCondition, findTrueCondition, finishedCondition } from '../../shared/kube/conditions.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { indexesBelow, sizeOf, unionOf, type Indexes } from '../api/index-list.ts';
import { creatorOf, submitterOf } from '../api/creator.ts';
import { actInWords, actsOn, type JobAct } from '../api/job-acts.ts';
import { readLastFailure, failureMessage } from '../api/last-failure.ts';
import { SwitchyardCondition } from '../api/reasons.ts';
import { earlierOf, keptPastOf, pastOf, type JobPast } from '../api/past-admissions.ts';
import { writtenRecordOf, type AdmissionRecord, type PastAdmission } from '../api/records.ts';
import { conditionViews } from './condition-view.ts';
import { isQueued } from './job-line.ts';
import { operandOf, parseWorkKey, qualifiedName, workKey } from '../work-kind/qualified-name.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';
import type { IndexCell, JobLine, JobView, PodView, Stage } from './views.ts';

/** The stored endings of the pods of one copy. */
export type CopyPods = { readonly cluster: string; readonly pods: readonly EndedPod[] };

/** All about a present Job, or object of another kind. `traceUrl`: URL of a trace view, with `{traceId}` in it. */
export function jobView(
  job: DeepReadonly<Job>,
  line: JobLine,
  kind: WorkKind<Job>,
  copies: readonly CopyPods[],
  traceUrl?: string,
): JobView {
  const { metadata, status } = job;
  const written = writtenRecordOf(job);
  const record = written.kind === 'Record' ? written.record : undefined;
  const failure = readLastFailure(job);
  const earlier = earlierOf(job, record);
  // A placement that is over holds nothing.
  const held = earlier?.isOver === true ? undefined : record;
  const facts: Facts = [
    ['Kind', line.kind],
    ['Namespace', metadata.namespace],
    ['LocalQueue', line.queue],
    ['ClusterQueue', record?.clusterQueue],
    ['Cluster', held?.cluster],
    ['Flavors', held && [...new Set(Object.values(held.flavors))].join(', ')],
    [
      'Charged',
      held?.charged &&
        Object.entries(held.charged)
          .map(([resource, amount]) => `${amount} ${resource}`)
          .join(', '),
    ],
    ['Placement', record?.epoch],
    ...(line.kind === undefined ? jobFacts(job, record) : describedFacts(job, kind, record)),
    ['Submitted by', submitterOf(job)],
    ['Created by', creatorOf(job)],
    ['Acts', actsOn(job).map(actInWords).join('; ')],
    ['Last failure', failure && failureMessage(failure)],
    ['UID', metadata.uid],
  ];
  return {
    line,
    stages: stagesOf(job, line, queuedAgainMs(line, pastOf(line, earlier), held !== undefined)),
    facts: facts.flatMap(([name, value]) => (value === undefined || value === '' ? [] : [{ name, value: String(value) }])),
    requests: held?.requests ?? {},
    conditions: conditionViews(status?.conditions),
    pods: podsOf(copies),
    placements: pastOf(line, earlier).admissions,
    avoided: Object.entries(record?.avoid ?? {}).map(([cluster, { reason, until }]) => ({
      cluster,
      reason,
      ...omitUndefined({ untilMs: parseWireTime(until) }),
    })),
    commands: commandsOf(line),
    fromHistory: false,
    ...omitUndefined({
      indexes: line.kind === undefined && job.spec.completionMode === 'Indexed' ? indexRuns(job) : undefined,
      trace: traceOf(metadata.annotations?.[TRACE_ID_ANNOTATION], traceUrl),
    }),
  };
}

/** When the admission before the present one ended, or the hold after that; undefined: there was none. */
function queuedAgainMs({ admittedMs }: JobLine, { admissions, holds }: JobPast, isAdmitted: boolean): number | undefined {
  const before = isAdmitted ? admissions.slice(0, -1) : admissions;
  const ends = [...before, ...holds].flatMap(({ untilMs }) => untilMs ?? []);
  const passed = isAdmitted ? ends.filter((each) => each <= (admittedMs ?? 0)) : ends;
  return passed.length === 0 ? undefined : Math.max(...passed);
}

type Facts = readonly (readonly [name: string, value: string | number | undefined])[];

const jobFacts = ({ spec }: DeepReadonly<Job>, record: AdmissionRecord | undefined): Facts => [
  ['Pods at once', record?.parallelism === undefined ? spec.parallelism : `${record.parallelism} of ${spec.parallelism ?? 1}`],
  ['Completions', spec.completions],
  ['Completion mode', spec.completionMode],
  ['Retries', spec.backoffLimit],
];

const describedFacts = (object: DeepReadonly<Job>, kind: WorkKind<Job>, record: AdmissionRecord | undefined): Facts => [
  ['Pods at once', record?.parallelism === undefined ? kind.podsAtOnce(object) : `${record.parallelism} of ${kind.podsAtOnce(object)}`],
  [
    'Pod sets',
    kind
      .podSets(object)
      .map(({ name, count }) => {
        const admitted = record?.podSets?.find((each) => each.name === name)?.count;
        return admitted === undefined ? `${name} ${count}` : `${name} ${admitted} of ${count}`;
      })
      .join(', '),
  ],
];

/** Any user who may write the Job can have written the annotation: a malformed id is dropped. */
function traceOf(id: string | undefined, traceUrl: string | undefined): JobView['trace'] {
  if (id === undefined || !/^[0-9a-f]{32}$/.test(id)) return undefined;
  return { id, ...omitUndefined({ url: traceUrl?.replace('{traceId}', id) }) };
}

/** The stored history of a Job that is gone. */
export type KeptJob = {
  readonly uid: string;
  readonly namespace: string;
  /** Absent: it is unknown which of the namespaces of that name it was. */
  readonly namespaceUid?: string;
  readonly name: string;
  /** Absent: Job. */
  readonly kind?: string;
  readonly resource?: string;
  readonly outcome: 'Complete' | 'Failed' | 'Deleted';
  readonly reason?: string;
  readonly message?: string;
  readonly localQueue?: string;
  readonly clusterQueue?: string;
  readonly cluster?: string;
  readonly created: string;
  readonly admitted?: string;
  readonly evicted?: true;
  readonly pastAdmissions?: readonly PastAdmission[];
  readonly admittedSeconds?: number;
  readonly started?: string;
  readonly ended: string;
  readonly requests?: Readonly<Record<string, string>>;
  readonly succeeded: number;
  readonly failed: number;
  readonly submittedBy?: string;
  readonly user?: string;
  readonly acts?: readonly JobAct[];
  readonly owner?: string;
  readonly placements?: number;
};

/** The key of its line. */
export const keyOfKept = ({ namespace, name, resource }: KeptJob): string => workKey({ namespace, name: qualifiedName(resource, name) });

export function keptJobView(kept: KeptJob, copies: readonly CopyPods[]): JobView {
  const line: JobLine = {
    key: keyOfKept(kept),
    ...omitUndefined({ kind: kept.kind }),
    uid: kept.uid,
    state: kept.outcome === 'Complete' ? 'Complete' : 'Failed',
    createdMs: parseWireTime(kept.created) ?? 0,
    completions: kept.succeeded,
    active: 0,
    succeeded: kept.succeeded,
    failed: kept.failed,
    ...omitUndefined({
      reason: kept.outcome === 'Deleted' ? 'Deleted' : kept.reason,
      why: kept.message,
      queue: kept.localQueue,
      clusterQueue: kept.clusterQueue,
      cluster: kept.cluster,
      user: kept.submittedBy ?? kept.user,
      admittedMs: parseWireTime(kept.admitted),
      startedMs: parseWireTime(kept.started),
      endedMs: parseWireTime(kept.ended),
    }),
  };
  const againMs = queuedAgainMs(line, keptPastOf(kept), kept.evicted !== true && line.admittedMs !== undefined);
  const at = (name: string, atMs: number | undefined): Stage[] => (atMs === undefined ? [] : [{ name, atMs, state: 'Done' }]);
  const facts: Facts = [
    ['Kind', kept.kind],
    ['Namespace', kept.namespace],
    ['LocalQueue', kept.localQueue],
    ['ClusterQueue', kept.clusterQueue],
    ['Cluster', kept.cluster],
    ['Placements', kept.placements],
    ['Submitted by', kept.submittedBy],
    ['Created by', kept.user],
    ['Acts', kept.acts?.map(actInWords).join('; ')],
    ['Made by', kept.owner],
    ['UID', kept.uid],
  ];
  return {
    line,
    stages: [
      ...(againMs === undefined ? at('Queued', line.createdMs) : at('Queued again', againMs)),
      ...at('Admitted', line.admittedMs),
      ...at('Started', line.startedMs),
      {
        name: kept.outcome,
        state: kept.outcome === 'Complete' ? 'Done' : 'Bad',
        ...omitUndefined({ atMs: line.endedMs, about: kept.message ?? kept.reason }),
      },
    ],
    facts: facts.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value: String(value) }])),
    requests: kept.requests ?? {},
    conditions: [],
    pods: podsOf(copies),
    placements: keptPastOf(kept).admissions,
    avoided: [],
    commands: commandsOf(line).filter(({ does }) => does === 'history'),
    fromHistory: true,
  };
}

/** The stages of a Job, reached and ahead. */
function stagesOf({ status }: DeepReadonly<Job>, line: JobLine, againMs: number | undefined): Stage[] {
  const reserved = findCondition(status?.conditions, SwitchyardCondition.QuotaReserved);
  const dispatched = findTrueCondition(status?.conditions, SwitchyardCondition.Dispatched);
  const started = findTrueCondition(status?.conditions, SwitchyardCondition.Started);
  const ended = finishedCondition(status);
  const hasEnded = ended !== undefined;
  const waits = isQueued(line) || line.state === 'Resting';
  // The condition tells of the first placement that started.
  const startedMs = [parseWireTime(started?.lastTransitionTime), line.startedMs].find(
    (each) => each !== undefined && each >= (againMs ?? 0),
  );
  const stage = (name: string, atMs: number | undefined, isReached: boolean, isNow: boolean, about: string | undefined): Stage => ({
    name,
    state: isReached ? 'Done' : isNow ? 'Now' : 'Ahead',
    ...omitUndefined({ atMs: isReached ? atMs : undefined, about }),
  });
  const isAdmitted = !waits && line.admittedMs !== undefined;
  const isSent = isAdmitted && (dispatched !== undefined || hasEnded);
  const isStarted = isSent && (startedMs !== undefined || line.state === 'Running');
  const end: Stage = hasEnded
    ? {
        name: ended.type === 'Complete' ? 'Complete' : 'Failed',
        state: ended.type === 'Complete' ? 'Done' : 'Bad',
        ...omitUndefined({ atMs: line.endedMs, about: ended.type === 'Complete' ? undefined : (ended.message ?? ended.reason) }),
      }
    : stage('Ended', undefined, false, false, undefined);
  return [
    stage(
      againMs === undefined ? 'Queued' : 'Queued again',
      againMs ?? line.createdMs,
      true,
      false,
      line.queue === undefined ? 'in no queue' : `in ${line.queue}`,
    ),
    stage(
      'Admitted',
      line.admittedMs,
      isAdmitted,
      waits,
      isAdmitted ? line.clusterQueue && `by ${line.clusterQueue}` : (reserved?.message ?? line.why),
    ),
    stage(
      'Dispatched',
      parseWireTime(dispatched?.lastTransitionTime),
      isSent,
      isAdmitted && !isSent,
      isAdmitted ? line.cluster && `to ${line.cluster}` : undefined,
    ),
    stage('Started', startedMs, isStarted, isSent && !isStarted, undefined),
    end,
  ];
}

const RUNS_MAX = 4_096;

/**
 * Runs of indexes of one kind. Which unfinished indexes are active is unknown: the first ones are shown as active, as many as there are
 * active pods.
 */
function indexRuns({ spec, status }: DeepReadonly<Job>): { readonly kind: IndexCell; readonly count: number }[] {
  const completions = spec.completions ?? 0;
  const done = indexesBelow(status?.completedIndexes ?? '', completions);
  const lost = indexesBelow(status?.failedIndexes ?? '', completions);
  const kinds: [from: number, to: number, kind: IndexCell][] = [...runsOf(done, 'Succeeded'), ...runsOf(lost, 'Failed')];
  kinds.sort(([a], [b]) => a - b);
  let active = Math.min(status?.active ?? 0, completions - sizeOf(unionOf(done, lost)));
  const runs: { kind: IndexCell; count: number }[] = [];
  const add = (kind: IndexCell, count: number): void => {
    if (count <= 0) return;
    const last = runs.at(-1);
    if (last?.kind === kind) last.count += count;
    else runs.push({ kind, count });
  };
  const addOpen = (count: number): void => {
    const running = Math.min(active, count);
    active -= running;
    add('Active', running);
    add('Ahead', count - running);
  };
  let next = 0;
  for (const [from, to, kind] of kinds) {
    addOpen(from - next);
    add(kind, to - from + 1);
    next = to + 1;
  }
  addOpen(completions - next);
  return runs.slice(0, RUNS_MAX);
}

const runsOf = (indexes: Indexes, kind: IndexCell): [number, number, IndexCell][] =>
  Array.from({ length: indexes.length / 2 }, (_, pair) => [indexes[2 * pair] ?? 0, indexes[2 * pair + 1] ?? 0, kind]);

const podsOf = (copies: readonly CopyPods[]): PodView[] =>
  copies.flatMap(({ cluster, pods }) =>
    pods.map(({ pod, phase, index, exitCode, reason, message, lastLine, started, ended, tail }) => ({
      pod,
      cluster,
      phase,
      hasLog: tail === true,
      ...omitUndefined({
        index,
        exitCode,
        reason,
        message,
        lastLine,
        startedMs: parseWireTime(started),
        endedMs: parseWireTime(ended),
      }),
    })),
  );

/** Names of Kubernetes objects need no quotes in a shell. */
function commandsOf({ key, kind, state }: JobLine): JobView['commands'] {
  const hasEnded = state === 'Complete' || state === 'Failed';
  const work = operandOf(parseWorkKey(key), kind);
  const command = (does: string, line: string) => ({ does, line: `switchyard ${line}` });
  if (hasEnded) return [command('logs', `logs ${work}`), command('history', `history ${work}`)];
  return [
    command('explain', `explain ${work}`),
    ...(state === 'Held' ? [command('release', `release ${work}`)] : [command('hold', `hold ${work}`)]),
    ...(state === 'Running' ? [command('logs', `logs ${work} --follow`)] : []),
    command('cancel', `cancel ${work}`),
  ];
}
