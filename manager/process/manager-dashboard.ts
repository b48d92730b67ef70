import { randomBytes } from 'node:crypto';
import type { Job, ObjectKey } from '../../shared/api/kubernetes.ts';
import { apiVersionOf, EVENTS } from '../../shared/api/resources.ts';
import { isForbidden, isNotFound } from '../../shared/kube/api-error.ts';
import { createAddressRanges } from '../../shared/kube/address-ranges.ts';
import type { RawClient, ReadClient, WriteClient } from '../../shared/kube/client.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { aborted } from '../../shared/runtime/tasks.ts';
import type { ManagerFlags } from '../insight/world/world-objects.ts';
import { createSimulationClient, type SimulationClient } from '../insight/questions/simulation-client.ts';
import type { NamespaceIdentities } from '../api/namespace-identities.ts';
import type { RecordKeys } from '../api/record-seal.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import type { ProxyTrust } from '../config/dashboard-flags.ts';
import { createDashboard, type Dashboard, type DashboardDeps } from '../dashboard/dashboard.ts';
import { seesIt, type Rights } from '../dashboard/rights.ts';
import { createHistory } from '../history/history.ts';
import type { KeyValueStore } from '../history/key-value-store.ts';
import { createNamespaceHistory } from '../history/namespace-history.ts';
import type { HomeInformers } from './home-informers.ts';
import type { ApiServer } from '../http/server.ts';
import { createLiveLogs } from '../live-logs/live-logs.ts';
import { sharedQueueReader } from '../submission/shared-queue-record.ts';
import { createWorkerReaders, type WorkerReadersDeps } from '../live-logs/worker-readers.ts';
import { redactExplanation, type VisibleNames } from '../dashboard/redact-explanation.ts';
import { redactWhatIf } from '../dashboard/redact-what-if.ts';
import { toWorkKey, workKey } from '../work-kind/qualified-name.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';

/** User labels by which a waiting or ended Job can be found: all of them are cached for every Job. */
export const SHOWN_LABELS_MAX = 32;

/** How the dashboard is served, and which proxy may identify its viewers. */
export type DashboardService = {
  /** Without a rate limit of its own. */
  readonly reviewer: RawClient;
  readonly proxy?: ProxyTrust;
  /** URL of a trace view, with `{traceId}` in it. */
  readonly traceUrl?: string;
  /** Whether viewers may carry out actions that their own rights allow; absent: they only read. */
  readonly actions?: boolean;
  /** Records the actions of viewers; absent: no audit log is kept. */
  readonly audit?: Pick<AuditLog, 'note'> | undefined;
  /** Clients by which pods and logs of worker clusters are read for viewers; absent: none are read. */
  readonly liveLogs?: Pick<WorkerReadersDeps, 'home' | 'connect'>;
  /** Serves the page; absent: the views are served by the API alone. `keys`: known when the record key has been read. */
  readonly serve?: (open: Dashboard['open'], keys: Promise<RecordKeys>) => Promise<ApiServer>;
};

export type ManagerDashboardDeps = Pick<
  ManagerFlags,
  'workerLostTimeoutMs' | 'fairSharing' | 'admissionFairSharing' | 'defaultPlacement'
> & {
  readonly kind: WorkKind<Job>;
  readonly informers: HomeInformers;
  readonly identities: NamespaceIdentities;
  /** The record keys, which all replicas share. */
  readonly keys: Promise<RecordKeys>;
  readonly client: ReadClient & WriteClient;
  readonly history?: { readonly store: KeyValueStore } | undefined;
  /** The submissions of the manager, with the shared queue if there is one. */
  readonly submissions?: { readonly shared: object | undefined } | undefined;
  /** In the manager's own namespace. */
  readonly recordKeySecret: ObjectKey;
  readonly clusterSecretsNamespace?: string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
};

/**
 * The dashboard over the caches of the manager. Every replica serves it, as it shows the state of the API server. Call before the caches
 * run.
 */
export function createManagerDashboard(
  service: DashboardService,
  deps: ManagerDashboardDeps,
): { readonly open: Dashboard['open']; run(signal: AbortSignal): Promise<void> } {
  const { kind, informers, identities, keys, client, history, submissions, recordKeySecret, clusterSecretsNamespace, clock, log } = deps;
  const { proxy } = service;
  /** An object that is not listed yet would count as missing. */
  let isFilled = false;
  const world = createWorld(deps);
  const { workerClusters } = informers;
  const readers =
    service.liveLogs && createWorkerReaders({ ...service.liveLogs, workerClusters, secretsNamespace: clusterSecretsNamespace, clock });
  const dashboard = createDashboard({
    kind,
    informers,
    identities,
    reviewer: service.reviewer,
    proxy: proxy && { ...proxy, from: createAddressRanges(proxy.from) },
    ...answersOf(world),
    traceUrl: service.traceUrl,
    ...readsOf(client, kind),
    kept: history && createNamespaceHistory(createHistory(history.store), identities),
    sharedSubmissions: submissions?.shared && sharedQueueReader(client, recordKeySecret.namespace, clock),
    live: readers && createLiveLogs({ kind, readers, workerClusters, clock, log }),
    writer: service.actions === true ? client : undefined,
    audit: service.audit,
    newId: () => randomBytes(9).toString('base64url'),
    clock,
    log,
  });
  return {
    open: async (caller) =>
      isFilled ? dashboard.open(caller) : { kind: 'Refused', status: 503, why: 'the manager has just started, and is filling its caches' },
    async run(signal) {
      await Promise.all(Object.values(informers).map((informer) => informer.waitForSync(signal))).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      if (signal.aborted) return;
      isFilled = true;
      const server = await service.serve?.(dashboard.open, keys);
      if (server !== undefined) log.info('the dashboard is served', { url: server.url });
      await aborted(signal);
      await server?.close();
      await readers?.close();
      await world.close();
    },
  };
}

/** Plays what there is in the caches. */
function createWorld(deps: ManagerDashboardDeps): SimulationClient {
  const { kind, informers, workerLostTimeoutMs, fairSharing, admissionFairSharing, defaultPlacement, clock, log } = deps;
  return createSimulationClient({
    kind,
    objects: () => ({
      jobs: informers.jobs.list(),
      namespaces: informers.namespaces.list(),
      workerClusters: informers.workerClusters.list(),
      resourceFlavors: informers.resourceFlavors.list(),
      clusterQueues: informers.clusterQueues.list(),
      localQueues: informers.localQueues.list(),
      cohorts: informers.cohorts.list(),
      workloadPriorityClasses: informers.workloadPriorityClasses.list(),
      priorityClasses: informers.priorityClasses.list(),
      limitRanges: informers.limitRanges?.list() ?? [],
      runtimeClasses: informers.runtimeClasses?.list() ?? [],
    }),
    flags: omitUndefined({ workerLostTimeoutMs, fairSharing, admissionFairSharing, defaultPlacement }),
    clock,
    log,
  });
}

const answersOf = (world: SimulationClient): Pick<DashboardDeps, 'explain' | 'order' | 'whatIf'> => ({
  /** Like `switchyard explain`, from caches instead of lists. */
  async explain(job, seen) {
    const answer = await world.ask({ kind: 'Explain', uid: job.metadata.uid });
    if (answer.kind !== 'Explained')
      return { kind: 'Unexplained', job: workKey(job.metadata), message: 'it is not known there yet; try again' };
    return redactExplanation(answer.explanation, mayName(seen));
  },
  async order(clusterQueue) {
    const answer = await world.ask({ kind: 'Order', clusterQueue });
    return answer.kind === 'Ordered'
      ? { ...answer, kind: 'Order', first: answer.first.map(({ key, ...each }) => ({ ...each, key: toWorkKey(key) })) }
      : { kind: 'NoOrder', problem: 'it is not known there yet; try again' };
  },
  async whatIf({ submitted, ...question }, seen) {
    const answer = await world.ask({ kind: 'WhatIf', edits: question.edits, submitted });
    if (answer.kind === 'Refused') return answer;
    return answer.kind === 'Compared'
      ? { kind: 'WhatIf', view: redactWhatIf(answer.outcome, question, mayName(seen)) }
      : { kind: 'NoWhatIf', problem: 'an object that would be changed is not known there yet; try again' };
  },
});

const readsOf = (client: ReadClient, kind: WorkKind<Job>): Pick<DashboardDeps, 'readEvents' | 'readJob'> => ({
  async readEvents(namespace, uid) {
    try {
      const { items } = await client.list(EVENTS, { namespace, fieldSelector: `involvedObject.uid=${uid}`, limit: EVENTS_MAX });
      return items;
    } catch (error) {
      if (isForbidden(error)) return undefined;
      throw error;
    }
  },
  async readJob(key) {
    try {
      const job = await client.get(kind.resource, key);
      const { managedFields: _managedFields, ...metadata } = job.metadata as Job['metadata'] & { managedFields?: unknown };
      const { resource } = kind.of(key.name);
      return { apiVersion: apiVersionOf(resource), kind: resource.kind, ...job, metadata };
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  },
});

/** Bound of the Events of one Job, which has about a dozen. */
const EVENTS_MAX = 500;

const mayName = ({ namespaces, queues, clusters }: Rights): VisibleNames => ({
  namespace: (name) => seesIt(namespaces, name),
  queue: (name) => seesIt(queues, name),
  cluster: (name) => seesIt(clusters, name),
});
