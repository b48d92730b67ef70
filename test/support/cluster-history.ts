/** What really happened to the Jobs and pods of a cluster: every version of every one, in the order of the server. */
import type { Job, Pod } from '../../shared/api/kubernetes.ts';
import { JOBS, PODS } from '../../shared/api/resources.ts';
import type { KubeClient, WatchEvent } from '../../shared/kube/client.ts';

type ChangeOf<K extends string, T> = {
  readonly kind: K;
  readonly revision: number;
  /** The object was removed; `object` is its last version. */
  readonly gone: boolean;
  readonly object: T;
  readonly previous: T | undefined;
};
export type JobChange = ChangeOf<'Job', Job>;
export type PodChange = ChangeOf<'Pod', Pod>;
export type Change = JobChange | PodChange;

export interface ClusterHistory {
  /** What has changed since the last call, in order. */
  next(): readonly Change[];
  /** The objects after the last change that `next` gave out, by UID. */
  readonly jobs: ReadonlyMap<string, Job>;
  readonly pods: ReadonlyMap<string, Pod>;
  /** Has the store of the cluster put back: tells what has gone and what has come back with it, and follows the new course of things. */
  throughRestore(restore: () => Promise<void>): Promise<void>;
  stop(): void;
}

/** Longer than any run: the watches of the history never end by themselves. */
const FOREVER_SECONDS = 100_000_000;

export async function recordHistory(client: KubeClient): Promise<ClusterHistory> {
  const jobs = new Map<string, Job>();
  const pods = new Map<string, Pod>();
  /** Given out with the next call, before what the watches have told. */
  const told: Change[] = [];
  const failures: unknown[] = [];
  let course = await follow(client, failures);

  /** Changes get their previous version, and make it into what is known. */
  const entered = (changes: readonly Change[]): Change[] =>
    changes.map((change) => (change.kind === 'Job' ? enter(jobs, change) : enter(pods, change)));
  const watched = (): Change[] => entered(course.pending.splice(0).toSorted((a, b) => a.revision - b.revision));

  return {
    jobs,
    pods,
    next() {
      if (failures.length > 0) throw new Error('the history of the cluster is not complete', { cause: failures[0] });
      return [...told.splice(0), ...watched()];
    },
    async throughRestore(restore) {
      course.stop();
      told.push(...watched());
      await restore();
      course = await follow(client, failures);
      const { revision } = course;
      const gone = (kind: 'Job' | 'Pod', object: Job | Pod): Change =>
        ({ kind, revision, gone: true, object, previous: undefined }) as Change;
      const there = new Set([...course.jobs, ...course.pods].map(({ metadata }) => metadata.uid));
      const changes: Change[] = [
        ...[...jobs.values()].filter(({ metadata }) => !there.has(metadata.uid)).map((job) => gone('Job', job)),
        ...[...pods.values()].filter(({ metadata }) => !there.has(metadata.uid)).map((pod) => gone('Pod', pod)),
        ...course.jobs.map((object): Change => ({ kind: 'Job', revision, gone: false, object, previous: undefined })),
        ...course.pods.map((object): Change => ({ kind: 'Pod', revision, gone: false, object, previous: undefined })),
      ];
      told.push(...entered(changes));
    },
    stop: () => course.stop(),
  };
}

type Course = {
  readonly jobs: readonly Job[];
  readonly pods: readonly Pod[];
  readonly revision: number;
  readonly pending: Change[];
  stop(): void;
};

/** What there is, and what happens from then on. */
async function follow(client: KubeClient, failures: unknown[]): Promise<Course> {
  const pending: Change[] = [];
  const stopping = new AbortController();
  const { items: jobs, resourceVersion } = await client.list(JOBS);
  const { items: pods } = await client.list(PODS);
  const options = { resourceVersion, timeoutSeconds: FOREVER_SECONDS, signal: stopping.signal };
  const jobEvents = await client.watch(JOBS, options);
  const podEvents = await client.watch(PODS, options);
  const reading = [
    read<Job>(jobEvents, (event) => pending.push({ kind: 'Job', ...event })),
    read<Pod>(podEvents, (event) => pending.push({ kind: 'Pod', ...event })),
  ];
  for (const each of reading) void each.catch((error: unknown) => stopping.signal.aborted || failures.push(error));
  const stop = (): void => stopping.abort(new Error('the history ends'));
  return { jobs, pods, revision: Number(resourceVersion), pending, stop };
}

type Read<T> = Omit<ChangeOf<'Job', T>, 'kind'>;
async function read<T extends Job | Pod>(events: AsyncIterable<readonly WatchEvent<T>[]>, tell: (change: Read<T>) => void): Promise<void> {
  for await (const batch of events) {
    for (const event of batch) {
      if (event.type === 'BOOKMARK') continue;
      const revision = Number(event.object.metadata.resourceVersion);
      tell({ revision, gone: event.type === 'DELETED', object: event.object, previous: undefined });
    }
  }
}

function enter<K extends string, T extends Job | Pod>(known: Map<string, T>, change: ChangeOf<K, T>): ChangeOf<K, T> {
  const { uid } = change.object.metadata;
  const previous = known.get(uid);
  if (change.gone) known.delete(uid);
  else known.set(uid, change.object);
  return { ...change, previous };
}
