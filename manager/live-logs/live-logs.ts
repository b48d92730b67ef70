import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { PODS, UNENDED_PODS } from '../../shared/api/resources.ts';
import { ApiError, isForbidden, isNotFound } from '../../shared/kube/api-error.ts';
import type { Lister } from '../../shared/kube/indexer.ts';
import { createTrafficPace, type TrafficPace } from '../../shared/kube/traffic-pace.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { withDeadline } from '../../shared/runtime/deadline.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { createShares } from '../../shared/runtime/shares.ts';
import { writtenRecordOf, type AdmissionRecord } from '../api/records.ts';
import type { WorkerCluster } from '../api/worker-cluster.ts';
import type { Answered, LiveLogs, LogEvent, LogReading } from '../dashboard/live-logs.ts';
import type { LivePods } from '../dashboard/views.ts';
import { copyIdentity, copyName } from '../work-kind/copy-marks.ts';
import { operandOf, parseQualifiedName } from '../work-kind/qualified-name.ts';
import { isPodName } from '../../shared/kube/keys.ts';
import { hasEnded, podsOfCopy, type CopyPod } from './copy-pods.ts';
import { followLog } from './follow-log.ts';
import { parsePosition } from './log-position.ts';
import type { WorkerReader, WorkerReaders } from './worker-readers.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';

export type LiveLogsDeps = {
  readonly kind: WorkKind;
  readonly readers: WorkerReaders;
  readonly workerClusters: Lister<WorkerCluster>;
  readonly clock: Clock;
  readonly log: Logger;
};

/** Pods shown of one copy. */
const PODS_MAX = 200;
/** Reads of the same pods within this time are one read. */
const PODS_TTL_MS = 3_000;
const COPIES_TTL_MS = 30_000;
const FAILURE_TTL_MS = 2_000;
const ENTRIES_MAX = 512;
const ANSWER_MS = 10_000;
/** Logs followed at once. */
const LOGS_MAX = 64;
/** Characters per second of one log, and of all logs. */
const PACE_OF_ONE = { bytesPerSecond: 256 * 1024, burstBytes: 1024 * 1024 };
const PACE_OF_ALL = { bytesPerSecond: 2 * 1024 * 1024, burstBytes: 8 * 1024 * 1024 };

/** The cluster of a copy, and the selector of its pods. */
type Place = {
  readonly cluster: string;
  readonly client: WorkerReader;
  readonly namespace: string;
  readonly uid: string;
  readonly selector: string;
  /** Of the original, where pods need not be controlled by the copy. */
  readonly originUid: string | undefined;
};

type Unanswered = Exclude<Answered<never>, { readonly kind: 'Found' }>;

/** Why pods or logs cannot be shown. */
class NotShown extends Error {
  override readonly name = 'NotShown';
  readonly answer: Unanswered;

  constructor(answer: Unanswered) {
    super(answer.kind);
    this.answer = answer;
  }
}

/** Reads pods and logs with the manager's own rights on worker clusters: the rights of viewers are checked before. */
export function createLiveLogs(deps: LiveLogsDeps): LiveLogs {
  return new LogsOfCopies(deps);
}

class LogsOfCopies implements LiveLogs {
  readonly #deps: LiveLogsDeps;
  readonly #copies: Shared<{ readonly uid: string; readonly selector: string }>;
  readonly #lists: Shared<LivePods>;
  readonly #paceOfAll: TrafficPace;
  readonly #followed = createShares(LOGS_MAX);

  constructor(deps: LiveLogsDeps) {
    const { clock } = deps;
    this.#deps = deps;
    this.#copies = createShared(clock, COPIES_TTL_MS);
    this.#lists = createShared(clock, PODS_TTL_MS);
    this.#paceOfAll = createTrafficPace({ ...PACE_OF_ALL, clock });
  }

  async pods(job: DeepReadonly<Job>): Promise<Answered<LivePods>> {
    try {
      const value = await this.#lists.of(keyOf(job), async () => {
        const place = await this.#placeOf(job);
        const pods = await this.#listed(place, UNENDED_PODS, PODS_MAX);
        const shown = pods.filter((pod) => !hasEnded(pod));
        return {
          cluster: place.cluster,
          pods: shown.map(({ name, phase, index, startedMs }) => ({ pod: name, phase, ...omitUndefined({ index, startedMs }) })),
        };
      });
      return { kind: 'Found', value };
    } catch (error) {
      return this.#unanswered(job, error);
    }
  }

  async log(job: DeepReadonly<Job>, name: string, { owner, lastEventId, signal }: LogReading): ReturnType<LiveLogs['log']> {
    const { kind, clock } = this.#deps;
    try {
      const missing = { kind: 'Missing', what: `no pod ${name} of it is there any more` } as const;
      const first = isPodName(name) ? await this.#found(job, name) : undefined;
      if (first === undefined) return missing;
      const { cluster } = first.place;
      const events = followLog({
        namespace: first.place.namespace,
        pod: first.pod,
        from: parsePosition(lastEventId),
        find: async () => (await this.#found(job, name))?.pod,
        client: () => this.#readerOf(cluster),
        paces: [createTrafficPace({ ...PACE_OF_ONE, clock }), this.#paceOfAll],
        refused: notAllowed(kind, cluster, job),
        clock,
        signal,
      });
      return { kind: 'Found', value: this.#taken(owner, events) };
    } catch (error) {
      return this.#unanswered(job, error);
    }
  }

  async *#taken(owner: string, events: AsyncIterable<LogEvent>): AsyncGenerator<LogEvent> {
    const giveBack = this.#followed.take(owner);
    if (giveBack === undefined) {
      const message = `too many logs are followed at once (${LOGS_MAX / 8} by one user or namespace of ServiceAccounts, ${LOGS_MAX} in all); close some and open it again`;
      return yield { id: '', event: 'problem', data: { message } };
    }
    try {
      yield* events;
    } finally {
      giveBack();
    }
  }

  /** Finds a pod by a list of one, which needs only the right to list. */
  async #found(job: DeepReadonly<Job>, name: string): Promise<{ readonly place: Place; readonly pod: CopyPod } | undefined> {
    const place = await this.#placeOf(job);
    const pod = (await this.#listed(place, `metadata.name=${name}`, 1)).find((each) => each.name === name);
    return pod && { place, pod };
  }

  async #listed({ client, namespace, selector, uid, originUid }: Place, fieldSelector: string, limit: number): Promise<readonly CopyPod[]> {
    const { items } = await this.#timed((signal) =>
      client.list(PODS, { namespace, labelSelector: selector, fieldSelector, limit, signal }),
    );
    return podsOfCopy(items.slice(0, limit), uid, originUid);
  }

  /** The copy of this very Job, by its cluster; a Job of the same name with another original is none. */
  async #placeOf(job: DeepReadonly<Job>): Promise<Place> {
    const { kind, workerClusters } = this.#deps;
    const { namespace, name, uid } = job.metadata;
    const { cluster } = recordOf(job);
    const own = kind.of(name);
    const client = await this.#readerOf(cluster);
    const isLocal = workerClusters.get({ namespace: '', name: cluster })?.spec.local === true;
    const nameOfCopy = parseQualifiedName(copyName(job, isLocal)).name;
    const found = await this.#copies.of(keyOf(job), async () => {
      const copy = await this.#timed((signal) => client.get(own.resource, { namespace, name: nameOfCopy }, { signal }));
      const selector = copyIdentity(copy)?.originUid === uid ? own.podSelector(copy) : undefined;
      if (selector === undefined) throw new NotShown({ kind: 'Missing', what: `there is no copy of it on cluster ${cluster}` });
      return { uid: copy.metadata.uid, selector };
    });
    return { cluster, client, namespace, ...found, originUid: own === kind.of(undefined) ? undefined : uid };
  }

  async #readerOf(cluster: string): Promise<WorkerReader> {
    const reader = await this.#deps.readers.of(cluster);
    if ('kind' in reader)
      throw new NotShown({ kind: 'Refused', status: 503, why: `cluster ${cluster} is not connected: ${reader.message}` });
    return reader;
  }

  #timed<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return withDeadline(this.#deps.clock, ANSWER_MS, undefined, ask);
  }

  /** Answers contain no text of the cluster. */
  #unanswered(job: DeepReadonly<Job>, error: unknown): Unanswered {
    const { kind, log } = this.#deps;
    if (error instanceof NotShown) return error.answer;
    const { cluster } = recordOf(job);
    log.debug('pods of a cluster cannot be shown', { cluster, error });
    if (isForbidden(error)) return { kind: 'Refused', status: 403, why: notAllowed(kind, cluster, job) };
    if (isNotFound(error)) return { kind: 'Missing', what: `there is no copy of it on cluster ${cluster}` };
    const what = error instanceof ApiError ? `answers ${error.code}` : 'does not answer';
    return { kind: 'Refused', status: 503, why: `cluster ${cluster} ${what}` };
  }
}

function recordOf(job: DeepReadonly<Job>): Pick<AdmissionRecord, 'cluster' | 'epoch' | 'since'> {
  const written = writtenRecordOf(job);
  if (written.kind === 'Record') return written.record;
  throw new NotShown({ kind: 'Missing', what: 'it is on no cluster' });
}

/** A Job that moves, or resumes, may have another copy then. */
function keyOf(job: DeepReadonly<Job>): string {
  const { cluster, epoch, since } = recordOf(job);
  return JSON.stringify([job.metadata.uid, cluster, epoch, since]);
}

const notAllowed = (kind: WorkKind, cluster: string, { metadata }: DeepReadonly<Job>): string =>
  `the manager may not list pods and read pods/log on cluster ${cluster}: \`switchyard clusters join CONTEXT --name ${cluster} --live-logs\`, or managerAccess.liveLogs of the chart ` +
  `switchyard-worker there, gives it that right; with your own rights there: switchyard logs ${operandOf(metadata, kind.of(metadata.name).resource.kind)} --follow`;

/** Cached answers by key: one request serves all callers at the same time or soon after, up to a bound. A failure is retried soon. */
type Shared<T> = { of(key: string, ask: () => Promise<T>): Promise<T> };

function createShared<T>(clock: Clock, keptMs: number): Shared<T> {
  const kept = new Map<string, { readonly answer: Promise<T>; untilMs: number }>();
  return {
    of(key, ask) {
      const known = kept.get(key);
      if (known !== undefined && clock.monotonic() < known.untilMs) return known.answer;
      const answer = ask();
      const entry = { answer, untilMs: clock.monotonic() + keptMs };
      kept.delete(key);
      kept.set(key, entry);
      answer.then(undefined, () => (entry.untilMs = Math.min(entry.untilMs, clock.monotonic() + FAILURE_TTL_MS)));
      const oldest = kept.size > ENTRIES_MAX ? kept.keys().next().value : undefined;
      if (oldest !== undefined) kept.delete(oldest);
      return answer;
    },
  };
}
