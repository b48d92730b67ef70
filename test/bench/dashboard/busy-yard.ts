/**
 * A manager that serves its dashboard over three worker clusters, people who may see more or less of it, and Jobs that change so many times
 * a second.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CLUSTER_QUEUES } from '../../../manager/api/cluster-queue.ts';
import { COHORTS } from '../../../manager/api/cohort.ts';
import { LOCAL_QUEUES } from '../../../manager/api/local-queue.ts';
import { RESOURCE_FLAVORS } from '../../../manager/api/resource-flavor.ts';
import { selfSignedCertificate } from '../../../manager/cli/local/webhook-certificate.ts';
import { installKinds, joinCluster } from '../../../manager/cli/local/set-up.ts';
import { prepareJob } from '../../../manager/policy/prepare-job.ts';
import type { DeepReadonly, Job, KubeObject } from '../../../shared/api/kubernetes.ts';
import { QUEUE_NAME_LABEL } from '../../../shared/api/names.ts';
import { JOBS, NAMESPACES, type Resource } from '../../../shared/api/resources.ts';
import { toWireTime } from '../../../shared/api/wire-time.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { createHttpTransport } from '../../../shared/kube/http-transport.ts';
import { createInformer } from '../../../shared/kube/informer.ts';
import { keyOfObject, objectKey } from '../../../shared/kube/keys.ts';
import { createKubeClient } from '../../../shared/kube/kube-client.ts';
import { accessFromKubeconfig } from '../../../shared/kube/kubeconfig.ts';
import { sleep, systemClock } from '../../../shared/runtime/clock.ts';
import { silentLogger } from '../../../shared/runtime/logger.ts';
import { inParallel } from '../../../worker/in-parallel.ts';
import { ChildProgram } from '../../support/child-program.ts';
import { announceWorker } from '../../support/worker-presence.ts';
import { startBenchCluster } from '../cluster.ts';
import { startFleet } from '../fleet-world.ts';
import { outline } from '../restart/crowded-world.ts';
import { readyOf } from '../restart/restart-phase.ts';
import { INSPECTED, inspectorOf } from './inspected-memory.ts';
import { createViewers, TENANTS, tenantName, type Viewer } from './viewers.ts';
import { JOB_KIND } from '../../../manager/work-kind/job/job-kind.ts';

const ROOT = path.resolve(import.meta.dirname, '..', '..', '..');
/** As in the image. */
const NODE_FLAGS = ['--max-semi-space-size=8'];
const CLUSTERS = 3;
const CREATORS = 8;
const POLL_MS = 100;
/** How long a short Job runs. */
const LIFE_MS = 2_000;
const STEP_MS = 100;
/** Changes at home that a short Job makes, from its creation until it is complete. */
const CHANGES_OF_A_LIFE = 4;
const [LONG, SHORT] = ['long', 'short'];
const LONG_COMPLETIONS = 1_000_000;

export interface BusyYard extends ServingManager {
  readonly viewers: readonly Viewer[];
  /** When a Job was first seen by whoever watches the API server, by key. */
  readonly firstSeenMs: ReadonlyMap<string, number>;
  /** Changes of Jobs at home so far. */
  changes(): number;
  /** Jobs that wait for quota, and Jobs that run and do not end. */
  fill(jobs: { readonly waiting: number; readonly running: number }): Promise<void>;
  /** Half of the changes are those of Jobs that come, run and end, half are progress of those that stay. Returns how to stop. */
  keepChanging(perSecond: number): () => void;
}

export type BusyYardOptions = { readonly tls: boolean; readonly nodeFlags: readonly string[]; readonly log: boolean };

/** It ends with `resources`. */
export async function startBusyYard(resources: AsyncDisposableStack, options: BusyYardOptions): Promise<BusyYard> {
  const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-bench-'));
  resources.defer(async () => rmSync(directory, { recursive: true, force: true }));
  const cluster = await startBenchCluster(undefined);
  resources.defer(() => cluster.stop());
  const { kubeconfigs } = await startFleet(CLUSTERS, resources);
  const clientOf = (file: string): KubeClient => {
    const access = accessFromKubeconfig({ kind: 'file', path: file }, systemClock);
    return createKubeClient(createHttpTransport(access, silentLogger), { userAgent: 'bench', clock: systemClock });
  };
  const home = clientOf(cluster.kubeconfigFile);
  await installKinds(home, ROOT);
  await createQueues(home);
  const viewers = await createViewers(home);
  const workers: KubeClient[] = [];
  for (const [name, kubeconfig] of kubeconfigs) {
    const file = path.join(directory, name);
    writeFileSync(file, kubeconfig);
    const client = clientOf(file);
    workers.push(client);
    const presence = await announceWorker(client, systemClock);
    resources.defer(async () => presence.stop());
    await joinCluster(home, name, kubeconfig);
  }
  const ending = new AbortController();
  resources.defer(async () => ending.abort(new Error('the measurement is over')));
  const running = new Map<string, { readonly client: KubeClient; readonly key: { namespace: string; name: string }; succeeded: number }>();
  for (const client of workers) {
    playWorker(client, ending.signal, (copy) => {
      if (copy.metadata.name.startsWith(LONG ?? '')) running.set(keyOfObject(copy), { client, key: objectKey(copy), succeeded: 0 });
    });
  }

  const flags = [`--kubeconfig=${cluster.kubeconfigFile}`, '--worker-api-qps=0', ...(await certificateFlags(directory, options.tls))];
  const serving = await startManager(resources, flags, options);
  const { manager } = serving;
  const firstSeenMs = new Map<string, number>();
  const changes = watchChanges(home, ending.signal, firstSeenMs);
  let made = 0;
  return {
    ...serving,
    viewers,
    firstSeenMs,
    changes,
    async fill({ waiting, running: stay }) {
      const names = [
        ...Array.from({ length: stay }, (_, index) =>
          aJob(tenantName(index % TENANTS), `${LONG}-${index}`, 'open', '100m', LONG_COMPLETIONS),
        ),
        ...Array.from({ length: waiting }, (_, index) => aJob(tenantName(index % TENANTS), `waits-${index}`, 'full', '4', 1)),
      ];
      await inParallel(names, CREATORS, async (job) => void (await home.create(JOBS, job)));
      while (running.size < stay) {
        if (manager.hasEnded()) await manager.failsWhenEnded();
        await sleep(systemClock, POLL_MS);
      }
    },
    keepChanging(perSecond) {
      const perStep = (perSecond * STEP_MS) / 1_000;
      let [lives, steps, turn] = [0, 0, 0];
      const failed = (error: unknown): void => {
        if (!ending.signal.aborted) console.error('a change could not be made', error);
      };
      const timer = setInterval(() => {
        steps++;
        for (; lives < (steps * perStep) / 2 / CHANGES_OF_A_LIFE; lives++)
          home.create(JOBS, aJob(tenantName(made % TENANTS), `${SHORT}-${made++}`, 'open', '100m', 1)).catch(failed);
        const all = [...running.values()];
        for (; turn < (steps * perStep) / 2; turn++) {
          const job = all[turn % all.length];
          if (job === undefined) break;
          const status = { active: 4, ready: 4, succeeded: ++job.succeeded };
          job.client.patchStatus(JOBS, job.key, { type: 'merge', body: { status } }).catch(failed);
        }
      }, STEP_MS);
      return () => clearInterval(timer);
    },
  };
}

export type ServingManager = { readonly manager: ChildProgram; readonly dashboardUrl: string; readonly inspectorUrl: string };

/** A manager that serves its dashboard, and where. It ends with `resources`. */
export async function startManager(
  resources: AsyncDisposableStack,
  flags: readonly string[],
  { nodeFlags = [], log = false }: { readonly nodeFlags?: readonly string[]; readonly log?: boolean } = {},
): Promise<ServingManager> {
  const main = path.join(ROOT, 'manager', 'main.ts');
  const command = [
    process.execPath,
    ...NODE_FLAGS,
    INSPECTED,
    ...nodeFlags,
    main,
    '--kube-api-qps=0',
    '--dashboard-bind-address=127.0.0.1:0',
    ...flags,
  ] as const;
  const manager = resources.use(new ChildProgram('the manager', command));
  if (log) manager.onLine((line) => console.log(line));
  const inspectorUrl = await inspectorOf(manager);
  const dashboardUrl = await manager.find((line) =>
    line.includes('the dashboard is served') ? /"url":"(https?:[^"]+)"/.exec(line)?.[1] : undefined,
  );
  await readyOf(manager);
  return { manager, dashboardUrl, inspectorUrl };
}

async function certificateFlags(directory: string, tls: boolean): Promise<readonly string[]> {
  if (!tls) return [];
  const { certPem, keyPem } = await selfSignedCertificate(Date.now());
  const [certificate, key] = [path.join(directory, 'tls.crt'), path.join(directory, 'tls.key')];
  writeFileSync(certificate, certPem);
  writeFileSync(key, keyPem, { mode: 0o600 });
  return [`--dashboard-cert-file=${certificate}`, `--dashboard-key-file=${key}`];
}

/** Three queues of a cohort without room, and one with much; each tenant has a LocalQueue to one of those, and to this. */
async function createQueues(home: KubeClient): Promise<void> {
  const create = (resource: Resource, object: object): Promise<KubeObject> => home.create(resource, object as never);
  const queue = (name: string, cpu: string, cohortName?: string): Promise<KubeObject> => {
    const group = { coveredResources: ['cpu'], flavors: [{ name: 'default', resources: [{ name: 'cpu', nominalQuota: cpu }] }] };
    return create(CLUSTER_QUEUES, {
      metadata: { name },
      spec: { namespaceSelector: {}, resourceGroups: [group], ...(cohortName && { cohortName }) },
    });
  };
  await create(RESOURCE_FLAVORS, { metadata: { name: 'default' }, spec: {} });
  await create(COHORTS, { metadata: { name: 'company' }, spec: {} });
  for (const name of ['full-0', 'full-1', 'full-2']) await queue(name, '1', 'company');
  await queue('open', '100k');
  for (let index = 0; index < TENANTS; index++) {
    const namespace = tenantName(index);
    await create(NAMESPACES, { metadata: { name: namespace } });
    await create(LOCAL_QUEUES, { metadata: { name: 'full', namespace }, spec: { clusterQueue: `full-${index % 3}` } });
    await create(LOCAL_QUEUES, { metadata: { name: 'open', namespace }, spec: { clusterQueue: 'open' } });
  }
}

function aJob(namespace: string, name: string, queue: string, cpu: string, completions: number): Job {
  const container = { name: 'main', image: 'busybox', command: ['true'], resources: { requests: { cpu } } };
  const prepared = prepareJob(JOB_KIND, {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace, labels: { [QUEUE_NAME_LABEL]: queue } },
    spec: { completions, parallelism: Math.min(4, completions), template: { spec: { restartPolicy: 'Never', containers: [container] } } },
  });
  if (prepared.kind === 'Refused') throw new Error(`the benchmark's own Job is refused: ${JSON.stringify(prepared.problems)}`);
  return prepared.job as unknown as Job;
}

/** Every copy starts at once; short ones are complete a moment later. */
function playWorker(client: KubeClient, signal: AbortSignal, started: (copy: DeepReadonly<Job>) => void): void {
  const report = async (copy: DeepReadonly<Job>): Promise<void> => {
    const write = (status: object): Promise<unknown> => client.patchStatus(JOBS, objectKey(copy), { type: 'merge', body: { status } });
    const startTime = toWireTime(systemClock.now());
    const active = copy.spec.parallelism ?? 1;
    await write({ startTime, active, ready: active, terminating: 0, uncountedTerminatedPods: {} });
    started(copy);
    if (!copy.metadata.name.startsWith(SHORT ?? '')) return;
    await sleep(systemClock, LIFE_MS, signal);
    const now = toWireTime(systemClock.now());
    const condition = { status: 'True', reason: 'CompletionsReached', message: 'all', lastTransitionTime: now, lastProbeTime: now };
    const conditions = ['SuccessCriteriaMet', 'Complete'].map((type) => ({ type, ...condition }));
    await write({ active: 0, ready: 0, succeeded: 1, completionTime: now, conditions });
  };
  const informer = createInformer({ client, resource: JOBS, clock: systemClock, random: Math.random, log: silentLogger });
  informer.addHandler({
    added: (copy) => {
      report(copy).catch((error: unknown) => {
        if (!signal.aborted) console.error(`the status of ${copy.metadata.name} could not be written`, error);
      });
    },
  });
  void informer.run(signal);
}

function watchChanges(home: KubeClient, signal: AbortSignal, firstSeenMs: Map<string, number>): () => number {
  let changes = 0;
  const options = { client: home, resource: JOBS, clock: systemClock, random: Math.random, log: silentLogger, transform: outline };
  const informer = createInformer(options);
  informer.addHandler({
    added: (job) => {
      changes++;
      firstSeenMs.set(keyOfObject(job), performance.now());
    },
    updated: () => void changes++,
    deleted: () => void changes++,
  });
  void informer.run(signal);
  return () => changes;
}
