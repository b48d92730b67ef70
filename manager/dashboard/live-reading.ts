import type { DeepReadonly, Job, ObjectKey } from '../../shared/api/kubernetes.ts';
import type { AccessAttributes, KubeUser } from '../../shared/kube/access-reviews.ts';
import { ownerOf } from '../../shared/kube/user-identity.ts';
import type { Lister } from '../../shared/kube/indexer.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { writtenRecordOf } from '../api/records.ts';
import { formatWork, operandOf, parseQualifiedName, resourceOfWork } from '../work-kind/qualified-name.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';
import type { LiveLogs, LogEvent } from './live-logs.ts';
import { seesIt, type Rights } from './rights.ts';
import type { Found, Refused, RightsReader } from './rights-reader.ts';
import type { LivePods } from './views.ts';

export type LiveReadingDeps = {
  readonly kind: WorkKind<Job>;
  readonly jobs: Lister<Job>;
  readonly rights: RightsReader;
  /** Absent: worker clusters are not read. */
  readonly live?: LiveLogs | undefined;
  readonly clock: Clock;
};

export type LiveReading = {
  /** The present pods of a Job; where worker clusters are not read, the answer names the command that does it. */
  pods(namespace: string, name: string): Promise<Found<LivePods>>;
  /** The log of a pod as it is written. */
  followLog(
    namespace: string,
    name: string,
    pod: string,
    lastEventId: string | undefined,
    signal: AbortSignal,
  ): Promise<Found<AsyncIterable<LogEvent>>>;
};

/** Interval of checks of the reader's rights and of the Job's place. */
const RECHECK_MS = 60_000;

/**
 * Pods and logs of running Jobs for one viewer, who must see the Job and may read logs, both by reviews on the manager cluster. No worker
 * cluster is asked before.
 */
export function liveReading({ kind, jobs, rights, live, clock }: LiveReadingDeps, user: KubeUser, seen: Rights): LiveReading {
  const refusal = async (namespace: string, name: string, pod?: string): Promise<Refused | undefined> =>
    (await refusalToSee({ rights, seen, user }, { namespace, name })) ?? (await rights.refusal(user, toRead(namespace, pod)));

  const jobOf = (namespace: string, name: string): Found<DeepReadonly<Job>> => {
    const job = jobs.get({ namespace, name });
    return job === undefined
      ? { kind: 'Missing', what: `there is no ${formatWork(kind, { namespace, name })}` }
      : { kind: 'Found', value: job };
  };

  /**
   * Ends when the viewer may no longer read the log, or the Job was replaced or moved. A viewer who reconnects gets the log of the present
   * copy.
   */
  async function* whileItStands(
    events: AsyncIterable<LogEvent>,
    stands: () => Promise<boolean>,
    over: AbortController,
  ): AsyncGenerator<LogEvent> {
    const recheck = async (): Promise<void> => {
      if (!(await stands())) return over.abort(new Error('it is not to be read any more'));
      if (!over.signal.aborted) timer = clock.schedule(() => void recheck(), RECHECK_MS);
    };
    let timer = clock.schedule(() => void recheck(), RECHECK_MS);
    try {
      yield* events;
    } finally {
      over.abort(new Error('nobody reads any more'));
      timer.cancel();
    }
  }

  return {
    async pods(namespace, name) {
      const refused = await refusal(namespace, name);
      if (refused !== undefined) return refused;
      const job = jobOf(namespace, name);
      if (job.kind !== 'Found') return job;
      return live === undefined ? notRead(kind, { namespace, name }) : live.pods(job.value);
    },
    async followLog(namespace, name, pod, lastEventId, signal) {
      const refused = await refusal(namespace, name, pod);
      if (refused !== undefined) return refused;
      const job = jobOf(namespace, name);
      if (job.kind !== 'Found') return job;
      if (live === undefined) return notRead(kind, { namespace, name });
      const over = new AbortController();
      const either = AbortSignal.any([signal, over.signal]);
      const answer = await live.log(job.value, pod, { owner: ownerOf(user), lastEventId, signal: either });
      if (answer.kind !== 'Found') return answer;
      const stands = async (): Promise<boolean> => {
        const now = await refusal(namespace, name, pod);
        // Reviews do not work now: the last answer stays.
        if (now !== undefined && now.status !== 503) return false;
        return placeOf(jobs.get({ namespace, name })) === placeOf(job.value);
      };
      return { kind: 'Found', value: whileItStands(answer.value, stands, over) };
    },
  };
}

const placeOf = (job: DeepReadonly<Job> | undefined): string | undefined => {
  const written = job && writtenRecordOf(job);
  return written?.kind === 'Record' ? JSON.stringify([job?.metadata.uid, written.record.cluster, written.record.epoch]) : undefined;
};

const notRead = (kind: WorkKind<Job>, key: ObjectKey): { readonly kind: 'Missing'; readonly what: string } => ({
  kind: 'Missing',
  what: `the manager reads no pods and logs of worker clusters for others (--dashboard-live-logs); with your rights there: ${follow(kind, key)}`,
});

/** The command that does the same with the user's own rights. */
export const follow = (kind: WorkKind<Job>, key: ObjectKey): string =>
  `switchyard logs ${operandOf(key, kind.of(key.name).resource.kind)} --follow`;

export function toSee({ namespace, name }: ObjectKey): AccessAttributes {
  const { group, plural: resource } = resourceOfWork(name);
  return { resourceAttributes: { namespace, verb: 'get', group, resource, name: parseQualifiedName(name).name } };
}

/**
 * Why the viewer may not see an object. Who may list the Jobs of a namespace sees each of them; an object of another kind needs the right
 * to get it.
 */
export const refusalToSee = async (
  { rights, seen, user }: { readonly rights: Pick<RightsReader, 'refusal'>; readonly seen: Rights; readonly user: KubeUser },
  key: ObjectKey,
): Promise<Refused | undefined> =>
  parseQualifiedName(key.name).qualifier === undefined && seesIt(seen.namespaces, key.namespace)
    ? undefined
    : rights.refusal(user, toSee(key));
/** The log of one pod; without a name, the logs of all pods. */
export const toRead = (namespace: string, pod?: string): AccessAttributes => ({
  resourceAttributes: {
    namespace,
    verb: 'get',
    group: '',
    resource: 'pods',
    subresource: 'log',
    ...(pod === undefined ? {} : { name: pod }),
  },
});
