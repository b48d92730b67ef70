import type { Job, ObjectKey } from '../../shared/api/kubernetes.ts';
import type { EventHandler, Informer } from '../../shared/kube/informer.ts';
import type { RawClient } from '../../shared/kube/client.ts';
import { parseKey } from '../../shared/kube/keys.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { ClusterQueue } from '../api/cluster-queue.ts';
import type { Cohort } from '../api/cohort.ts';
import type { NamespaceIdentities } from '../api/namespace-identities.ts';
import type { LocalQueue } from '../api/local-queue.ts';
import type { SubmissionQueueObject } from '../api/submission-queue.ts';
import type { WorkerCluster } from '../api/worker-cluster.ts';
import { createActions, type ActionsDeps } from './actions.ts';
import { claimedIdentity, type TrustedProxy } from './caller-identity.ts';
import { capacityOf } from './cluster-row.ts';
import { createExplanations, type ExplanationsDeps } from './explanations.ts';
import { createFairScheduler } from './fair-scheduler.ts';
import { createFeeds } from './feed.ts';
import { createJobIndex } from './job-index.ts';
import { createJobTable } from './job-table.ts';
import type { LiveLogs } from './live-logs.ts';
import { nominalOf } from './queue-tree.ts';
import { createRightsReader } from './rights-reader.ts';
import { createSessions, type KeptJobs, type OpenSession, type SessionDeps } from './session.ts';
import { createTimeLines } from './time-line-reading.ts';
import { clusterId, cohortId, localQueueId, queueId } from './overview.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';

export type DashboardDeps = {
  readonly kind: WorkKind<Job>;
  readonly informers: {
    readonly jobs: Informer<Job>;
    readonly workerClusters: Informer<WorkerCluster>;
    readonly clusterQueues: Informer<ClusterQueue>;
    readonly localQueues: Informer<LocalQueue>;
    readonly cohorts: Informer<Cohort>;
    readonly submissionQueues: Informer<SubmissionQueueObject>;
  };
  readonly identities: NamespaceIdentities;
  /** A client for reviews of users and their rights, without a rate limit of its own. */
  readonly reviewer: RawClient;
  readonly proxy: TrustedProxy | undefined;
  readonly explain: ExplanationsDeps['explain'];
  readonly order: ExplanationsDeps['order'];
  readonly whatIf: ExplanationsDeps['whatIf'];
  readonly readJob: (key: ObjectKey) => Promise<object | undefined>;
  readonly readEvents: SessionDeps['readEvents'];
  readonly traceUrl?: string | undefined;
  readonly kept: KeptJobs | undefined;
  /** Reads how the leader last described the shared queue of submissions; absent: there is none. */
  readonly sharedSubmissions?: SessionDeps['sharedSubmissions'];
  /** Reads pods and logs of worker clusters; absent: they are not read. */
  readonly live?: LiveLogs | undefined;
  /** Carries out the actions of viewers with the rights for them; absent: viewers only read. */
  readonly writer?: ActionsDeps['client'] | undefined;
  /** Records the actions of viewers; absent: no audit log is kept. */
  readonly audit?: ActionsDeps['audit'];
  readonly newId: () => string;
  readonly clock: Clock;
  readonly log: Logger;
};

/** Opens a session with what a viewer may see. */
export type Dashboard = { readonly open: (caller: Parameters<typeof claimedIdentity>[0]) => ReturnType<OpenSession> };

/** Scans of all Jobs that wait for their turn, for one owner: each takes up to a fifth of a second with 100,000 Jobs. */
const SCANS_WAITING_MAX = 32;

/** Assembles the dashboard over the manager's caches. Call before these run. */
export function createDashboard(deps: DashboardDeps): Dashboard {
  const { informers, identities, kept, clock, log } = deps;
  const index = createJobIndex(deps.kind);
  const feeds = createFeeds({ ...informers, index, clock, newId: deps.newId });
  const rights = createRightsReader({
    client: deps.reviewer,
    namespaces: () => [...new Set([...index.namespaces(), ...informers.localQueues.list().map(({ metadata }) => metadata.namespace)])],
    identities,
    queues: () => informers.clusterQueues.list().map(({ metadata }) => metadata.name),
    clusters: () => informers.workerClusters.list().map(({ metadata }) => metadata.name),
    clock,
    log,
  });
  informers.jobs.addHandler(index.handler);
  informers.jobs.addHandler(onAny(() => feeds.jobsTouched()));
  informers.workerClusters.addHandler(onAny(({ metadata }) => feeds.touched(clusterId(metadata.name))));
  informers.clusterQueues.addHandler(onAny(({ metadata }) => feeds.touched(queueId(metadata.name))));
  informers.cohorts.addHandler(onAny(({ metadata }) => feeds.touched(cohortId(metadata.name))));
  informers.localQueues.addHandler(
    onAny(({ metadata, spec }) => {
      feeds.touched(localQueueId(`${metadata.namespace}/${metadata.name}`));
      feeds.touched(queueId(spec.clusterQueue));
    }),
  );
  const openJobs = (): number => {
    const { Complete: _complete, Failed: _failed, ...open } = index.totals('All');
    return Object.values(open).reduce((sum, each) => sum + each, 0);
  };
  const explanations = createExplanations({ explain: deps.explain, order: deps.order, whatIf: deps.whatIf, openJobs, clock, log });
  const turns = createFairScheduler({ clock, waitingMax: SCANS_WAITING_MAX });
  const clusterQueueOf = (localQueue: string): string | undefined => informers.localQueues.get(parseKey(localQueue))?.spec.clusterQueue;
  const openSession = createSessions({
    kind: deps.kind,
    index,
    sources: { ...informers, index },
    submissionQueues: informers.submissionQueues,
    sharedSubmissions: deps.sharedSubmissions,
    jobs: informers.jobs,
    identities,
    feeds,
    rights,
    explanations,
    table: createJobTable({ index, clusterQueueOf, turns, clock }),
    timeLines: createTimeLines({
      index,
      ended: kept && ((sinceMs, limit) => kept.endedSince(sinceMs, limit)),
      clusterQueueOf,
      nominalOf: (name) => nominalOf(informers.clusterQueues.get({ namespace: '', name })?.spec.resourceGroups),
      capacityOf(name) {
        const cluster = informers.workerClusters.get({ namespace: '', name });
        return cluster === undefined ? new Map() : capacityOf(cluster);
      },
      turns,
      clock,
    }),
    act:
      deps.writer &&
      createActions({ kind: deps.kind, client: deps.writer, index, jobs: informers.jobs, rights, audit: deps.audit, clock, log }),
    readJob: deps.readJob,
    readEvents: deps.readEvents,
    traceUrl: deps.traceUrl,
    kept,
    live: deps.live,
    clock,
  });
  return {
    async open(caller) {
      const whom = claimedIdentity(caller, deps.proxy);
      return whom.kind === 'Refused' ? whom : openSession(whom, caller.address);
    },
  };
}

const onAny = <T>(touched: (object: Parameters<NonNullable<EventHandler<T>['added']>>[0]) => void): EventHandler<T> => ({
  added: touched,
  updated: touched,
  deleted: touched,
});
