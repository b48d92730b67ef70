/** The dashboard over HTTP: an embedded manager cluster, the manager's caches, and a table of who may what. */
import path from 'node:path';
import { CLUSTER_QUEUES, type ClusterQueue } from '../../manager/api/cluster-queue.ts';
import { COHORTS, type Cohort } from '../../manager/api/cohort.ts';
import { LOCAL_QUEUES, type LocalQueue } from '../../manager/api/local-queue.ts';
import { SUBMISSION_QUEUES, type SubmissionQueueObject } from '../../manager/api/submission-queue.ts';
import { WORKER_CLUSTERS, type WorkerCluster } from '../../manager/api/worker-cluster.ts';
import { createNamespaceIdentities, type NamespaceIdentities } from '../../manager/api/namespace-identities.ts';
import type { AuditLog } from '../../manager/audit/audit-log.ts';
import type { TrustedProxy } from '../../manager/dashboard/caller-identity.ts';
import { createDashboard } from '../../manager/dashboard/dashboard.ts';
import type { KeptJob } from '../../manager/dashboard/job-view.ts';
import type { KeptJobs } from '../../manager/dashboard/session.ts';
import { dashboardRoutes } from '../../manager/http/dashboard-routes.ts';
import { serveApi, type ApiServer } from '../../manager/http/server.ts';
import { serveDashboard } from '../../manager/http/serve-dashboard.ts';
import { staticRoutes } from '../../manager/http/static-files.ts';
import type { SignIn } from '../../manager/sign-in/sign-in.ts';
import { sharedQueueReader } from '../../manager/submission/shared-queue-record.ts';
import type { KubeObject, Namespace, Unsaved } from '../../shared/api/kubernetes.ts';
import { EVENTS, JOBS, NAMESPACES, type Resource } from '../../shared/api/resources.ts';
import { isNotFound } from '../../shared/kube/api-error.ts';
import type { KubeClient, RawClient } from '../../shared/kube/client.ts';
import { createInformer, type Informer } from '../../shared/kube/informer.ts';
import { sleep } from '../../shared/runtime/clock.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { seededRandom } from '../../shared/runtime/random.ts';
import { createCrds } from '../support/crds.ts';
import { startCluster, type EmbeddedCluster } from '../support/embedded-cluster.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { aHomeJob } from '../support/jobs.ts';
import { createInformerOfKinds } from '../../manager/work-kind/informer-of-kinds.ts';
import { createKinds } from '../../manager/work-kind/kinds.ts';
import { createKindsClient } from '../../manager/work-kind/kinds-client.ts';
import type { SingleKind } from '../../manager/work-kind/work-kind.ts';
import { JOB_KIND } from '../../manager/work-kind/job/job-kind.ts';

/**
 * Tokens are names; what follows a dot is another token of the same user. `namespaces` are those of which somebody may list, get and read
 * the logs of Jobs.
 */
export type Person = {
  namespaces: readonly string[] | '*';
  queues: boolean;
  acts?: boolean;
  username?: string;
  /** Plural names of what may be listed in all namespaces. */
  everywhere?: readonly string[];
  /** Plural names of other kinds of work, of which the same is allowed as of Jobs. */
  kinds?: readonly string[];
};
/** Where the leader describes the shared queue of submissions. */
export const MANAGER_NAMESPACE = 'switchyard';

export type TestDashboardOptions = {
  readonly proxy?: TrustedProxy;
  readonly audit?: Pick<AuditLog, 'note'>;
  /** What is kept of Jobs that are over; absent: what `seen.gone` has. */
  readonly kept?: (identities: NamespaceIdentities) => KeptJobs;
  /** Taken beside Jobs. */
  readonly kinds?: readonly SingleKind[];
  /** Runs before the caches do. */
  readonly install?: (client: KubeClient) => Promise<void>;
  /** How long an answer to `what if` takes. */
  readonly whatIfMs?: number;
  /** Signs users in; once for each of the replicas, which have the same caches. */
  readonly signIns?: readonly SignIn[];
  /** Where the only replica serves the page, too; absent: any port, and the API alone. */
  readonly address?: string | undefined;
  readonly clock?: FakeClock;
};

export type ServedDashboard = {
  readonly people: Record<string, Person>;
  /** How often the API server was asked who somebody is or what he may do; what history has; which changes were asked about; of which
   * namespaces usage was. */
  readonly seen: {
    asked: number;
    readonly groups: Set<string>;
    gone: readonly KeptJob[];
    readonly wished: unknown[];
    readonly summed: unknown[];
  };
  readonly clock: FakeClock;
  readonly cluster: EmbeddedCluster;
  readonly identities: NamespaceIdentities;
  /** Asks as the manager does who may do what. */
  readonly reviewer: RawClient;
  readonly server: ApiServer;
  /** Servers with sign-in, one for each of `signIns`. */
  readonly replicas: readonly ApiServer[];
  createJob(namespace: string, name: string): Promise<void>;
  get<T>(path: string, token: string | undefined, headers?: Record<string, string>): Promise<{ readonly status: number; readonly body: T }>;
  close(): Promise<void>;
};

export async function serveTestDashboard({
  proxy,
  audit,
  kept,
  kinds = [],
  install,
  whatIfMs = 0,
  signIns = [],
  address,
  clock = new FakeClock(),
}: TestDashboardOptions = {}): Promise<ServedDashboard> {
  const people: Record<string, Person> = {
    admin: { namespaces: '*', queues: true },
    ann: { namespaces: ['ann'], queues: false },
    bob: { namespaces: ['bob'], queues: false },
    nobody: { namespaces: [], queues: false },
  };
  const seen = { asked: 0, groups: new Set<string>(), gone: [] as readonly KeptJob[], wished: [] as unknown[], summed: [] as unknown[] };
  const cluster = await startCluster(clock);
  await createCrds(cluster.client);
  await install?.(cluster.client);
  const kind = createKinds(JOB_KIND, kinds);
  const client = createKindsClient(cluster.client, kinds);
  for (const name of ['ann', 'bob']) await cluster.client.create(NAMESPACES, { metadata: { name } });
  const reviewer: RawClient = {
    async raw({ path, body }) {
      seen.asked++;
      const { spec } = body as {
        spec: {
          token?: string;
          user?: string;
          groups?: string[];
          resourceAttributes?: { namespace: string; resource: string; verb: string };
        };
      };
      if (path.endsWith('/tokenreviews')) {
        const [name = ''] = (spec.token ?? '').split('.', 1);
        const user = {
          username: people[name]?.username ?? name,
          extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${spec.token}`] },
        };
        return JSON.stringify({ status: people[name] === undefined ? { authenticated: false } : { authenticated: true, user } });
      }
      for (const group of spec.groups ?? []) seen.groups.add(group);
      const person = people[spec.user ?? ''] ?? Object.values(people).find(({ username }) => username === spec.user);
      const { namespaces, queues, acts, everywhere = [], kinds: ofPerson = [] } = person ?? { namespaces: [], queues: false };
      const { namespace = '', resource = '', verb = '' } = spec.resourceAttributes ?? {};
      if (['patch', 'delete'].includes(verb) && acts !== true) return JSON.stringify({ status: { allowed: false } });
      if (kinds.some(({ resource: { plural } }) => plural === resource) && !ofPerson.includes(resource))
        return JSON.stringify({ status: { allowed: false } });
      const ofNamespace = ['jobs', 'pods', 'events', 'submissionqueues', ...ofPerson].includes(resource);
      const mayInNamespace = everywhere.includes(resource) || namespaces === '*' || namespaces.includes(namespace);
      const allowed = ofNamespace ? mayInNamespace : queues;
      return JSON.stringify({ status: { allowed } });
    },
  } as RawClient;
  const options = { client, clock, random: seededRandom(1), log: silentLogger };
  const informerOf = <T extends KubeObject>(resource: Resource<T>): Informer<T> => createInformer({ ...options, resource });
  const informers = {
    jobs: createInformerOfKinds(kind, ({ resource }) => informerOf(resource)),
    namespaces: informerOf<Namespace>(NAMESPACES),
    workerClusters: informerOf<WorkerCluster>(WORKER_CLUSTERS),
    clusterQueues: informerOf<ClusterQueue>(CLUSTER_QUEUES),
    localQueues: informerOf<LocalQueue>(LOCAL_QUEUES),
    cohorts: informerOf<Cohort>(COHORTS),
    submissionQueues: informerOf<SubmissionQueueObject>(SUBMISSION_QUEUES),
  };
  const identities = createNamespaceIdentities(informers.namespaces);
  let ids = 0;
  const dashboard = createDashboard({
    kind,
    informers,
    identities,
    reviewer,
    proxy,
    explain: async (job) => ({ kind: 'Waiting', job: job.metadata.name }),
    order: async () => ({ kind: 'Order', waiting: 2, first: ['bob/his', 'ann/hers'].map((key) => ({ key, priority: 0 })) }),
    whatIf: async ({ edits, submitted }) => {
      seen.wished.push(submitted.length === 0 ? edits : { edits, submitted });
      if (whatIfMs > 0) await sleep(clock, whatIfMs);
      return { kind: 'WhatIf', view: { queues: [], jobs: [], more: 0, isSettled: true, commands: ['kubectl patch'] } };
    },
    readJob: (key) =>
      client.get(JOBS, key).catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      }),
    readEvents: async (namespace, uid) =>
      (await cluster.client.list(EVENTS, { namespace, fieldSelector: `involvedObject.uid=${uid}` })).items,
    kept: kept?.(identities) ?? {
      query: async () => [],
      endedSince: async () => seen.gone.map((job) => ({ ...job, ...omitUndefined({ namespaceUid: identities.of(job.namespace)?.uid }) })),
      usageOfAll: async ({ by, fromMs, untilMs, namespaces }) => {
        seen.summed.push(namespaces);
        return { by, fromMs, untilMs, rows: [], isPartial: false };
      },
      podsOf: async () => [],
      tail: async () => undefined,
    },
    sharedSubmissions: sharedQueueReader(cluster.client, MANAGER_NAMESPACE, clock),
    writer: client,
    audit,
    newId: () => `epoch${++ids}`,
    clock,
    log: silentLogger,
  });
  const stop = new AbortController();
  const running = Promise.all(Object.values(informers).map((informer) => informer.run(stop.signal)));
  await clock.advance(1_000);
  const page = {
    path: 'index.html',
    body: Buffer.from('<p>page'),
    encoded: [{ coding: 'br' as const, body: Buffer.from('br') }],
    etag: '"e1"',
  };
  const server = await serveApi('127.0.0.1:0', {
    routes: [...dashboardRoutes(dashboard.open), ...staticRoutes([page])],
    gate: async () => ({ kind: 'Refused', status: 403, why: 'no' }),
    bodyBytesMax: 65_536,
    audit: audit && { door: 'dashboard', log: audit },
    clock,
    log: silentLogger,
  });
  const replicas = await Promise.all(
    signIns.map((signIn) =>
      serveDashboard(address ?? '127.0.0.1:0', {
        open: dashboard.open,
        signIn,
        pageFolder: path.join(import.meta.dirname, '..', '..', 'manager', 'dashboard', address === undefined ? 'no-page' : 'dist'),
        audit: audit && { door: 'dashboard', log: audit },
        clock,
        log: silentLogger,
      }),
    ),
  );
  const createJob = async (namespace: string, name: string): Promise<void> => {
    const { metadata, ...job } = aHomeJob();
    await cluster.client.create(JOBS, {
      ...job,
      metadata: { namespace, name, labels: metadata.labels ?? {} },
      spec: { ...job.spec, selector: undefined, template: { spec: job.spec.template.spec } },
    } as unknown as Unsaved<typeof job & { metadata: typeof metadata }>);
  };
  const get = async <T>(
    path: string,
    token: string | undefined,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; body: T }> => {
    const response = await fetch(`${server.url}${path}`, {
      headers: { ...headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    });
    return { status: response.status, body: (await response.json()) as T };
  };
  return {
    people,
    seen,
    clock,
    cluster,
    identities,
    reviewer,
    server,
    replicas,
    createJob,
    get,
    async close() {
      await server.close();
      await Promise.all(replicas.map((each) => each.close()));
      stop.abort(new Error('the test is over'));
      await clock.advance(1_000);
      await running;
      await cluster.plane.close();
    },
  };
}
