import { describe, expect, test } from 'vitest';
import { admissionPolicies } from '../../../manager/policy/admission-policies.ts';
import {
  matchConditions,
  objectSelectorOf,
  ofInstallation,
  OVERRIDE_CONDITIONS,
  OVERRIDE_WEBHOOK,
  RESOURCE_RULES,
} from '../../../manager/policy/webhook-conditions.ts';
import type { Identities } from '../../../manager/policy/writer.ts';
import { containerOf, managerConfig, workerConfig } from '../../support/chart-config.ts';
import { changesOf } from '../../support/chart-rights.ts';
import { SHIPPED } from '../manager/work-kind/described/described.ts';
import { CHARTS, helm, ofKind, renderChart, type Chart, type Rendered } from '../../support/helm.ts';

const BOTH: readonly Chart[] = ['manager', 'worker'];
type Rule = { apiGroups: string[]; resources: string[]; verbs: string[] };
/** What is allowed of resources; paths such as that of the metrics are none. */
const rulesOf = (objects: readonly Rendered[], kind: 'ClusterRole' | 'Role'): Rule[] =>
  ofKind(objects, kind).flatMap((role) =>
    (role['rules'] as (Rule | { nonResourceURLs: string[] })[]).filter((rule) => 'resources' in rule),
  );
/** The volumes of the manager's pod, and what they are. */
function volumesOf(...values: string[]): string[] {
  type Volume = { name: string; emptyDir?: { sizeLimit: string }; persistentVolumeClaim?: { claimName: string } };
  const [deployment] = ofKind(renderChart('manager', ...values), 'Deployment') as unknown as {
    spec: { template: { spec: { volumes: Volume[] } } };
  }[];
  return (deployment?.spec.template.spec.volumes ?? []).map(({ name, emptyDir, persistentVolumeClaim }) =>
    [name, emptyDir && `emptyDir ${emptyDir.sizeLimit}`, persistentVolumeClaim && `claim ${persistentVolumeClaim.claimName}`]
      .filter(Boolean)
      .join(' '),
  );
}

describe.each(BOTH)('the chart of the %s', (chart) => {
  test('helm finds nothing wrong with it', () => {
    expect(helm('lint', '--strict', CHARTS[chart])).toContain('0 chart(s) failed');
  });

  test('a value it does not know is refused at installation', () => {
    expect(() => renderChart(chart, 'replicaCuont=1')).toThrow(/replicaCuont/);
  });

  test('a value of the wrong kind is refused at installation', () => {
    expect(() => renderChart(chart, 'config.logLevel=loud')).toThrow(/logLevel/);
  });

  test('no permission is a wildcard, and Secrets are readable in its own namespace at most', () => {
    const objects = renderChart(chart);
    const rules = [...rulesOf(objects, 'ClusterRole'), ...rulesOf(objects, 'Role')];
    expect(rules.flatMap(({ apiGroups, resources, verbs }) => [...apiGroups, ...resources, ...verbs])).not.toContain('*');
    expect(rulesOf(objects, 'ClusterRole').filter(({ resources }) => resources.includes('secrets'))).toEqual([]);
  });

  test('the program asks who reads its metrics, and may ask, unless that is switched off', () => {
    const reviews = (objects: readonly Rendered[]): Rule[] =>
      rulesOf(objects, 'ClusterRole').filter(({ resources }) => resources.some((each) => each.endsWith('reviews')));
    const readers = (objects: readonly Rendered[]): Rendered[] =>
      ofKind(objects, 'ClusterRole').filter(({ metadata }) => metadata.name.endsWith('-metrics-reader'));
    const off = renderChart(chart, 'metrics.authentication.enabled=false');
    expect([containerOf(off).args.includes('--metrics-authentication'), reviews(off), readers(off)]).toEqual([false, [], []]);
    const on = renderChart(chart);
    expect(containerOf(on).args).toContain('--metrics-authentication');
    expect(reviews(on)).toEqual([
      { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
      { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
    ]);
    expect(readers(on)).toMatchObject([{ rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }] }]);
  });

  test('its image is of one version, and of one digest where one is given', () => {
    const repository = 'ghcr.io/switchyard/switchyard';
    const digest = `sha256:${'0f'.repeat(32)}`;
    expect(containerOf(renderChart(chart)).image).toMatch(new RegExp(`^${repository}:\\d+\\.\\d+\\.\\d+$`));
    expect(containerOf(renderChart(chart, 'image.tag=1.2.3', `image.digest=${digest}`)).image).toBe(`${repository}:1.2.3@${digest}`);
    expect(() => renderChart(chart, 'image.digest=latest')).toThrow(/digest/);
  });

  test('its containers pass the restricted Pod Security Standard', () => {
    const [deployment] = ofKind(renderChart(chart), 'Deployment') as unknown as {
      spec: { template: { spec: { securityContext: object; containers: { securityContext: object }[] } } };
    }[];
    expect(deployment?.spec.template.spec.securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(deployment?.spec.template.spec.containers[0]?.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });
});

describe('the manager chart', () => {
  test('lets the manager create what submissions bring along where it is asked for, in the namespaces from which objects are carried', () => {
    const given = (...values: string[]): readonly string[] => changesOf('manager', 'test-switchyard-manager', values);
    expect(given('submissions.attachments=true')).toEqual([]);
    const carrying = given('carry.namespaces={team}');
    expect(given('carry.namespaces={team}', 'submissions.attachments=true')).toEqual([...carrying, '+ team: configmaps create']);
  });

  test('the CRDs come with it, survive its removal, and can be left out', () => {
    const crds = ofKind(renderChart('manager'), 'CustomResourceDefinition');
    expect(crds.map(({ metadata }) => metadata.name).toSorted()).toEqual([
      'clusterqueues.switchyard.dev',
      'cohorts.switchyard.dev',
      'localqueues.switchyard.dev',
      'resourceflavors.switchyard.dev',
      'submissionqueues.switchyard.dev',
      'workerclusters.switchyard.dev',
      'workkinds.switchyard.dev',
      'workloadpriorityclasses.switchyard.dev',
    ]);
    for (const { metadata } of crds) expect(metadata).toMatchObject({ annotations: { 'helm.sh/resource-policy': 'keep' } });
    const [unkept] = ofKind(renderChart('manager', 'crds.keep=false'), 'CustomResourceDefinition');
    expect(unkept?.metadata).not.toHaveProperty('annotations');
    // What the value was called before still counts.
    for (const off of ['crds.enabled=false', 'crds.install=false'])
      expect(ofKind(renderChart('manager', off), 'CustomResourceDefinition')).toEqual([]);
  });

  type Rule = { resources: string[]; resourceNames?: string[]; verbs: string[] };
  test('Secrets may be read in the namespace of the kubeconfigs alone, and elsewhere by name', () => {
    const readers = (...values: string[]) =>
      ofKind(renderChart('manager', ...values), 'Role').flatMap((role) =>
        (role['rules'] as Rule[])
          .filter(
            ({ resources, resourceNames, verbs }) => resources.includes('secrets') && resourceNames === undefined && verbs.includes('get'),
          )
          .map(() => role.metadata.namespace),
      );
    expect([readers(), readers('clusterSecrets.namespace=clusters')]).toEqual([['switchyard'], ['clusters']]);
    expect(JSON.stringify(ofKind(renderChart('manager', 'clusterSecrets.namespace=clusters'), 'Deployment'))).toContain(
      '--cluster-secrets-namespace=clusters',
    );
  });
});

describe('the rules of who may write what', () => {
  const MANAGER = 'system:serviceaccount:switchyard:test-switchyard-manager';
  const identities: Identities = { managers: [MANAGER, 'hub'], localWorkers: ['worker'] };
  const USERS = ['localWorker.enabled=true', 'localWorker.users={worker}', 'config.otherManagers={hub}'];
  const specsOf = (objects: readonly Rendered[], kind: string): unknown[] => ofKind(objects, kind).map((object) => object['spec']);

  test('are the conditions of both webhooks, with the users of the installation', () => {
    const objects = renderChart('manager', ...USERS);
    for (const kind of ['Mutating', 'Validating'] as const) {
      const [configuration] = ofKind(objects, `${kind}WebhookConfiguration`) as unknown as { webhooks: object[] }[];
      const [webhook = {}, ...others] = configuration?.webhooks ?? [];
      expect(webhook).toMatchObject({ rules: RESOURCE_RULES[kind], matchConditions: matchConditions(kind, identities) });
      expect('objectSelector' in webhook ? webhook.objectSelector : undefined).toEqual(objectSelectorOf(kind));
      const override = {
        ...OVERRIDE_WEBHOOK,
        rules: RESOURCE_RULES.Validating,
        matchConditions: ofInstallation(OVERRIDE_CONDITIONS, identities),
      };
      expect(others).toEqual(kind === 'Mutating' ? [expect.objectContaining(override)] : []);
    }
  });

  test('let Jobs with Kueue’s label alone pass to the webhook where the installation takes it', () => {
    const [configuration] = ofKind(
      renderChart('manager', ...USERS, 'config.kueueQueueLabel=true'),
      'MutatingWebhookConfiguration',
    ) as unknown as { webhooks: object[] }[];
    expect(configuration?.webhooks[0]).toMatchObject({ matchConditions: matchConditions('Mutating', identities, true) });
    expect(configuration?.webhooks[0]).not.toHaveProperty('objectSelector');
  });

  const SHIPPED_KINDS = [...SHIPPED.values()].map(({ spec }) => spec);
  const OWN_KIND = { group: 'example.com', resource: 'crews' };
  test.each([
    ['of Jobs alone', [], []],
    ['of some kinds', ['kinds={RayJob,JobSet}'], SHIPPED_KINDS.filter(({ kind }) => kind === 'JobSet' || kind === 'RayJob')],
    [
      'of all kinds and one more',
      [`kinds={${SHIPPED_KINDS.map(({ kind }) => kind).join(',')}}`, 'ownKinds={crews.example.com}'],
      [...SHIPPED_KINDS, OWN_KIND],
    ],
    ['of a kind of the user’s own', ['ownKinds={crews.example.com}'], [OWN_KIND]],
  ])('are policies, %s', (_what, values, kinds) => {
    const objects = renderChart('manager', ...USERS, ...values);
    const expected = admissionPolicies('test-switchyard-manager', identities, kinds);
    for (const kind of ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding']) {
      const those = expected.filter((object) => object.kind === kind);
      expect(specsOf(objects, kind)).toEqual(those.map(({ spec }) => spec));
      expect(ofKind(objects, kind).map(({ metadata }) => metadata.name)).toEqual(those.map(({ metadata }) => metadata.name));
    }
  });

  test('are no policies where the API server does not offer them, or nobody wants them', () => {
    expect(ofKind(renderChart('manager', 'admissionPolicy.enabled=false'), 'ValidatingAdmissionPolicy')).toEqual([]);
    expect(ofKind(renderChart('manager', 'admissionPolicy.enabled=false'), 'ValidatingAdmissionPolicyBinding')).toEqual([]);
    const without = helm('template', 'test', CHARTS.manager, '--kube-version', '1.36.0');
    expect(without).not.toContain('ValidatingAdmissionPolicy');
  });
});

describe('what the manager chart passes to the program', () => {
  test('is taken by it', () => {
    expect(managerConfig()).toEqual({
      kubeconfig: undefined,
      redis: undefined,
      redisPrefix: 'bull',
      submissionQueue: '',
      submissionNamespaces: ['default'],
      allowManagerIdentity: false,
      concurrentSubmissions: 50,
      storyEventQps: 5,
      metricsLocalQueuesMax: 1_000,
      tracing: { otlpEndpoint: undefined, traceRatio: 1, pods: false },
      managerId: undefined,
      leaderElection: { namespace: 'switchyard', name: 'test-switchyard-manager', leaseDurationMs: 3_000 },
      recordKeySecret: { namespace: 'switchyard', name: 'test-switchyard-manager-record-key' },
      metricsAddress: '0.0.0.0:8080',
      metricsAuthentication: true,
      webhook: { address: '0.0.0.0:9443', tls: 'Own', shutdownDelayMs: 10_000 },
      certificateSecret: {
        secret: { namespace: 'switchyard', name: 'test-switchyard-manager-webhook-tls' },
        configuration: 'test-switchyard-manager',
      },
      knownUsers: { managers: [], localWorkers: [] },
      home: { qps: 100, burst: 200 },
      worker: { qps: 50, burst: 100 },
      submissions: { qps: 300, burst: 300 },
      workerAddressDeny: ['169.254.0.0/16', 'fe80::/10', 'fd00:ec2::254/128', '127.0.0.0/8', '::1/128'],
      workerMemoryBytes: 32 * 1024 * 1024,
      workerLostTimeoutMs: 900_000,
      requeuingTimestamp: 'Eviction',
      concurrentDispatches: 16,
      renewIntervalMs: 10_000,
      tokenLifeMs: 86_400_000,
      clusterSecretsNamespace: 'switchyard',
      fairSharing: undefined,
      admissionFairSharing: undefined,
      defaultPlacement: 'LeastRoom',
      history: {
        store: { kind: 'Directory', path: '/var/lib/switchyard/history' },
        limits: { ageMs: 30 * 24 * 3_600_000, bytesMax: 512 * 1024 * 1024 },
      },
      jobRules: { bytesMax: 262_144, resourceClaims: 'Refuse', kueueQueueLabel: false, deniedNamespaces: ['kube-*'] },
      carryNamespaces: [],
      podFenceImage: 'ghcr.io/switchyard/switchyard:0.1.0',
      logLevel: 'info',
    });
  });

  test('takes submissions over HTTPS where it is asked to, with the rights to ask who submits', () => {
    const open = 'metrics.authentication.enabled=false';
    const objects = renderChart('manager', 'api.enabled=true', 'api.port=9000', open);
    expect(managerConfig('api.enabled=true', 'api.port=9000').api).toEqual({ address: '0.0.0.0:9000', tls: 'Own' });
    expect(JSON.stringify(ofKind(objects, 'Service'))).toContain('"name":"api","port":9000,"targetPort":"api"');
    expect(JSON.stringify(ofKind(objects, 'ClusterRole'))).toContain('tokenreviews');
    expect(JSON.stringify(ofKind(renderChart('manager', open), 'ClusterRole'))).not.toContain('tokenreviews');
  });

  test('keeps history on a volume, in a store that all share, or not at all', () => {
    expect(managerConfig('history.enabled=false').history).toBeUndefined();
    expect(volumesOf('history.enabled=false')).toEqual(['service-account']);
    expect(volumesOf()).toEqual(['service-account', 'history emptyDir 1088Mi']);
    expect(volumesOf('history.existingClaim=mine')).toEqual(['service-account', 'history claim mine']);
    const shared = ['history.store=s3://jobs/a', 'history.credentialsSecret=keys', 'history.maxAge=24h'];
    expect(managerConfig(...shared).history).toMatchObject({ store: { kind: 'S3', bucket: 'jobs' }, limits: { ageMs: 24 * 3_600_000 } });
    expect(volumesOf(...shared)).toEqual(['service-account', 'history-credentials']);
    const { env = [] } = containerOf(renderChart('manager', ...shared));
    expect(env).toEqual([]);
    expect(managerConfig(...shared).history?.credentialsDirectory).toBe('/etc/switchyard/history-credentials');
    const elsewhere = ['history.storeSecret=where', 'history.credentialsSecret=keys'];
    expect(managerConfig(...elsewhere).history).toMatchObject({
      store: { kind: 'File', path: '/etc/switchyard/history-store/url' },
      credentialsDirectory: '/etc/switchyard/history-credentials',
    });
    expect(volumesOf(...elsewhere)).toEqual(['service-account', 'history-store', 'history-credentials']);
    expect(containerOf(renderChart('manager', ...elsewhere)).env ?? []).toEqual([]);
    const password = renderChart('manager', 'history.store=redis://:hunter2@r');
    expect([JSON.stringify(ofKind(password, 'Deployment')).includes('hunter2'), containerOf(password).env ?? []]).toEqual([false, []]);
  });

  test('takes submissions over HTTP where it is let, from those whom the cluster knows', () => {
    const off = renderChart('manager');
    expect([managerConfig().api, JSON.stringify(off).includes('-manager-submitter')]).toEqual([undefined, false]);
    const certificate = (of: string) => ({ certFile: `/etc/switchyard/${of}/tls.crt`, keyFile: `/etc/switchyard/${of}/tls.key` });
    expect(managerConfig('api.enabled=true').api).toEqual({ address: '0.0.0.0:8443', tls: 'Own' });
    const existing = ['webhook.tls.existingSecret=mine', 'webhook.tls.caBundle=Y2E=', 'metrics.tls.enabled=true'];
    expect(managerConfig('api.enabled=true', ...existing)).toMatchObject({
      api: { tls: certificate('webhook-tls') },
      webhook: { tls: certificate('webhook-tls') },
      metricsTls: certificate('webhook-tls'),
    });
    expect(managerConfig('metrics.tls.enabled=true').metricsTls).toBe('Own');
    expect(managerConfig('metrics.tls.enabled=true', 'metrics.tls.existingSecret=own').metricsTls).toEqual(certificate('metrics-tls'));
    expect(managerConfig('api.enabled=true', 'api.port=9000', 'api.tls.existingSecret=own').api).toEqual({
      address: '0.0.0.0:9000',
      tls: certificate('api-tls'),
    });
    expect(
      [volumesOf('api.enabled=true'), volumesOf('api.enabled=true', 'api.tls.existingSecret=own')].map(([, second]) => second),
    ).toEqual(['history emptyDir 1088Mi', 'api-tls']);
    const on = renderChart('manager', 'api.enabled=true');
    const [service] = ofKind(on, 'Service') as unknown as { spec: { ports: { name: string; port: number }[] } }[];
    expect(service?.spec.ports).toContainEqual({ name: 'api', port: 8443, targetPort: 'api' });
    const rules = rulesOf(on, 'ClusterRole').map(({ resources, verbs }) => `${verbs.join(',')} ${resources.join(',')}`);
    for (const rule of ['create tokenreviews', 'create subjectaccessreviews'])
      expect(rules.filter((each) => each === rule)).toEqual([rule]);
    expect(JSON.stringify(ofKind(on, 'ClusterRole').find(({ metadata }) => metadata.name.endsWith('-submitter'))?.['rules'])).toContain(
      '"submissionqueues/submissions"',
    );
  });

  test('names the users that its webhook knows beside its own', () => {
    const users = ['localWorker.users={system:serviceaccount:switchyard:worker}', 'config.otherManagers={hub}'];
    expect(managerConfig('localWorker.enabled=true', ...users).knownUsers).toEqual({
      managers: ['hub'],
      localWorkers: ['system:serviceaccount:switchyard:worker'],
    });
    expect(() => renderChart('manager', 'localWorker.enabled=true')).toThrow(/localWorker\.users must name the user that the worker/);
  });

  test('denies worker clusters no address where the list is empty, and those of the program’s default where there is none', () => {
    expect(managerConfig('config.workerAddressDeny:=[]').workerAddressDeny).toEqual([]);
    expect(managerConfig('config.workerAddressDeny=null').workerAddressDeny).toEqual(['169.254.0.0/16', 'fe80::/10', 'fd00:ec2::254/128']);
  });

  test('denies no namespace where the list is empty, and those that it names', () => {
    expect(managerConfig('config.deniedNamespaces:=[]').jobRules.deniedNamespaces).toEqual([]);
    expect(managerConfig('config.deniedNamespaces={kube-*,vault}').jobRules.deniedNamespaces).toEqual(['kube-*', 'vault']);
    expect(workerConfig('config.deniedNamespaces:=[]').deniedNamespaces).toEqual([]);
    expect(workerConfig('config.deniedNamespaces={kube-*,vault}').deniedNamespaces).toEqual(['kube-*', 'vault']);
  });

  test('says what the values say', () => {
    const config = managerConfig(
      'config.managerId=prod',
      'config.kubeApiQps=0',
      'config.kubeApiBurst=7',
      'config.workerApiQps=25',
      'config.workerApiBurst=8',
      'config.workerAddressDeny={10.0.0.0/8,::1/128}',
      'config.maxJobBytes=5000000',
      'config.resourceClaims=Ignore',
      'config.kueueQueueLabel=true',
      'config.workerMemoryLimit=64',
      'config.fenceRenewInterval=2s',
      'config.fairSharing.enabled=true',
      'config.fairSharing.preemptionStrategies={LessThanInitialShare}',
      'config.admissionFairSharing.halfLife=168h',
      'config.admissionFairSharing.resourceWeights.cpu=2',
      'config.admissionFairSharing.resourceWeights.memory=1e-10',
      'config.submissionQueue=jobs',
      'config.logLevel=warn',
      'webhook.port=8443',
      'metrics.port=9000',
      'extraArgs={--concurrent-dispatches=4}',
      'extraEnv[0].name=SWITCHYARD_REDIS_PREFIX,extraEnv[0].value=mine',
    );
    expect(config).toMatchObject({
      managerId: 'prod',
      jobRules: { bytesMax: 5_000_000, resourceClaims: 'Ignore', kueueQueueLabel: true },
      redisPrefix: 'mine',
      home: { qps: 0, burst: 7 },
      worker: { qps: 25, burst: 8 },
      workerAddressDeny: ['10.0.0.0/8', '::1/128'],
      workerMemoryBytes: 64 * 1024 * 1024,
      fairSharing: { preemptionStrategies: ['LessThanInitialShare'] },
      admissionFairSharing: {
        halfLifeMs: 168 * 3_600_000,
        samplingIntervalMs: 300_000,
        resourceWeights: new Map([
          ['cpu', 2],
          ['memory', 1e-10],
        ]),
      },
      submissionQueue: 'jobs',
      logLevel: 'warn',
      webhook: { address: '0.0.0.0:8443' },
      metricsAddress: '0.0.0.0:9000',
      metricsAuthentication: true,
      concurrentDispatches: 4,
      renewIntervalMs: 2_000,
    });
  });

  test('is a plain number where a value is large, though YAML makes it a float', () => {
    const text = helm('template', 'test', CHARTS.manager, '--kube-version', '1.36.0', '--set-json', 'config.kubeApiBurst=2000000');
    expect(text).toContain('--kube-api-burst=2000000"\n');
  });

  test('reads the Redis URL from the file of its Secret, and has it in no environment variable', () => {
    const { env, args } = containerOf(renderChart('manager', 'redis.existingSecret=redis'));
    expect([env, args.filter((arg) => arg.startsWith('--redis'))]).toEqual([undefined, ['--redis-url-file=/etc/switchyard/redis-url/url']]);
    expect(managerConfig('redis.existingSecret=redis').redis).toEqual({
      servers: { kind: 'Single', urlFile: '/etc/switchyard/redis-url/url' },
    });
  });
});

describe('the worker chart', () => {
  test('with a fence or without one the worker may look at the Leases of managers: the fence of the worker before it may bind', () => {
    const leaseVerbs = (...values: string[]): string[] =>
      ofKind(renderChart('worker', ...values), 'Role')
        .filter(({ metadata }) => metadata.namespace === 'switchyard-system')
        .filter(({ metadata }) => metadata.name === 'test-switchyard-worker-leases')
        .flatMap((role) => role['rules'] as { resources: string[]; verbs: string[] }[])
        .flatMap(({ resources, verbs }) => (resources.includes('leases') ? verbs : []));
    expect(leaseVerbs()).toEqual(['get', 'list', 'watch', 'create', 'update']);
    expect(leaseVerbs('config.fenceAfter=0')).toEqual(leaseVerbs());
  });

  test('it may read logs and write ConfigMaps only when it keeps the ends of logs', () => {
    const onLogs = (...values: string[]): string[] =>
      (['ClusterRole', 'Role'] as const).flatMap((kind) =>
        rulesOf(renderChart('worker', 'managerAccess.create=false', ...values), kind)
          .filter(({ resources }) => resources.some((each) => each === 'pods/log' || each === 'configmaps'))
          .map(({ resources, verbs }) => `${kind}: ${verbs.join()} ${resources.join()}`),
      );
    expect(onLogs()).toEqual(['ClusterRole: get pods/log', 'Role: list,create,patch,delete configmaps']);
    expect(onLogs('config.keepLogs=None')).toEqual([]);
  });

  test('it may delete Jobs only when it runs the TTL controller', () => {
    const jobVerbs = (...values: string[]): string[] =>
      rulesOf(renderChart('worker', 'managerAccess.create=false', ...values), 'ClusterRole').find(({ resources }) =>
        resources.includes('jobs'),
      )?.verbs ?? [];
    expect(jobVerbs()).not.toContain('delete');
    expect(jobVerbs('config.controllers={job,ttl-after-finished}')).toContain('delete');
  });

  test('the program takes what the chart passes, and reads the values from it', () => {
    expect(workerConfig()).toEqual({
      kubeconfig: undefined,
      context: undefined,
      controllerName: 'switchyard.dev/worker',
      controllers: ['job'],
      concurrentJobSyncs: 5,
      concurrentTtlSyncs: 5,
      batchPeriodMs: 1000,
      namespaces: [],
      deniedNamespaces: ['kube-*'],
      fenceAfterMs: 60_000,
      leaseNamespace: 'switchyard-system',
      keepLogs: 'Failed',
      logTailBytes: 65_536,
      kubeApiQps: 50,
      kubeApiBurst: 100,
      leaderElection: { namespace: 'switchyard', name: 'test-switchyard-worker', leaseDurationMs: 3_000 },
      metricsAddress: '0.0.0.0:8080',
      metricsAuthentication: true,
      logLevel: 'info',
    });
    const config = workerConfig(
      'config.controllerName=kubernetes.io/job-controller',
      'config.controllers={job,ttl-after-finished}',
      'config.concurrentJobSyncs=9',
      'config.namespaces={team-a,team-b}',
      'config.kubeApiQps=7',
      'config.fenceAfter=2m',
      'config.leaseNamespace=switchyard',
      'config.logLevel=debug',
      'metrics.port=9000',
      'fullnameOverride=jobs',
      'extraArgs={--job-batch-period=250ms}',
      'extraEnv[0].name=SWITCHYARD_CONCURRENT_TTL_AFTER_FINISHED_SYNCS,extraEnv[0].value=7',
    );
    expect(config).toMatchObject({
      controllerName: 'kubernetes.io/job-controller',
      controllers: ['job', 'ttl-after-finished'],
      concurrentJobSyncs: 9,
      concurrentTtlSyncs: 7,
      batchPeriodMs: 250,
      namespaces: ['team-a', 'team-b'],
      kubeApiQps: 7,
      fenceAfterMs: 120_000,
      leaseNamespace: 'switchyard',
      // Another one than the Lease by which the worker says that it is alive.
      leaderElection: { namespace: 'switchyard', name: 'jobs-leader' },
      metricsAddress: '0.0.0.0:9000',
      metricsAuthentication: true,
      logLevel: 'debug',
    });
  });
});
