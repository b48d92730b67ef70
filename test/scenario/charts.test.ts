/** Goal: what the charts install is accepted by an API server, and grants each program what it needs and nothing else. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { COHORTS } from '../../manager/api/cohort.ts';
import { SUBMISSION_QUEUES } from '../../manager/api/submission-queue.ts';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import type {
  Acceptance,
  ParkedSubmission,
  Submission,
  SubmissionQueue,
  SubmissionRef,
} from '../../manager/submission/submission-queue.ts';
import { BUILT_IN_JOB_CONTROLLER_NAME, DEFAULT_LEASE_NAMESPACE } from '../../shared/api/names.ts';
import { CONFIG_MAPS, EVENTS, JOBS, NAMESPACES, PODS, type Resource } from '../../shared/api/resources.ts';
import type { UserInfo } from '../../shared/controlplane/auth/user-info.ts';
import { createControlPlane } from '../../shared/controlplane/control-plane.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { seededRandom } from '../../shared/runtime/random.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { grantsTo, ofKind, renderChart, type Chart, type Rendered } from '../support/helm.ts';
import { openSqliteStore } from '../../manager/history/sqlite-store.ts';
import { ownCertificate, RECORD_KEY, startCertificates } from '../support/chart-certificates.ts';
import type { SentRequest } from '../support/line.ts';
import { aSubmission } from '../support/submissions.ts';
import { sourceOf } from '../support/submission-source.ts';
import { createWholeWorld, HOME, manifest, NAMESPACE, type ProgramOptions, type RunningProgram, type WholeWorld } from './whole-world.ts';

const kind = (group: string, plural: string, name: string, namespaced: boolean): Resource => ({
  group,
  version: 'v1',
  plural,
  kind: name,
  namespaced,
});
const RBAC = 'rbac.authorization.k8s.io';
const KINDS: readonly Resource[] = [
  kind('', 'namespaces', 'Namespace', false),
  kind('apiextensions.k8s.io', 'customresourcedefinitions', 'CustomResourceDefinition', false),
  kind('', 'serviceaccounts', 'ServiceAccount', true),
  kind('', 'secrets', 'Secret', true),
  kind('', 'services', 'Service', true),
  kind('apps', 'deployments', 'Deployment', true),
  kind('policy', 'poddisruptionbudgets', 'PodDisruptionBudget', true),
  kind('networking.k8s.io', 'networkpolicies', 'NetworkPolicy', true),
  kind(RBAC, 'clusterroles', 'ClusterRole', false),
  kind(RBAC, 'clusterrolebindings', 'ClusterRoleBinding', false),
  kind(RBAC, 'roles', 'Role', true),
  kind(RBAC, 'rolebindings', 'RoleBinding', true),
  kind('admissionregistration.k8s.io', 'mutatingwebhookconfigurations', 'MutatingWebhookConfiguration', false),
  kind('admissionregistration.k8s.io', 'validatingwebhookconfigurations', 'ValidatingWebhookConfiguration', false),
  kind('admissionregistration.k8s.io', 'validatingadmissionpolicies', 'ValidatingAdmissionPolicy', false),
  kind('admissionregistration.k8s.io', 'validatingadmissionpolicybindings', 'ValidatingAdmissionPolicyBinding', false),
];

/** Server-side apply of everything a chart renders; the webhooks are asked about nothing, because no Service leads to them here. */
async function install(client: KubeClient, rendered: readonly Rendered[]): Promise<void> {
  for (const resource of KINDS) {
    for (const object of ofKind(rendered, resource.kind)) {
      const key = { namespace: object.metadata.namespace ?? '', name: object.metadata.name };
      await client.patch(resource, key, { type: 'apply', body: withoutRules(object) }, { fieldManager: 'helm' });
    }
  }
}

function withoutRules(object: Rendered): Rendered {
  const webhooks = object['webhooks'] as object[] | undefined;
  return webhooks === undefined ? object : { ...object, webhooks: webhooks.map((hook) => ({ ...hook, rules: [] })) };
}

test.each<Chart>(['manager', 'worker'])('every object of the %s chart is of a kind that is applied here', (chart) => {
  const kinds = new Set(renderChart(chart).map((object) => object.kind));
  expect([...kinds].filter((each) => !KINDS.some((resource) => resource.kind === each))).toEqual([]);
});

test.each<Chart>(['manager', 'worker'])('the chart of the %s that is applied again changes nothing', async (chart) => {
  const clock = new FakeClock();
  await using stack = new AsyncDisposableStack();
  const plane = stack.adopt(await createControlPlane({ clock, random: seededRandom(1), log: silentLogger, controllers: [] }), (each) =>
    each.close(),
  );
  const client = createKubeClient(plane.transport(), { userAgent: 'helm', clock });
  await client.create(NAMESPACES, { metadata: { name: 'switchyard' } });
  const rendered = renderChart(chart);
  const versions = async (): Promise<string[]> => {
    const lists = await Promise.all(KINDS.map((resource) => client.list(resource)));
    return lists.flatMap(({ items }) => items.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`));
  };
  await install(client, rendered);
  const installed = await versions();
  expect(installed.length).toBeGreaterThan(rendered.length / 2);
  await install(client, rendered);
  expect(await versions()).toEqual(installed);
});

const CERTIFICATES = 'test-switchyard-manager-certificates';
const MANAGER_ACCESS = 'test-switchyard-worker-manager-access';

const accountOf = (rendered: readonly Rendered[]): string => {
  const [deployment] = ofKind(rendered, 'Deployment') as unknown as { spec: { template: { spec: { serviceAccountName: string } } } }[];
  return deployment?.spec.template.spec.serviceAccountName ?? '';
};
const userOf = (account: string): UserInfo => ({
  name: `system:serviceaccount:switchyard:${account}`,
  groups: ['system:serviceaccounts', 'system:serviceaccounts:switchyard', 'system:authenticated'],
});

let world: WholeWorld;

/** Hands out each submission twice, as happens when a manager dies over one. */
function createTwiceQueue(): SubmissionQueue & {
  add(submission: Submission): void;
  withdraw(ref: SubmissionRef, acceptance: Acceptance | undefined): void;
  readonly accepted: Acceptance[];
} {
  let take: ((submission: Submission) => void) | undefined;
  let withdrawJob: ((parked: ParkedSubmission) => Promise<void>) | undefined;
  const accepted: Acceptance[] = [];
  return {
    accepted,
    add: (submission) => take?.(submission),
    withdraw: (ref, acceptance) => acceptance && void withdrawJob?.({ ref, attempt: 1, ...acceptance }),
    consume: (accept, signal, withdraw) =>
      new Promise((resolve) => {
        withdrawJob = withdraw;
        take = (submission) =>
          void (async () => {
            for (let delivery = 0; delivery < 2; delivery++) accepted.push(await accept(submission));
          })();
        signal.addEventListener('abort', () => resolve(), { once: true });
      }),
    finish: async () => undefined,
    parked: async function* () {},
    report: async () => undefined,
    close: async () => undefined,
  };
}

/** Permissions that this run does not use, and what they are for. */
const EVENTS_REPEATED = { 'patch events': 'an Event that happens again is counted up' };
const CERTIFICATE_RENEWED = { 'patch secrets': 'the Secret gets the next certificate 30 days before its end' };
const KEY_MADE = { 'create secrets': 'the Secret of the key is created by a patch (server-side apply), because RBAC knows its name then' };
const IMPERSONATION = {
  'impersonate serviceaccounts':
    'there is no SubmissionQueue here; test/hostile/submission-tenants.test.ts uses it, and has no other rights',
  'impersonate authentication.k8s.io/userextras/submission-queue.switchyard.dev': 'likewise',
};
const KINDS_READ = {
  'list switchyard.dev/workkinds': 'the program reads them before a manager is put together; test/scenario/work-kinds.test.ts reads them',
  'watch switchyard.dev/workkinds': 'likewise',
  'patch switchyard.dev/workkinds/status': 'likewise',
};
const NEEDED_OBJECTS = {
  'get persistentvolumeclaims': 'asked for by name where a Job needs one; test/scenario/needed-objects.test.ts asks',
  'get serviceaccounts': 'likewise',
};
const METRICS_READ = {
  'create authentication.k8s.io/tokenreviews':
    'who reads metrics is asked of the API server; test/hostile/metrics-reader.test.ts reads them',
  'create authorization.k8s.io/subjectaccessreviews': 'likewise',
};
const SUBMISSIONS_RARELY = {
  'get batch/jobs': 'whether the Job of a submission is there is asked where the cache does not know it',
  'get configmaps': 'a part of the ledger is read back after a write whose answer was lost',
  'delete configmaps': 'parts of the ledger go after seven days',
};
const COPY_THERE = {
  'create serviceaccounts/token': 'the token is renewed at half of its life; test/scenario/worker-tokens.test.ts uses it',
  'get batch/jobs': 'a copy that is there already, made by a call whose answer was lost, is looked at before it is taken for ours',
};
const WORKER_RARELY = {
  'get batch/jobs': 'before a pod is adopted, or freed because its Job is gone, the Job is read anew',
  'update batch/jobs/finalizers': 'OwnerReferencesPermissionEnforcement asks for it where pods block the deletion of their owner',
};

const unused = (grants: readonly string[], used: readonly SentRequest[], explained: Readonly<Record<string, string>>): string[] => {
  const asked = new Set(used.map(({ verb, resource }) => `${verb} ${resource}`));
  return grants.filter((grant) => !asked.has(grant) && explained[grant] === undefined);
};
/**
 * Whether a manager of an earlier release keeps Leases in kube-system is asked once for each connection, also where the answer is not
 * granted.
 */
const refusedTo = ({ line }: RunningProgram): string[] =>
  line.refused.filter((refused) => !/switchyard-origin-.* cannot get resource .*leases.* in the namespace .*kube-system/.test(refused));
/** What the worker's chart passes. */
const OF_CHART = { fenceAfterMs: 60_000, leaseNamespace: DEFAULT_LEASE_NAMESPACE, electionLease: 'test-switchyard-worker' };
const isComplete = async (name: string): Promise<boolean> =>
  (await world.job(name)).status?.conditions?.some(({ type, status }) => type === 'Complete' && status === 'True') ?? false;

type JoiningRow = { readonly values: readonly string[]; readonly spec: object; readonly worker?: ProgramOptions };
/** docs/joining.md: what the chart and the WorkerCluster say of a cluster, and how its worker is started by that chart. */
const JOINING_ROWS: Readonly<Record<string, JoiningRow>> = {
  defaults: { values: [], spec: {} },
  'managerAccess.namespaces': { values: ['managerAccess.namespaces={team}'], spec: { servedNamespaces: ['team'] } },
  'config.namespaces': {
    values: ['config.namespaces={team}'],
    spec: { servedNamespaces: ['team'] },
    worker: { namespaces: ['team'] },
  },
  'managerAccess.createNamespaces': { values: ['managerAccess.createNamespaces=true'], spec: { namespaces: 'Create' } },
  'managerAccess.nodes': { values: ['managerAccess.nodes=false'], spec: { capacity: { cpu: '4' } } },
  'config.leaseNamespace': {
    values: ['config.leaseNamespace=leases'],
    spec: { leaseNamespace: 'leases' },
    worker: { leaseNamespace: 'leases' },
  },
  'config.controllerName': {
    values: [`config.controllerName=${BUILT_IN_JOB_CONTROLLER_NAME}`],
    spec: { jobController: BUILT_IN_JOB_CONTROLLER_NAME },
    worker: { controllerName: BUILT_IN_JOB_CONTROLLER_NAME },
  },
};

test('a cluster that has joined by objects alone is played with each value that docs/joining.md lists', () => {
  const [, table = ''] = readFileSync(path.join(import.meta.dirname, '..', '..', 'docs', 'joining.md'), 'utf8').split(
    '| value of switchyard-worker |',
  );
  const told = [...(table.split('\n\n')[0] ?? '').matchAll(/^\| `([\w.]+):/gm)].map(([, value = '']) => value);
  expect(new Set([...told, 'defaults'])).toEqual(new Set(Object.keys(JOINING_ROWS)));
});

describe('a cluster that has joined by objects alone runs Jobs with these values of its chart, and the accounts that the charts make', () => {
  afterEach(() => world.close());

  test.each(Object.entries(JOINING_ROWS))('%s', async (_name, { values, spec, worker }) => {
    const managerChart = renderChart('manager');
    const workerChart = renderChart('worker', ...values);
    world = await createWholeWorld({
      clusters: ['east'],
      install: async (client, cluster) => {
        if (cluster !== HOME) await client.create(NAMESPACES, { metadata: { name: 'leases' } });
        await install(client, cluster === HOME ? managerChart : workerChart);
      },
    });
    if ('namespaces' in spec) await world.client('east').delete(NAMESPACES, { namespace: '', name: NAMESPACE });
    await world.home.patch(WORKER_CLUSTERS, { namespace: '', name: 'east' }, { type: 'merge', body: { spec } });
    await world.clock.advance(5_000);
    const user = (cluster: string): UserInfo => userOf(cluster === HOME ? accountOf(managerChart) : MANAGER_ACCESS);
    world.startManager('manager', { user, parts: RECORD_KEY });
    world.startWorker('east', 'worker', { user: () => userOf(accountOf(workerChart)), ...OF_CHART, ...worker });
    await world.clock.advance(10_000);
    await world.submit('short');
    await world.submit('long', { seconds: 90 });
    await world.clock.advance(120_000);
    expect([await isComplete('short'), await isComplete('long')]).toEqual([true, true]);
    const { status } = await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'east' });
    expect(status?.worker?.fenceAfterSeconds).toBe(60);
  });
});

describe('with the accounts that the charts make', () => {
  afterEach(async () => {
    await certificates.stop();
    await world.close();
  });
  const managerChart = renderChart(
    'manager',
    'config.submissionQueue=switchyard-submissions',
    `config.submissionNamespaces={${NAMESPACE}}`,
  );
  const workerChart = renderChart('worker', 'managerAccess.createNamespaces=true');
  let manager: RunningProgram;
  let worker: RunningProgram;
  let certificates: ReturnType<typeof startCertificates>;
  const queue = createTwiceQueue();
  beforeEach(async () => {
    world = await createWholeWorld({
      clusters: ['eu-1'],
      install: (client, cluster) => install(client, cluster === HOME ? managerChart : workerChart),
    });
    await world.home.patch(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' }, { type: 'merge', body: { spec: { namespaces: 'Create' } } });
    await world.client('eu-1').delete(NAMESPACES, { namespace: '', name: NAMESPACE });
    await world.clock.advance(5_000);
    certificates = startCertificates(world.plane(HOME), userOf(CERTIFICATES), world.clock);
    manager = world.startManager('manager', {
      user: (cluster) => userOf(cluster === HOME ? accountOf(managerChart) : MANAGER_ACCESS),
      parts: (client, clock) => ({
        ...ownCertificate(client, clock),
        ...RECORD_KEY,
        submissions: sourceOf(queue),
        fairSharing: { preemptionStrategies: ['LessThanOrEqualToFinalShare'] },
        history: { store: openSqliteStore(':memory:'), limits: { ageMs: 1e12, bytesMax: 1e9 } },
      }),
    });
    await world.home.create(COHORTS, { metadata: { name: 'all' } });
    // Nobody serves it, and its status says so.
    await world.home.create(SUBMISSION_QUEUES, {
      metadata: { namespace: NAMESPACE, name: 'batch' },
      spec: { prefix: 'switchyard', serviceAccountName: 'a' },
    });
    worker = world.startWorker('eu-1', 'worker', {
      user: () => userOf(accountOf(workerChart)),
      ...OF_CHART,
      podLogs: 'it went wrong\n',
    });
    await world.clock.advance(5_000);
  });

  test('Jobs go the whole way, nothing is forbidden, and no permission is without use', async () => {
    await world.submit('plain', { spec: { completions: 2 } });
    await world.clock.advance(2_000);
    await world.submit('huge', { spec: { parallelism: 100_000 } });
    queue.add(aSubmission({ id: '1', submittedAt: 1, name: 'submitted', data: manifest('submitted') }));
    await world.submit('shrinking', { spec: { completions: 6, parallelism: 3 }, seconds: 20 });
    await world.submit('deleted', { seconds: 600 });
    // Its pods fail one after the other, so that their logs are kept, and added to.
    await world.submit('failing', { spec: { backoffLimit: 1 }, exitCode: 3 });
    await world.submit('lost', { spec: { completions: 3, parallelism: 1 }, seconds: 4 });
    // None of its pods gets ready, so that the manager asks why.
    const containers = [{ name: 'main', image: 'busybox', resources: { requests: { cpu: '100m' } } }];
    await world.submit('stuck', { spec: { template: { spec: { restartPolicy: 'Never', nodeSelector: { is: 'nowhere' }, containers } } } });
    await world.clock.advance(6_000);
    const cancelled = aSubmission({ id: '2', submittedAt: 1, name: 'cancelled', data: manifest('cancelled') });
    queue.add(cancelled);
    await world.clock.advance(2_000);
    queue.withdraw(cancelled, queue.accepted.at(-1));
    await world.client('eu-1').delete(JOBS, { namespace: NAMESPACE, name: 'lost' }, { propagationPolicy: 'Background' });
    await world.home.patch(JOBS, { namespace: NAMESPACE, name: 'shrinking' }, { type: 'merge', body: { spec: { parallelism: 1 } } });
    await world.home.delete(JOBS, { namespace: NAMESPACE, name: 'deleted' }, { propagationPolicy: 'Background' });
    await world.clock.advance(12_000);
    await world.home.delete(JOBS, { namespace: NAMESPACE, name: 'stuck' }, { propagationPolicy: 'Background' });
    await world.clock.advance(200_000);

    for (const name of ['plain', 'submitted', 'shrinking', 'lost'])
      expect({ name, complete: await isComplete(name) }).toEqual({ name, complete: true });
    expect(queue.accepted).toHaveLength(4);
    expect((await world.home.list(JOBS)).items.map(({ metadata }) => metadata.name)).not.toContain('cancelled');
    expect(await world.jobsOn('eu-1')).toEqual([]);
    expect((await world.home.list(EVENTS)).items).not.toEqual([]);
    expect({ manager: refusedTo(manager), worker: refusedTo(worker) }).toEqual({ manager: [], worker: [] });

    const at = (cluster: string): SentRequest[] => manager.line.sent.filter((each) => each.cluster === cluster);
    expect(
      unused(grantsTo(accountOf(managerChart), managerChart), at(HOME), {
        ...EVENTS_REPEATED,
        ...KEY_MADE,
        ...IMPERSONATION,
        ...SUBMISSIONS_RARELY,
        ...METRICS_READ,
        ...KINDS_READ,
      }),
    ).toEqual([]);
    expect([certificates.line.refused, unused(grantsTo(CERTIFICATES, managerChart), certificates.line.sent, CERTIFICATE_RENEWED)]).toEqual([
      [],
      [],
    ]);
    expect(unused(grantsTo(MANAGER_ACCESS, workerChart), at('eu-1'), { ...COPY_THERE, ...NEEDED_OBJECTS })).toEqual([]);
    expect(
      unused(grantsTo(accountOf(workerChart), workerChart), worker.line.sent, { ...EVENTS_REPEATED, ...WORKER_RARELY, ...METRICS_READ }),
    ).toEqual([]);
  });

  test('with localWorker.enabled the manager’s cluster is a worker, too', async () => {
    const chart = renderChart('manager', 'localWorker.enabled=true', `localWorker.users={${userOf('test-switchyard-worker').name}}`);
    const local = renderChart('worker', 'managerAccess.create=false');
    await install(world.home, [...chart, ...local]);
    manager.kill();
    worker.kill();
    await world.home.patch(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' }, { type: 'merge', body: { spec: { state: 'Cordoned' } } });
    await world.home.create(WORKER_CLUSTERS, { metadata: { name: 'here' }, spec: { local: true, capacity: { cpu: '4' } } });
    const localManager = world.startManager('local', {
      user: (cluster) => userOf(cluster === HOME ? accountOf(chart) : MANAGER_ACCESS),
      parts: RECORD_KEY,
    });
    const localWorker = world.startWorker(HOME, 'local', {
      user: () => userOf(accountOf(local)),
      ...OF_CHART,
    });
    await world.clock.advance(30_000);
    await world.submit('sum');
    await world.clock.advance(5_000);
    const [pod] = await world.podsOn(HOME);
    await world.home.patchStatus(
      PODS,
      { namespace: NAMESPACE, name: pod?.metadata.name ?? '' },
      { type: 'merge', body: { status: { phase: 'Succeeded' } } },
    );
    await world.clock.advance(10_000);
    expect(await isComplete('sum')).toBe(true);
    expect((await world.jobsOn(HOME)).map(({ metadata }) => metadata.name)).toEqual(['sum']);
    // One that does not start is asked about, and says why; of one that has failed the log may be read.
    await world.submit('fails', { spec: { backoffLimit: 0 } });
    await world.clock.advance(60_000);
    const [failing] = (await world.podsOn(HOME)).filter(({ metadata }) => metadata.name.startsWith('fails-'));
    await world.home.patchStatus(
      PODS,
      { namespace: NAMESPACE, name: failing?.metadata.name ?? '' },
      {
        type: 'merge',
        body: { status: { phase: 'Failed' } },
      },
    );
    await world.clock.advance(60_000);
    expect({ manager: refusedTo(localManager), worker: refusedTo(localWorker) }).toEqual({ manager: [], worker: [] });
    const asked = localManager.line.sent.map(({ verb, resource }) => `${verb} ${resource}`);
    expect(asked).toEqual(expect.arrayContaining(['list events', 'list pods']));
    const asManager = createKubeClient(world.plane(HOME).transport(userOf(accountOf(chart))), { userAgent: 'test', clock: world.clock });
    await expect(asManager.get(CONFIG_MAPS, { namespace: DEFAULT_LEASE_NAMESPACE, name: 'the-end-of-a-log' })).rejects.toMatchObject({
      code: 404,
    });
    await expect(asManager.get(CONFIG_MAPS, { namespace: NAMESPACE, name: 'of-a-tenant' })).rejects.toMatchObject({ code: 403 });
    const more = grantsTo(accountOf(chart), chart).filter((grant) => !grantsTo(accountOf(managerChart), managerChart).includes(grant));
    const leases = ['list coordination.k8s.io/leases', 'watch coordination.k8s.io/leases'];
    const needed = ['get persistentvolumeclaims', 'get serviceaccounts'];
    expect(more).toEqual(['list nodes', 'watch nodes', 'list events', 'list pods', ...needed, ...leases]);
    expect(unused(more, localManager.line.sent, NEEDED_OBJECTS)).toEqual([]);
  });
});
