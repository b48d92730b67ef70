/** Goal: of an installation in which one thing is broken, the first line that doctor prints names that thing and its remedy. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { runDoctor } from '../../../../../manager/cli/doctor/run.ts';
import type { KubeObject } from '../../../../../shared/api/kubernetes.ts';
import { MANAGER_CONTROLLER_NAME, QUEUE_NAME_LABEL } from '../../../../../shared/api/names.ts';
import type { Resource } from '../../../../../shared/api/resources.ts';
import { createControlPlane } from '../../../../../shared/controlplane/control-plane.ts';
import type { KubeClient } from '../../../../../shared/kube/client.ts';
import { createKubeClient } from '../../../../../shared/kube/kube-client.ts';
import { systemClock } from '../../../../../shared/runtime/clock.ts';
import { silentLogger } from '../../../../../shared/runtime/logger.ts';
import { createMemoryPersistence, type Backup } from '../../../../support/memory-persistence.ts';
import { TestAuthority } from '../../../../support/certificates.ts';
import { renderChart, type Rendered } from '../../../../support/helm.ts';

const NAMESPACE = 'switchyard';
const MANAGER = 'test-switchyard-manager';
const WORKER = 'test-switchyard-worker';
const SWITCHYARD = 'switchyard.dev/v1alpha1';
const now = (agoMs = 0): string => new Date(Date.now() - agoMs).toISOString();
/** As Leases have it. */
const microNow = (agoMs = 0): string => now(agoMs).replace('Z', '000Z');
const HOUR_MS = 3_600_000;
/** Both charts are rendered and created, object by object. */
const LIMIT_MS = 240_000;

type Content = { readonly apiVersion: string; readonly kind: string; readonly metadata: object; readonly [field: string]: unknown };

/** An installation in an embedded control plane: what somebody does to it, by kind and name. */
class Installation {
  readonly client: KubeClient;

  constructor(client: KubeClient) {
    this.client = client;
  }

  async create({ status, ...content }: Content): Promise<void> {
    const object = await this.client.create(resourceOf(content.apiVersion, content.kind), content as never);
    if (status !== undefined) await this.patchStatus(content.apiVersion, content.kind, object.metadata.name, status);
  }

  patch(apiVersion: string, kind: string, name: string, body: object): Promise<unknown> {
    return this.client.patch(resourceOf(apiVersion, kind), keyOf(kind, name), { type: 'merge', body });
  }

  patchStatus(apiVersion: string, kind: string, name: string, status: unknown): Promise<unknown> {
    return this.client.patchStatus(resourceOf(apiVersion, kind), keyOf(kind, name), { type: 'merge', body: { status } });
  }

  delete(apiVersion: string, kind: string, name: string): Promise<void> {
    return this.client.delete(resourceOf(apiVersion, kind), keyOf(kind, name));
  }
}

const CLUSTER_SCOPED =
  /^(Namespace|ClusterRole|ClusterRoleBinding|CustomResourceDefinition|ValidatingAdmission.*|.*WebhookConfiguration|ClusterQueue|Cohort|ResourceFlavor|WorkerCluster|WorkloadPriorityClass)$/;
const keyOf = (kind: string, name: string) => ({ namespace: CLUSTER_SCOPED.test(kind) ? '' : NAMESPACE, name });

function resourceOf(apiVersion: string, kind: string): Resource<KubeObject> {
  const [version = '', group = ''] = apiVersion.split('/').toReversed();
  const plural = kind.endsWith('y') ? `${kind.slice(0, -1).toLowerCase()}ies` : `${kind.toLowerCase()}s`;
  return { group, version, plural, kind, namespaced: !CLUSTER_SCOPED.test(kind) };
}

const metadata = (name: string, more: object = {}) => ({ name, namespace: NAMESPACE, ...more });
const condition = (type: string, status: string, reason = 'R', message = 'm') => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: now(HOUR_MS),
});

/** Both charts on one cluster, with what their programs and its controllers write while all is well. */
async function install(to: Installation): Promise<void> {
  const certificate = Buffer.from((await TestAuthority.create()).certPem).toString('base64');
  await to.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
  const rendered = (['manager', 'worker'] as const).flatMap((chart) =>
    renderChart(chart, ...(chart === 'manager' ? ['redis.existingSecret=redis'] : [])),
  );
  const last = rendered.filter(({ kind }) => kind.endsWith('WebhookConfiguration'));
  for (const object of rendered.filter((each) => !last.includes(each) && isNoHook(each))) await to.create({ ...object });
  await to.create({ apiVersion: 'v1', kind: 'Secret', metadata: metadata('redis'), data: { url: 'cmVkaXM6Ly9yZWRpcw==' } });
  for (const name of [MANAGER, WORKER, `${MANAGER}-certificates`]) await setReplicas(to, name, 'ready');
  await to.create({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: metadata(MANAGER),
    spec: { holderIdentity: 'pod-1', renewTime: microNow(), leaseDurationSeconds: 15 },
  });
  await to.create({ apiVersion: SWITCHYARD, kind: 'ResourceFlavor', metadata: { name: 'cpu' }, spec: {} });
  await to.create({ apiVersion: SWITCHYARD, kind: 'ResourceFlavor', metadata: { name: 'gpu' }, spec: {} });
  await to.create({
    apiVersion: SWITCHYARD,
    kind: 'ClusterQueue',
    metadata: { name: 'batch' },
    spec: {
      namespaceSelector: {},
      resourceGroups: [{ coveredResources: ['cpu'], flavors: [{ name: 'cpu', resources: [{ name: 'cpu', nominalQuota: 4 }] }] }],
    },
    status: { conditions: [condition('Active', 'True')], pendingWorkloads: 0, admittedWorkloads: 0 },
  });
  await to.create({ apiVersion: SWITCHYARD, kind: 'LocalQueue', metadata: metadata('main'), spec: { clusterQueue: 'batch' } });
  await to.create({ apiVersion: 'v1', kind: 'Secret', metadata: metadata('east'), data: { kubeconfig: kubeconfigWithToken(HOUR_MS) } });
  await to.create({
    apiVersion: SWITCHYARD,
    kind: 'WorkerCluster',
    metadata: { name: 'east' },
    spec: { kubeconfigSecretRef: { namespace: NAMESPACE, name: 'east' } },
    status: { conditions: [condition('Ready', 'True')], version: 'v1.36.0' },
  });
  await to.create({
    apiVersion: SWITCHYARD,
    kind: 'SubmissionQueue',
    metadata: metadata('intake'),
    spec: { keyPrefix: 'team', localQueue: 'main', serviceAccountName: 'switchyard-submitter' },
    status: { conditions: [condition('Active', 'True')] },
  });
  for (const { webhooks, ...object } of last)
    await to.create({
      ...object,
      webhooks: (webhooks as { clientConfig: object }[]).map((each) => ({
        ...each,
        clientConfig: { ...each.clientConfig, caBundle: certificate },
      })),
    });
}

const isNoHook = ({ metadata: { annotations = {} } }: Rendered & { metadata: { annotations?: Record<string, string> } }): boolean =>
  annotations['helm.sh/hook'] === undefined;

/** The pods of a Deployment as its controller and kubelets would show them: all ready, or each with this status. */
async function setReplicas(to: Installation, name: string, state: 'ready' | object, count = 1): Promise<void> {
  const deployment = (await to.client.get(resourceOf('apps/v1', 'Deployment'), keyOf('Deployment', name))) as unknown as {
    spec: { replicas?: number; selector: { matchLabels: Record<string, string> } };
  };
  const { replicas = 1, selector } = deployment.spec;
  await to.patchStatus(
    'apps/v1',
    'Deployment',
    name,
    state === 'ready'
      ? { replicas, readyReplicas: replicas, availableReplicas: replicas }
      : { replicas, readyReplicas: 0, availableReplicas: 0, unavailableReplicas: replicas },
  );
  if (state === 'ready') return;
  for (let each = 0; each < count; each++)
    await to.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: metadata(`${name}-${each}`, { labels: { ...selector.matchLabels, 'app.kubernetes.io/part-of': 'switchyard' } }),
      spec: { containers: [{ name: 'program', image: 'registry.example/switchyard:0.1.0' }] },
      status: state,
    });
}

const waiting = (reason: string, message: string, more: object = {}): object => ({
  phase: 'Pending',
  containerStatuses: [
    { name: 'program', image: 'i', imageID: '', ready: false, restartCount: 0, state: { waiting: { reason, message } }, ...more },
  ],
});

function kubeconfigWithToken(lifeMs: number): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const seconds = Math.round(Date.now() / 1000);
  const token = `${part({})}.${part({ iat: seconds - 7200, exp: seconds + Math.round(lifeMs / 1000) })}.x`;
  return Buffer.from(JSON.stringify({ users: [{ user: { token } }] })).toString('base64');
}

const release = (status: string): Content => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: metadata('sh.helm.release.v1.switchyard-manager.v1', {
    labels: { owner: 'helm', name: 'switchyard-manager', status, version: '1' },
  }),
  data: {
    release: Buffer.from(gzipSync(JSON.stringify({ chart: { metadata: { name: 'switchyard-manager' } } })).toString('base64')).toString(
      'base64',
    ),
  },
});

const job = (name: string, spec: object = {}, meta: object = {}): Content => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: metadata(name, { labels: { [QUEUE_NAME_LABEL]: 'main' }, ...meta }),
  spec: {
    suspend: true,
    managedBy: MANAGER_CONTROLLER_NAME,
    template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } },
    ...spec,
  },
});

const withoutWebhooks = async (to: Installation): Promise<void> => {
  for (const kind of ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'])
    await to.delete('admissionregistration.k8s.io/v1', kind, MANAGER);
};

const east = (type: string, reason: string, message: string) => (to: Installation) =>
  to.patchStatus(SWITCHYARD, 'WorkerCluster', 'east', {
    conditions: [condition(type, 'False', reason, message), condition('Ready', 'False')],
  });

type Situation = readonly [situation: string, breaks: (to: Installation) => Promise<unknown>, firstLine: RegExp];

const SITUATIONS: readonly Situation[] = [
  [
    'the image of both programs cannot be pulled',
    async (to) => {
      for (const name of [MANAGER, WORKER]) await setReplicas(to, name, waiting('ImagePullBackOff', 'Back-off pulling image'), 2);
      await to.delete('coordination.k8s.io/v1', 'Lease', MANAGER);
    },
    /^wrong +deployment test-switchyard-manager +0\/2 ready.*ImagePullBackOff.* -> .*image\.repository and image\.tag/,
  ],
  [
    'the manager ends again and again',
    (to) =>
      setReplicas(
        to,
        MANAGER,
        waiting('CrashLoopBackOff', 'back-off 40s', { lastState: { terminated: { exitCode: 2, reason: 'Error' } } }),
      ),
    /^wrong +deployment test-switchyard-manager .*CrashLoopBackOff.*ended with 2 .* -> kubectl -n switchyard logs test-switchyard-manager-0 --previous/,
  ],
  [
    'the worker fits on no node',
    (to) =>
      setReplicas(to, WORKER, {
        phase: 'Pending',
        conditions: [condition('PodScheduled', 'False', 'Unschedulable', '0/3 nodes are available')],
      }),
    /^wrong +deployment test-switchyard-worker .*fits on no node: 0\/3 nodes.* -> give the cluster room/,
  ],
  [
    'a ResourceQuota refuses the pods of the manager',
    async (to) => {
      await setReplicas(to, MANAGER, {}, 0);
      await to.patchStatus('apps/v1', 'Deployment', MANAGER, {
        conditions: [condition('ReplicaFailure', 'True', 'FailedCreate', 'exceeded quota')],
      });
    },
    /^wrong +deployment test-switchyard-manager .*no pod can be made: exceeded quota.* -> .*ResourceQuota/,
  ],
  [
    'the manager is scaled to zero',
    (to) => to.patch('apps/v1', 'Deployment', MANAGER, { spec: { replicas: 0 } }),
    /^wrong +deployment test-switchyard-manager +is scaled to 0.* -> kubectl -n switchyard scale deployment\/test-switchyard-manager --replicas=2/,
  ],
  [
    'what makes certificates is scaled to zero',
    (to) => to.patch('apps/v1', 'Deployment', `${MANAGER}-certificates`, { spec: { replicas: 0 } }),
    /^wrong +deployment test-switchyard-manager-certificates +is scaled to 0.* -> kubectl -n switchyard scale deployment\/test-switchyard-manager-certificates --replicas=1/,
  ],
  [
    'the Deployment of the manager is deleted',
    async (to) => {
      await to.delete('apps/v1', 'Deployment', MANAGER);
      await to.delete('coordination.k8s.io/v1', 'Lease', MANAGER);
    },
    /^wrong +manager +its Deployment is not there.* -> helm upgrade --install switchyard-manager/,
  ],
  [
    'the Secret with the URL of Redis is missing',
    async (to) => {
      await to.delete('v1', 'Secret', 'redis');
      await setReplicas(to, MANAGER, waiting('ContainerCreating', ''));
    },
    /^wrong +deployment test-switchyard-manager .*Secret redis, which its pods need, does not exist.* -> kubectl -n switchyard create secret generic redis/,
  ],
  [
    'the first install by Helm failed half way',
    (to) => to.create(release('failed')),
    /^wrong +release switchyard-manager +its install failed half way.* -> .*helm upgrade --install switchyard-manager/,
  ],
  [
    'a definition is missing, so that the manager does not become ready',
    async (to) => {
      await to.delete('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'cohorts.switchyard.dev');
      await setReplicas(to, MANAGER, { phase: 'Running' }, 0);
    },
    /^wrong +definitions +not there: cohorts\.switchyard\.dev.* -> helm upgrade --install switchyard-manager/,
  ],
  [
    'no manager renews the Lease',
    (to) => to.patch('coordination.k8s.io/v1', 'Lease', MANAGER, { spec: { renewTime: microNow(120_000) } }),
    /^wrong +manager +nobody has renewed its Lease for 12\d s.* -> kubectl -n switchyard get pods.*SwitchyardNoLeader/,
  ],
  [
    'the manager has lost its rights',
    async (to) => {
      const bindings = resourceOf('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding');
      for (const { metadata: each } of (await to.client.list(bindings)).items)
        if (each.name.startsWith(MANAGER)) await to.client.delete(bindings, { namespace: '', name: each.name });
    },
    /^wrong +manager rights +system:serviceaccount:switchyard:test-switchyard-manager may not .* -> helm upgrade switchyard-manager/,
  ],
  [
    'the webhook has no authority',
    async (to) => {
      for (const kind of ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']) {
        const key = keyOf(kind, MANAGER);
        const object = (await to.client.get(resourceOf('admissionregistration.k8s.io/v1', kind), key)) as unknown as {
          webhooks: { clientConfig: { caBundle?: string } }[];
        };
        for (const webhook of object.webhooks) delete webhook.clientConfig.caBundle;
        await to.client.replace(resourceOf('admissionregistration.k8s.io/v1', kind), object as never);
      }
    },
    /^wrong +mutating webhook +has no caBundle.* -> the pods of the Deployment whose name ends in -certificates write it/,
  ],
  [
    'neither webhook nor policy looks at Jobs',
    async (to) => {
      await withoutWebhooks(to);
      const policies = resourceOf('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy');
      for (const { metadata: each } of (await to.client.list(policies)).items)
        await to.client.delete(policies, { namespace: '', name: each.name });
    },
    /^wrong +validating webhook +none, and no admission policy.* -> helm upgrade with webhook\.enabled=true/,
  ],
  [
    'the Service of the webhook is deleted',
    (to) => to.delete('v1', 'Service', MANAGER),
    /^wrong +webhook service +Service switchyard\/test-switchyard-manager, which the webhook calls, does not exist.* -> helm upgrade/,
  ],
  [
    'a second installation looks at Jobs, too',
    async (to) => {
      const key = keyOf('MutatingWebhookConfiguration', MANAGER);
      const { webhooks } = (await to.client.get(
        resourceOf('admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration'),
        key,
      )) as unknown as { webhooks: object[] };
      await to.create({
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'MutatingWebhookConfiguration',
        metadata: { name: 'other' },
        webhooks,
      });
    },
    /^wrong +mutating webhook +2 of them.* -> uninstall all but one/,
  ],
  [
    'a ClusterQueue has no namespaceSelector',
    (to) => to.patch(SWITCHYARD, 'ClusterQueue', 'batch', { spec: { namespaceSelector: null } }),
    /^wrong +queue batch +its spec\.namespaceSelector is absent.* -> kubectl patch clusterqueue batch .*"namespaceSelector":\{\}/,
  ],
  [
    'a ResourceFlavor of a ClusterQueue is missing',
    (to) => to.delete(SWITCHYARD, 'ResourceFlavor', 'cpu'),
    /^wrong +queue batch +ResourceFlavor cpu does not exist.* -> create ResourceFlavor cpu/,
  ],
  [
    'no cluster offers a ResourceFlavor',
    (to) => to.patch(SWITCHYARD, 'ResourceFlavor', 'cpu', { spec: { clusterSelector: { matchLabels: { zone: 'x' } } } }),
    /^wrong +flavor cpu .*selects none of 1 WorkerClusters.* -> kubectl label workercluster NAME zone=x/,
  ],
  [
    'a LocalQueue leads to no ClusterQueue',
    (to) => to.create({ apiVersion: SWITCHYARD, kind: 'LocalQueue', metadata: metadata('lost'), spec: { clusterQueue: 'nosuch' } }),
    /^wrong +queue switchyard\/lost +its ClusterQueue nosuch does not exist.* -> create ClusterQueue nosuch/,
  ],
  [
    'the cohorts are a cycle',
    (to) =>
      to.patchStatus(SWITCHYARD, 'ClusterQueue', 'batch', {
        conditions: [condition('Active', 'False', 'CohortCycle', 'its cohorts are a cycle')],
      }),
    /^wrong +queue batch +its cohorts are a cycle.* -> kubectl describe clusterqueue batch/,
  ],
  [
    'a worker cluster does not answer',
    east('Reachable', 'Unreachable', 'connect ECONNREFUSED'),
    /^wrong +cluster east +Reachable=False \(Unreachable\): connect ECONNREFUSED.* -> look at its API server.*SwitchyardClusterLost/,
  ],
  [
    'the kubeconfig of a worker cluster is missing',
    east('Reachable', 'KubeconfigMissing', 'Secret switchyard/east does not exist'),
    /^wrong +cluster east +Reachable=False \(KubeconfigMissing\).* -> switchyard clusters join CONTEXT --name east writes it anew/,
  ],
  [
    'a worker cluster has no worker',
    east('WorkerAlive', 'NoWorkerLease', 'no worker has a Lease'),
    /^wrong +cluster east +WorkerAlive=False .* -> .*helm install switchyard-worker/,
  ],
  [
    'the manager may not do enough on a worker cluster',
    east('Able', 'Forbidden', 'may not create jobs'),
    /^wrong +cluster east +Able=False .* -> .*switchyard clusters join checks and repairs them.*SwitchyardClusterNotAble/,
  ],
  [
    'the token of a worker cluster has ended',
    (to) => to.patch('v1', 'Secret', 'east', { data: { kubeconfig: kubeconfigWithToken(-60_000) } }),
    /^wrong +token east +it ended .* -> switchyard clusters join CONTEXT --name east renews it.*SwitchyardTokenExpiring/,
  ],
  [
    'Redis takes no submissions',
    (to) =>
      to.patchStatus(SWITCHYARD, 'SubmissionQueue', 'intake', {
        conditions: [condition('RedisHealthy', 'False', 'Unreachable', 'redis:6379 does not answer')],
        backlog: 3,
      }),
    /^wrong +submissions switchyard\/intake +RedisHealthy=False .*does not answer; 3 submissions wait.* -> .*Redis/,
  ],
  [
    'a Job with a queue was created while no webhook looked',
    async (to) => {
      await withoutWebhooks(to);
      await to.create(job('unseen', { managedBy: 'example.com/another' }));
    },
    /^wrong +jobs +1 with the label .*such as Job switchyard\/unseen.* -> .*submit them again/,
  ],
];

describe('doctor', () => {
  let healthy: Backup;
  beforeAll(async () => {
    const persistence = createMemoryPersistence();
    await withPlane(persistence, async (installation) => {
      await install(installation);
      healthy = persistence.backUp();
    });
  }, LIMIT_MS);

  type Plane = Awaited<ReturnType<typeof createControlPlane>>;

  async function withPlane<T>(
    persistence: ReturnType<typeof createMemoryPersistence>,
    use: (to: Installation, plane: Plane) => Promise<T>,
  ): Promise<T> {
    const plane = await createControlPlane({ clock: systemClock, random: Math.random, log: silentLogger, persistence });
    try {
      return await use(new Installation(createKubeClient(plane.transport(), { userAgent: 'test', clock: systemClock })), plane);
    } finally {
      await plane.close();
    }
  }

  /** What doctor prints of the healthy installation to which this was done. */
  const printed = (breaks: (to: Installation) => Promise<unknown>): Promise<{ readonly lines: string[]; readonly code: number }> =>
    withPlane(createMemoryPersistence(healthy), async (installation, plane) => {
      const folder = mkdtempSync(path.join(tmpdir(), 'switchyard-doctor-'));
      try {
        writeFileSync(path.join(folder, 'kubeconfig'), (await plane.listen()).kubeconfig);
        await installation.patch('coordination.k8s.io/v1', 'Lease', MANAGER, { spec: { renewTime: microNow() } });
        await breaks(installation);
        let said = '';
        const output = { isTerminal: false, width: Infinity, colours: false, write: async (text: string) => void (said += text) };
        const session = {
          output,
          errors: output,
          input: Readable.from([]),
          environment: {},
          signal: new AbortController().signal,
          now: Date.now,
        };
        const choice = { kubeconfig: path.join(folder, 'kubeconfig'), context: undefined, 'manager-namespace': NAMESPACE };
        const code = await runDoctor({ ...choice, output: 'text', redis: undefined }, session);
        return { lines: said.split('\n'), code };
      } finally {
        rmSync(folder, { recursive: true });
      }
    });

  test('finds nothing wrong with an installation that is well', async () => {
    const { lines, code } = await printed(async () => undefined);
    expect(lines.filter((line) => line.startsWith('wrong'))).toEqual([]);
    expect(code).toBe(0);
  });

  test.each(SITUATIONS)('names first that %s', async (_, breaks, firstLine) => {
    const { lines, code } = await printed(breaks);
    expect(lines[0]).toMatch(firstLine);
    expect(code).toBe(1);
  });
});
