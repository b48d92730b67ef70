/**
 * A whole Switchyard that serves its dashboard on a port: three clusters, teams that borrow from each other, and people who may see more or
 * less of it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { COHORTS } from '../../manager/api/cohort.ts';
import { LOCAL_QUEUES } from '../../manager/api/local-queue.ts';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { buildPage } from '../../manager/cli/local/dashboard.ts';
import { openSqliteStore } from '../../manager/history/sqlite-store.ts';
import { serveDashboard } from '../../manager/http/serve-dashboard.ts';
import { prepareJob } from '../../manager/policy/prepare-job.ts';
import type { KubeObject } from '../../shared/api/kubernetes.ts';
import { CREATED_BY_ANNOTATION, QUEUE_NAME_LABEL } from '../../shared/api/names.ts';
import { JOBS, NAMESPACES, type Resource } from '../../shared/api/resources.ts';
import type { RawClient } from '../../shared/kube/client.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { createWholeWorld, HOME, manifest, type JobParts, type WholeWorld } from '../scenario/whole-world.ts';
import { createCrds } from '../support/crds.ts';
import { createPodLogBook, type PodLogBook } from '../support/pod-log-book.ts';
import { JOB_KIND } from '../../manager/work-kind/job/job-kind.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');
export const CLUSTERS = ['frankfurt', 'oregon', 'tokyo'] as const;
const TEAMS = ['vision', 'language', 'reports'] as const;
/** The page may have to be built, and the browser is started beside that. */
export const START_LIMIT_MS = 300_000;
const STEP_MS = 100;
const LONG_STEPS = 1_000;
const TURN_MS = 5;
/** Of what is written into the log of a pod. */
const LOG = 'loading 4 shards\nepoch 1 loss 0.412\nepoch 2 loss 0.337\nsaved the model\n';

/** Whose name is his token. `*`: all namespaces, queues and clusters. */
const PEOPLE: Readonly<Record<string, readonly string[] | '*'>> = { admin: '*', ann: ['vision'], bob: ['language'], nobody: [] };

type SubmittedParts = JobParts & {
  readonly labels?: Record<string, string>;
  /** Noted as who created it, as the webhook does. */
  readonly user?: string;
};

export type DashboardWorld = {
  readonly world: WholeWorld;
  readonly url: string;
  /** What pods that run have written, as far as the dashboard follows it. */
  readonly book: PodLogBook;
  submit(namespace: string, name: string, parts?: SubmittedParts): Promise<void>;
  /** Time goes on until this holds. */
  until(holds: () => boolean | Promise<boolean>): Promise<void>;
  close(): Promise<void>;
};

/** With `actions` viewers may do there what they may do by themselves, as with --dashboard-actions. */
export async function createDashboardWorld({ actions = false }: { readonly actions?: boolean } = {}): Promise<DashboardWorld> {
  const problem = await buildPage(ROOT);
  if (problem !== undefined) throw new Error(`the page could not be built: ${problem}`);
  const folder = mkdtempSync(path.join(tmpdir(), 'switchyard-dashboard-'));
  const world = await createWholeWorld({
    clusters: CLUSTERS,
    install: async (client, cluster) => {
      if (cluster === HOME) await createCrds(client);
      for (const name of TEAMS) await client.create(NAMESPACES, { metadata: { name } });
    },
  });
  await createTeams(world);
  const store = openSqliteStore(path.join(folder, 'history'));
  let url: string | undefined;
  const { clock } = world;
  const book = createPodLogBook(clock);
  world.startManager('manager', {
    parts: {
      history: { store, limits: { ageMs: 1e12, bytesMax: 1e9 } },
      dashboard: () => ({
        reviewer: REVIEWER,
        actions,
        liveLogs: {
          home: createKubeClient(world.plane(HOME).transport(), { userAgent: 'looking', clock }),
          connect: (cluster) => createKubeClient(book.serve(world.plane(cluster).transport()), { userAgent: 'looking', clock }),
        },
        async serve(open) {
          const server = await serveDashboard('127.0.0.1:0', {
            open,
            pageFolder: path.join(ROOT, 'manager', 'dashboard', 'dist'),
            clock: world.clock,
            log: silentLogger,
          });
          ({ url } = server);
          return server;
        },
      }),
    },
  });
  for (const cluster of CLUSTERS) world.startWorker(cluster, `worker-${cluster}`, { podLogs: LOG });
  const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
    // A step of the world's clock, and a turn for whatever comes over the sockets. Later as long a step as the turn: a slow browser misses
    // no state.
    for (let steps = 0; !(await holds()); steps++) {
      await world.clock.advance(steps < LONG_STEPS ? STEP_MS : TURN_MS);
      await new Promise((resolve) => setTimeout(resolve, TURN_MS));
    }
  };
  await until(() => url !== undefined);
  await world.clock.advance(5_000);
  return {
    world,
    url: url ?? '',
    book,
    async submit(namespace, name, { labels = {}, user, ...parts } = {}) {
      const job = manifest(name, parts);
      const metadata = { ...job.metadata, namespace, labels: { [QUEUE_NAME_LABEL]: namespace, ...labels } };
      const prepared = prepareJob(JOB_KIND, { ...job, metadata } as typeof job);
      if (prepared.kind === 'Refused') throw new Error(JSON.stringify(prepared.problems));
      const { annotations, ...words } = prepared.job.metadata;
      const noted = user === undefined ? {} : { [CREATED_BY_ANNOTATION]: user };
      await world.home.create(JOBS, { ...prepared.job, metadata: { ...words, annotations: { ...annotations, ...noted } } });
    },
    until,
    async close() {
      await world.close();
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Teams of one cohort with little quota each, and one alone. */
async function createTeams({ home }: WholeWorld): Promise<void> {
  const create = <T extends KubeObject>(resource: Resource<T>, object: object) => home.create(resource, object as never);
  const queue = async (name: string, cpu: string, memory: string, cohortName?: string): Promise<void> => {
    const resources = [
      { name: 'cpu', nominalQuota: cpu },
      { name: 'memory', nominalQuota: memory },
    ];
    await create(CLUSTER_QUEUES, {
      metadata: { name },
      spec: {
        ...(cohortName !== undefined && { cohortName }),
        namespaceSelector: {},
        resourceGroups: [{ coveredResources: ['cpu', 'memory'], flavors: [{ name: 'default', resources }] }],
      },
    });
    await create(LOCAL_QUEUES, { metadata: { name, namespace: name }, spec: { clusterQueue: name } });
  };
  await create(COHORTS, { metadata: { name: 'company' }, spec: {} });
  await create(COHORTS, { metadata: { name: 'research' }, spec: { parentName: 'company' } });
  await queue('vision', '12', '48Gi', 'research');
  await queue('language', '12', '48Gi', 'research');
  await queue('reports', '4', '16Gi', 'company');
  const body = { spec: { capacity: { cpu: '16', memory: '64Gi' } } };
  for (const name of CLUSTERS) await home.patch(WORKER_CLUSTERS, { namespace: '', name }, { type: 'merge', body });
}

const REVIEWER = {
  async raw({ path: asked, body }: { readonly path: string; readonly body?: unknown }) {
    const { spec } = body as {
      spec: { token?: string; user?: string; resourceAttributes?: { namespace?: string; resource?: string; verb?: string } };
    };
    if (asked.endsWith('/tokenreviews')) {
      const username = spec.token ?? '';
      const authenticated = Object.hasOwn(PEOPLE, username);
      return JSON.stringify({ status: { authenticated, ...(authenticated && { user: { username } }) } });
    }
    const seen = PEOPLE[spec.user ?? ''] ?? [];
    const { namespace = '', resource, verb } = spec.resourceAttributes ?? {};
    const isOfNamespace = resource === 'jobs' || resource === 'pods' || resource === 'events' || resource === 'submissionqueues';
    return JSON.stringify({
      status: { allowed: seen === '*' || (isOfNamespace && verb !== 'delete' && verb !== 'patch' && seen.includes(namespace)) },
    });
  },
} as RawClient;
