import type { DeepReadonly, Job, KubeObject } from '../../shared/api/kubernetes.ts';
import type { Resource } from '../../shared/api/resources.ts';
import type { AccessAttributes, KubeUser } from '../../shared/kube/access-reviews.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { ownerOf } from '../../shared/kube/user-identity.ts';
import type { Lister } from '../../shared/kube/indexer.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { CLUSTER_QUEUES, type ClusterQueue } from '../api/cluster-queue.ts';
import type { SharedSubmissions } from '../api/shared-submissions.ts';
import type { SubmissionQueueObject } from '../api/submission-queue.ts';
import { WORKER_CLUSTERS, type WorkerCluster } from '../api/worker-cluster.ts';
import type { Act } from './actions.ts';
import { actionsOnCluster } from './allowed-actions.ts';
import { clusterView } from './cluster-view.ts';
import type { Explanations, WhatIfAnswer } from './explanations.ts';
import { foundInTurn } from './fair-scheduler.ts';
import { queueView } from './queue-view.ts';
import { seesIt, type Rights } from './rights.ts';
import type { Found, Refused, RightsReader } from './rights-reader.ts';
import { sharedQueueView, submissionView } from './submission-view.ts';
import { HOURS_MAX, parseHours } from './time-line.ts';
import type { TimeLines } from './time-line-reading.ts';
import { jobsOf, mayEdit, parseWhatIfRequest } from './what-if-request.ts';
import { clustersView, queuesView } from './shared-figures.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';
import type { ClusterTimeLine, QueueTimeLine } from './past-views.ts';
import type { SubmissionsView } from './submission-views.ts';
import type { ClusterAction, ClustersView, ClusterView, QueuesView, QueueView, WhatIfView, WithActions } from './views.ts';
import { parseWishes } from './wished-edits.ts';
import type { OverviewSources } from './overview.ts';

export type PlaceReadingDeps = {
  readonly kind: WorkKind<Job>;
  readonly jobs: Lister<Job>;
  readonly sources: OverviewSources;
  readonly submissionQueues: Lister<SubmissionQueueObject>;
  /** Reads how the leader last described the shared queue; absent: there is none. */
  readonly sharedSubmissions?: (() => Promise<SharedSubmissions | undefined>) | undefined;
  readonly rights: RightsReader;
  readonly explanations: Explanations;
  readonly timeLines: TimeLines;
  readonly clock: Clock;
  /** Absent: actions are not accepted. */
  readonly act?: Act | undefined;
};

/** Queues, clusters and submissions for one viewer. */
export interface PlaceReading {
  /** ClusterQueues that the viewer may see or use. */
  queues(): QueuesView;
  clusters(): ClustersView;
  queue(name: string): Promise<Found<QueueView>>;
  /** The effects of edits; malformed edits return a problem. */
  whatIf(name: string, wishes: URLSearchParams): Promise<Found<WhatIfView> | { readonly problem: string }>;
  /** The effects of the changes of a request body; those that cannot be made return a problem. */
  whatIfChanged(body: unknown): Promise<Found<WhatIfView> | { readonly problem: string }>;
  /** Admitted and waiting Jobs of the queue in the last hours. */
  queueTimeLine(name: string, parameters: URLSearchParams): Promise<Found<QueueTimeLine> | { readonly problem: string }>;
  cluster(name: string): Promise<Found<WithActions<ClusterView, ClusterAction>>>;
  /** The use of the cluster in the last hours. */
  clusterTimeLine(name: string, parameters: URLSearchParams): Promise<Found<ClusterTimeLine> | { readonly problem: string }>;
  submissions(): Promise<Found<SubmissionsView>>;
}

const GROUP = 'switchyard.dev';
/** Namespaces that are reviewed for a viewer who may not list all SubmissionQueues. */
const NAMESPACES_MAX = 500;
const CONCURRENCY = 8;

export function placeReading(deps: PlaceReadingDeps, user: KubeUser, seen: Rights): PlaceReading {
  const reader = { deps, user, seen };
  return {
    queues: () => queuesView(deps.sources, seen),
    clusters: () => clustersView(deps.sources, seen),
    ...queueReading(reader),
    ...whatIfReading(reader),
    ...clusterReading(reader),
    submissions: () => readSubmissions(reader),
  };
}

/** The viewer, and the place that is read. */
type Reader = { readonly deps: PlaceReadingDeps; readonly user: KubeUser; readonly seen: Rights };

function queueReading(reader: Reader): Pick<PlaceReading, 'queue' | 'queueTimeLine'> {
  const { deps, user, seen } = reader;
  return {
    async queue(name) {
      const of = await queueOf(reader, name);
      if (of.kind !== 'Found') return of;
      const queue = of.value;
      const order = await deps.explanations.orderOf(name, ownerOf(user));
      return { kind: 'Found', value: queueView(deps.sources, queue, order, seen) };
    },
    queueTimeLine: async (name, parameters) =>
      lastHours(await queueOf(reader, name), parameters, (hours) => deps.timeLines.ofQueue(name, hours, seen, ownerOf(user))),
  };
}

function whatIfReading(reader: Reader): Pick<PlaceReading, 'whatIf' | 'whatIfChanged'> {
  const { deps, user, seen } = reader;
  const { kind, jobs, sources, explanations, clock } = deps;
  return {
    async whatIf(name, wishes) {
      const of = await queueOf(reader, name);
      if (of.kind !== 'Found') return of;
      const queue = of.value;
      const clusters = sources.workerClusters.list().map(({ metadata }) => metadata.name);
      const edits = parseWishes(wishes, queue, new Set(clusters.filter((each) => seesIt(seen.clusters, each))));
      if ('problem' in edits) return edits;
      return asFound(await explanations.whatIf({ queue, edits, submitted: [] }, seen, ownerOf(user)));
    },
    async whatIfChanged(body) {
      const request = parseWhatIfRequest(body);
      if ('problem' in request) return request;
      const unseen = request.edits.find((edit) => !mayEdit({ ...sources, jobs }, edit, seen));
      if (unseen !== undefined) {
        const { object, namespace, name } = unseen;
        return { problem: `there is no ${object} ${namespace === undefined ? '' : `${namespace}/`}${name} that you may see` };
      }
      const submitted = jobsOf(kind, request, (namespace) => seesIt(seen.namespaces, namespace), jobs, clock.now());
      if ('problem' in submitted) return submitted;
      return asFound(await explanations.whatIf({ edits: request.edits, submitted: submitted.jobs }, seen, ownerOf(user)));
    },
  };
}

function clusterReading(reader: Reader): Pick<PlaceReading, 'cluster' | 'clusterTimeLine'> {
  const { deps, user, seen } = reader;
  return {
    async cluster(name) {
      const of = await clusterOf(reader, name);
      if (of.kind !== 'Found') return of;
      const cluster = of.value;
      const may = deps.act === undefined ? [] : await actionsOnCluster(deps.rights, user, name);
      return { kind: 'Found', value: { ...clusterView(deps.sources.index, cluster, seen), may } };
    },
    clusterTimeLine: async (name, parameters) =>
      lastHours(await clusterOf(reader, name), parameters, (hours) => deps.timeLines.ofCluster(name, hours, seen, ownerOf(user))),
  };
}

async function readSubmissions(reader: Reader): Promise<Found<SubmissionsView>> {
  const { submissionQueues, sharedSubmissions } = reader.deps;
  const all = submissionQueues.list();
  const refused = await toListSubmissions(reader, '');
  if (refused?.status === 503) return refused;
  const namespaces = [...new Set(all.map(({ metadata }) => metadata.namespace))].toSorted();
  const visible = refused === undefined ? new Set(namespaces) : await visibleNamespaces(reader, namespaces);
  if ('kind' in visible) return visible;
  const queues = all.filter(({ metadata }) => visible.has(metadata.namespace)).map(submissionView);
  // The shared queue is of no namespace: whoever sees all queues sees it.
  const shared =
    refused === undefined && sharedSubmissions !== undefined ? sharedQueueView(await sharedSubmissions(), reader.seen) : undefined;
  return { kind: 'Found', value: { queues: queues.toSorted((a, b) => (a.key < b.key ? -1 : 1)), ...omitUndefined({ shared }) } };
}

/** The namespaces whose SubmissionQueues the viewer may list. */
async function visibleNamespaces(reader: Reader, names: readonly string[]): Promise<ReadonlySet<string> | Refused> {
  const visible = new Set<string>();
  for (let from = 0; from < Math.min(names.length, NAMESPACES_MAX); from += CONCURRENCY) {
    const some = names.slice(from, from + CONCURRENCY);
    const refusals = await Promise.all(some.map((namespace) => toListSubmissions(reader, namespace)));
    for (const [position, refused] of refusals.entries()) {
      if (refused?.status === 503) return refused;
      if (refused === undefined) visible.add(some[position] ?? '');
    }
  }
  return visible;
}

const toListSubmissions = ({ deps, user }: Reader, namespace: string): Promise<Refused | undefined> =>
  deps.rights.refusal(user, { resourceAttributes: { namespace, verb: 'list', group: GROUP, resource: 'submissionqueues' } });

const queueOf = (reader: Reader, name: string): Promise<Found<DeepReadonly<ClusterQueue>>> =>
  found(reader, reader.seen.queues, CLUSTER_QUEUES, reader.deps.sources.clusterQueues, name);
const clusterOf = (reader: Reader, name: string): Promise<Found<DeepReadonly<WorkerCluster>>> =>
  found(reader, reader.seen.clusters, WORKER_CLUSTERS, reader.deps.sources.workerClusters, name);

/** An object of the cluster, if the viewer may see it. */
async function found<T extends KubeObject>(
  { deps, user }: Reader,
  visible: Rights['queues'],
  { plural, kind: word }: Resource,
  objects: Lister<T>,
  name: string,
): Promise<Found<DeepReadonly<T>>> {
  const refused = seesIt(visible, name) ? undefined : await deps.rights.refusal(user, toGet(plural, name));
  if (refused !== undefined) return refused;
  const value = objects.get({ namespace: '', name });
  return value === undefined ? { kind: 'Missing', what: `there is no ${word} ${name}` } : { kind: 'Found', value };
}

const toGet = (resource: string, name: string): AccessAttributes => ({
  resourceAttributes: { namespace: '', verb: 'get', group: GROUP, resource, name },
});

/** The time line of an object for the hours that the parameters name. */
async function lastHours<Line>(
  of: Found<unknown>,
  parameters: URLSearchParams,
  read: (hours: number) => Promise<Line | undefined>,
): Promise<Found<Line> | { readonly problem: string }> {
  if (of.kind !== 'Found') return of;
  const hours = parseHours(parameters.get('hours'));
  if (hours === undefined) return { problem: `hours: write 1 to ${HOURS_MAX}` };
  return foundInTurn(await read(hours));
}

function asFound(answer: WhatIfAnswer): Found<WhatIfView> | { readonly problem: string } {
  switch (answer.kind) {
    case 'WhatIf':
      return { kind: 'Found', value: answer.view };
    case 'Refused':
      return answer;
    case 'NoWhatIf':
      return { kind: 'Refused', status: 503, why: answer.problem };
  }
}
