/**
 * What a platform engineer expects of the charts beside their programs: availability, networks, Redis, roles, and values that cannot
 * contradict themselves.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { CHARTS, ofKind, renderChart, type Chart, type Rendered } from '../../support/helm.ts';

const BOTH: readonly Chart[] = ['manager', 'worker'];
type PodSpec = {
  [field: string]: unknown;
  containers: { [field: string]: unknown; args: string[]; env?: object[] }[];
  volumes: { name: string }[];
};
type Deployment = {
  spec: { replicas: number; strategy: object; template: { metadata: { labels: object; annotations?: object }; spec: PodSpec } };
};
const deploymentOf = (objects: readonly Rendered[]): Deployment['spec'] =>
  (ofKind(objects, 'Deployment').find(({ metadata }) => !metadata.name.endsWith('-redis')) as unknown as Deployment).spec;
const podOf = (chart: Chart, ...values: string[]): PodSpec => deploymentOf(renderChart(chart, ...values)).template.spec;
const one = (objects: readonly Rendered[], kind: string): Rendered => {
  const [object, ...more] = ofKind(objects, kind);
  if (object === undefined || more.length > 0) throw new Error(`${more.length + (object ? 1 : 0)} of kind ${kind}`);
  return object;
};

/** Of the program of the chart. */
const networkPolicyOf = (chart: Chart, ...values: string[]): Rendered =>
  one(
    renderChart(chart, ...values).filter(({ metadata }) => metadata.name === `test-switchyard-${chart}`),
    'NetworkPolicy',
  );

test('what both charts have in common is the same file in both', () => {
  for (const file of ['_pod.tpl', '_flags.tpl', '_network.tpl', 'monitors.yaml', 'pod-disruption-budget.yaml', 'extra-objects.yaml']) {
    const [manager, worker] = BOTH.map((chart) => readFileSync(path.join(CHARTS[chart], 'templates', file), 'utf8'));
    expect([file, worker]).toEqual([file, manager]);
  }
});

describe.each(BOTH)('the %s', (chart) => {
  const name = `test-switchyard-${chart}`;
  const selector = { 'app.kubernetes.io/name': `switchyard-${chart}`, 'app.kubernetes.io/instance': 'test' };

  test('is there twice, on nodes and zones apart, of which one at most is evicted or replaced at a time', () => {
    const objects = renderChart(chart);
    const { replicas, strategy, template } = deploymentOf(objects);
    expect([replicas, strategy]).toEqual([2, { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } }]);
    expect(one(objects, 'PodDisruptionBudget')['spec']).toEqual({
      maxUnavailable: 1,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector: { matchLabels: selector },
    });
    expect(template.spec).toMatchObject({
      affinity: {
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 100, podAffinityTerm: { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: selector } } },
          ],
        },
      },
      topologySpreadConstraints: [{ topologyKey: 'topology.kubernetes.io/zone', maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway' }],
    });
  });

  test('one replica has no budget, which would keep its node from being drained', () => {
    expect(ofKind(renderChart(chart, 'replicaCount=1'), 'PodDisruptionBudget')).toEqual([]);
    expect(ofKind(renderChart(chart, 'podDisruptionBudget.enabled=false'), 'PodDisruptionBudget')).toEqual([]);
    const atLeast = one(renderChart(chart, 'replicaCount=4', 'podDisruptionBudget.minAvailable=50%'), 'PodDisruptionBudget')['spec'];
    expect(atLeast).toMatchObject({ minAvailable: '50%' });
    expect(atLeast).not.toHaveProperty('maxUnavailable');
  });

  test('is alive when it answers, ready when it has what it needs, and has time to end', () => {
    const { containers, terminationGracePeriodSeconds } = podOf(chart, 'livenessProbe.periodSeconds=7');
    expect(containers[0]).toMatchObject({
      startupProbe: { httpGet: { path: '/healthz', port: 'metrics' }, periodSeconds: 2, failureThreshold: 60 },
      livenessProbe: { httpGet: { path: '/healthz', port: 'metrics' }, periodSeconds: 7 },
      readinessProbe: { httpGet: { path: '/readyz', port: 'metrics' } },
    });
    // A program needs 25s at most to end what it does, after the manager's webhook has served until the API servers know that it goes.
    expect(containers[0]).not.toHaveProperty('lifecycle');
    expect(terminationGracePeriodSeconds).toBeGreaterThanOrEqual(25 + (chart === 'manager' ? 10 : 0));
  });

  test('has a token of its ServiceAccount that ends after an hour, and none that is mounted by itself', () => {
    const { automountServiceAccountToken, volumes, containers } = podOf(chart, 'serviceAccount.tokenExpirationSeconds=7200');
    expect(automountServiceAccountToken).toBe(false);
    expect(volumes.find((volume) => volume.name === 'service-account')).toMatchObject({
      projected: { sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 7200 } }, { configMap: {} }, { downwardAPI: {} }] },
    });
    expect(containers[0]?.['volumeMounts']).toContainEqual({
      name: 'service-account',
      mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
      readOnly: true,
    });
  });

  test('takes what else its pods need, and the contexts of security as one wants them', () => {
    const { spec, metadata } = deploymentOf(
      renderChart(
        chart,
        'hostNetwork=true',
        'priorityClassName=system-cluster-critical',
        'imagePullSecrets[0].name=registry',
        'podSecurityContext.runAsUser=null',
        'podSecurityContext.fsGroup=7',
        'securityContext.capabilities.add={NET_BIND_SERVICE}',
        'extraEnv[0].name=A,extraEnv[0].value=b',
        'extraVolumes[0].name=more,extraVolumes[0].emptyDir.sizeLimit=1Mi',
        'extraVolumeMounts[0].name=more,extraVolumeMounts[0].mountPath=/more',
        'affinity.nodeAffinity:={}',
        'podLabels.team=batch',
        'podAnnotations.note=x',
      ),
    ).template;
    expect(spec).toMatchObject({
      hostNetwork: true,
      dnsPolicy: 'ClusterFirstWithHostNet',
      priorityClassName: 'system-cluster-critical',
      imagePullSecrets: [{ name: 'registry' }],
      affinity: { nodeAffinity: {} },
    });
    expect(spec.affinity).not.toHaveProperty('podAntiAffinity');
    expect(spec.securityContext).toEqual({ runAsNonRoot: true, runAsGroup: 1000, fsGroup: 7, seccompProfile: { type: 'RuntimeDefault' } });
    expect(spec.containers[0]).toMatchObject({
      env: [{ name: 'A', value: 'b' }],
      securityContext: { capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] }, readOnlyRootFilesystem: true },
    });
    expect(spec.volumes).toContainEqual({ name: 'more', emptyDir: { sizeLimit: '1Mi' } });
    expect(spec.containers[0]?.['volumeMounts']).toContainEqual({ name: 'more', mountPath: '/more' });
    expect(metadata).toMatchObject({ labels: { ...selector, team: 'batch' }, annotations: { note: 'x' } });
  });

  test('on the network of its node a new pod finds its port free: the old one goes first', () => {
    expect(deploymentOf(renderChart(chart, 'hostNetwork=true')).strategy).toMatchObject({
      rollingUpdate: { maxUnavailable: 1, maxSurge: 0 },
    });
    expect(deploymentOf(renderChart(chart, 'strategy.type=Recreate')).strategy).toEqual({ type: 'Recreate' });
  });

  test('common labels are on every object and pod, and names can be chosen', () => {
    const objects = renderChart(chart, 'commonLabels.team=batch', 'fullnameOverride=jobs', 'nameOverride=short');
    const without = objects.filter(({ metadata }) => (metadata as { labels?: Record<string, string> }).labels?.['team'] !== 'batch');
    expect(without.map(({ kind, metadata }) => `${kind}/${metadata.name}`)).toEqual([]);
    const { metadata } = deploymentOf(objects).template;
    expect(metadata.labels).toEqual({ team: 'batch', 'app.kubernetes.io/name': 'short', 'app.kubernetes.io/instance': 'test' });
    expect(ofKind(objects, 'Deployment').map(({ metadata }) => metadata.name)).toEqual(
      chart === 'manager' ? ['jobs', 'jobs-certificates'] : ['jobs'],
    );
  });

  test('further objects go with the release, with templates in them', () => {
    const objects = renderChart(
      chart,
      'extraObjects:=[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"{{ .Release.Name }}-a"}},"{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}"]',
    );
    expect(ofKind(objects, 'ConfigMap').map(({ metadata }) => metadata.name)).toEqual(['test-a', 'b']);
  });

  test.each([
    [
      'podLabels.app\\.kubernetes\\.io/name=x',
      /podLabels\.app\.kubernetes\.io\/name is the chart's own, by which the Deployment knows its pods/,
    ],
    ['commonLabels.app\\.kubernetes\\.io/instance=x', /commonLabels\.app\.kubernetes\.io\/instance is the chart's own/],
    ['commonLabels.helm\\.sh/chart=x', /commonLabels\.helm\.sh\/chart is the chart's own: leave it out/],
    ['extraEnv[0].name=A,extraEnv[1].name=A', /extraEnv: A is there twice, or is the chart's own: choose another name/],
    ['extraVolumes[0].name=service-account', /extraVolumes: service-account is there twice, or is the chart's own/],
    [
      'extraVolumeMounts[0].mountPath=/var/run/secrets/kubernetes.io/serviceaccount,extraVolumeMounts[0].name=a',
      /extraVolumeMounts: \/var\/run/,
    ],
    ['serviceMonitor.enabled=true,podMonitor.enabled=true', /would have everything scraped twice: choose one/],
  ])('%s is refused with the reason', (values, reason) => {
    expect(() => renderChart(chart, values)).toThrow(reason);
  });

  test('is scraped as the operator’s objects say, with a token where metrics ask for one', () => {
    expect(ofKind(renderChart(chart), 'ServiceMonitor')).toEqual([]);
    const monitor = one(renderChart(chart, 'serviceMonitor.enabled=true', 'serviceMonitor.additionalLabels.release=p'), 'ServiceMonitor');
    expect(monitor).toMatchObject({
      metadata: { name, namespace: 'switchyard', labels: { release: 'p' } },
      spec: {
        namespaceSelector: { matchNames: ['switchyard'] },
        selector: { matchLabels: selector },
        endpoints: [{ port: 'metrics', interval: '30s', bearerTokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token' }],
      },
    });
    // A PodMonitor takes no token from a file, so that it names a Secret.
    expect(() => renderChart(chart, 'podMonitor.enabled=true')).toThrow(/podMonitor\.enabled needs podMonitor\.endpoint\.authorization/);
    expect(renderChart(chart, 'podMonitor.enabled=true', 'metrics.authentication.enabled=false').length).toBeGreaterThan(0);
    const authorization = { credentials: { name: 'scraper', key: 'token' } };
    const values = ['name=scraper', 'key=token'].map((each) => `podMonitor.endpoint.authorization.credentials.${each}`);
    expect(one(renderChart(chart, 'podMonitor.enabled=true', ...values), 'PodMonitor')).toMatchObject({
      spec: { podMetricsEndpoints: [{ port: 'metrics', honorLabels: true, authorization }] },
    });
  });

  const policyOf = (...values: string[]) =>
    networkPolicyOf(chart, ...values)['spec'] as {
      readonly ingress: readonly object[];
      readonly egress: readonly object[];
    };
  const dns = {
    ports: [
      { port: 53, protocol: 'UDP' },
      { port: 53, protocol: 'TCP' },
    ],
    to: [
      { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } } },
      { ipBlock: { cidr: '169.254.20.10/32' } },
    ],
  };
  /** API servers are no pods: no selector finds them, so that theirs are the only ways without peers. */
  const webhook = { ports: [{ port: 9443, protocol: 'TCP' }] };
  const metricsFrom = (labels: object) => ({
    ports: [{ port: 8080, protocol: 'TCP' }],
    from: [{ namespaceSelector: { matchLabels: labels } }],
  });

  test('everything is denied but DNS, API servers, and Prometheus in its namespace, unless the policy is switched off', () => {
    const metrics = metricsFrom({ 'kubernetes.io/metadata.name': 'monitoring' });
    expect(policyOf()).toEqual({
      podSelector: { matchLabels: selector },
      policyTypes: ['Ingress', 'Egress'],
      ingress: chart === 'manager' ? [webhook, metrics] : [metrics],
      egress: [dns, { ports: [443, 6443, 8443, 16_443].map((port) => ({ port, protocol: 'TCP' })) }],
    });
    expect(ofKind(renderChart(chart, 'networkPolicy.enabled=false'), 'NetworkPolicy')).toEqual([]);
  });

  test('under a NetworkPolicy it reaches what the values name, and is reached by whom they name', () => {
    const spec = policyOf(
      'networkPolicy.metrics.from[0].namespaceSelector.matchLabels.team=observe',
      'networkPolicy.apiServer.to[0].ipBlock.cidr=10.0.0.0/16',
      'networkPolicy.apiServer.ports={6443}',
      'networkPolicy.extraEgress[0].ports[0].port=4318',
      'networkPolicy.extraIngress[0].ports[0].port=7',
    );
    expect(spec.ingress.slice(chart === 'manager' ? 1 : 0)).toEqual([metricsFrom({ team: 'observe' }), { ports: [{ port: 7 }] }]);
    expect(spec.egress).toEqual([
      dns,
      { ports: [{ port: 6443, protocol: 'TCP' }], to: [{ ipBlock: { cidr: '10.0.0.0/16' } }] },
      { ports: [{ port: 4318 }] },
    ]);
  });

  test('of a NetworkPolicy an empty list is nobody, the word anywhere is anybody, and without an API server nothing is rendered', () => {
    const own = chart === 'manager' ? [webhook] : [];
    expect(policyOf('networkPolicy.metrics.from:=[]').ingress).toEqual(own);
    expect(policyOf('networkPolicy.metrics.from=null').ingress).toEqual(own);
    expect(policyOf('networkPolicy.metrics.from=anywhere').ingress.at(-1)).toEqual({ ports: [{ port: 8080, protocol: 'TCP' }] });
    expect(() => policyOf('networkPolicy.metrics.from=everywhere')).toThrow(/networkPolicy\.metrics\.from/);
    expect(() => policyOf('networkPolicy.metrics.from:=[{}]')).toThrow(/networkPolicy\.metrics\.from/);
    expect(() => policyOf('networkPolicy.apiServer.to:=[]')).toThrow(/networkPolicy\.apiServer\.to/);
    expect(() => policyOf('networkPolicy.apiServer.to=null')).toThrow(
      /say where the API servers? .*to be reached, by peers or by the word anywhere/,
    );
  });
});

test('switchyard-certificates is no pod of the manager’s Service, is reached by nobody, and reaches DNS and the API server alone', () => {
  const labels = { 'app.kubernetes.io/name': 'switchyard-manager-certificates', 'app.kubernetes.io/instance': 'test' };
  const named = renderChart('manager', 'commonLabels.team=batch').filter(({ metadata }) => metadata.name.endsWith('-certificates'));
  expect(one(named, 'Deployment')['spec']).toMatchObject({
    replicas: 1,
    selector: { matchLabels: labels },
    template: { metadata: { labels: { ...labels, team: 'batch' } } },
  });
  const { ingress, egress } = one(named, 'NetworkPolicy')['spec'] as { ingress?: unknown[]; egress: Egress[] };
  expect([ingress, egress.map(({ ports }) => ports.map(({ port }) => port))]).toEqual([
    undefined,
    [
      [53, 53],
      [443, 6443, 8443, 16_443],
    ],
  ]);
  const [service] = ofKind(renderChart('manager'), 'Service') as unknown as { spec: { selector: object } }[];
  expect(service?.spec.selector).toEqual({ ...labels, 'app.kubernetes.io/name': 'switchyard-manager' });
});

type Egress = { readonly ports: readonly { readonly port: number }[]; readonly to?: readonly object[] };
/** DNS and API servers come first. */
const egressOf = (chart: Chart, ...values: string[]): Egress[] =>
  (networkPolicyOf(chart, ...values)['spec'] as { egress: Egress[] }).egress;

describe('Redis', () => {
  /** Volume, mount and flag of the file that holds the URL. */
  const urlOf = (objects: readonly Rendered[]): unknown => {
    const { containers, volumes } = deploymentOf(objects).template.spec;
    const isUrl = ({ name }: { readonly name: string }): boolean => name === 'redis-url';
    const found = [
      ...volumes.filter(isUrl),
      ...((containers[0]?.volumeMounts ?? []) as { name: string }[]).filter(isUrl),
      ...(containers[0]?.args ?? []).filter((arg) => arg.startsWith('--redis-url')),
    ];
    expect(JSON.stringify(containers[0]?.env ?? [])).not.toContain('REDIS');
    return found.length === 0 ? undefined : found;
  };
  const fromSecret = (secretName: string, key = 'url') => [
    { name: 'redis-url', secret: { secretName, items: [{ key, path: 'url' }] } },
    { name: 'redis-url', mountPath: '/etc/switchyard/redis-url', readOnly: true },
    '--redis-url-file=/etc/switchyard/redis-url/url',
  ];
  const secretOf = (objects: readonly Rendered[]): string => {
    const secret = ofKind(objects, 'Secret').find(({ metadata }) => metadata.name === 'test-switchyard-manager-redis');
    return Buffer.from((secret?.['data'] as { url: string } | undefined)?.url ?? '', 'base64').toString();
  };

  test('may be absent', () => {
    const objects = renderChart('manager');
    expect([urlOf(objects), secretOf(objects)]).toEqual([undefined, '']);
  });

  test('has its URL in a Secret, and a new one makes new pods; nothing of it stands in the Deployment', () => {
    const objects = renderChart('manager', 'redis.url=rediss://user:pa55word@redis:6380/2');
    expect([urlOf(objects), secretOf(objects)]).toEqual([
      fromSecret('test-switchyard-manager-redis'),
      'rediss://user:pa55word@redis:6380/2',
    ]);
    expect(JSON.stringify(ofKind(objects, 'Deployment'))).not.toContain('pa55word');
    const sums = ['redis://a', 'redis://b', 'redis://a'].map((url) =>
      JSON.stringify(deploymentOf(renderChart('manager', `redis.url=${url}`)).template.metadata.annotations),
    );
    expect([new Set(sums).size, sums[0] === sums[2]]).toEqual([2, true]);
  });

  test('is named by somebody’s Secret, by sentinels or by nodes of a cluster, with passwords and certificates in files', () => {
    expect(urlOf(renderChart('manager', 'redis.existingSecret=mine', 'redis.existingSecretKey=address'))).toEqual(
      fromSecret('mine', 'address'),
    );
    const { containers, volumes } = podOf(
      'manager',
      'redis.sentinels={a:26379,b:26379}',
      'redis.sentinelName=main',
      'redis.username=manager',
      'redis.passwordSecret=password',
      'redis.sentinelPasswordSecret=other',
      'redis.tls.existingSecret=ca',
      'redis.tls.clientCertificate=true',
    );
    expect(containers[0]?.args.filter((arg) => arg.startsWith('--redis'))).toEqual([
      '--redis-password-file=/etc/switchyard/redis-password/password',
      '--redis-sentinel-password-file=/etc/switchyard/redis-sentinel-password/password',
      '--redis-tls-ca-file=/etc/switchyard/redis-tls/ca.crt',
      '--redis-tls-cert-file=/etc/switchyard/redis-tls/tls.crt',
      '--redis-tls-key-file=/etc/switchyard/redis-tls/tls.key',
      '--redis-sentinels=a:26379,b:26379',
      '--redis-sentinel-name=main',
      '--redis-username=manager',
    ]);
    expect(volumes).toEqual(
      expect.arrayContaining([
        { name: 'redis-password', secret: { secretName: 'password' } },
        { name: 'redis-sentinel-password', secret: { secretName: 'other' } },
        { name: 'redis-tls', secret: { secretName: 'ca' } },
      ]),
    );
  });

  test('for an evaluation comes with the chart, in a pod as restricted as all others, and only the manager’s pods are the manager’s', () => {
    const objects = renderChart('manager', 'redis.evaluation.enabled=true');
    expect([urlOf(objects), secretOf(objects)]).toEqual([
      fromSecret('test-switchyard-manager-redis'),
      'redis://test-switchyard-manager-redis.switchyard.svc:6379',
    ]);
    const redis = ofKind(objects, 'Deployment').find(({ metadata }) => metadata.name.endsWith('-redis')) as unknown as Deployment;
    expect(redis.spec.template.spec).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [{ securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } }],
    });
    expect(redis.spec.template.metadata.labels).toMatchObject({ 'app.kubernetes.io/name': 'switchyard-manager-redis' });
    const [own, ofRedis] = ['test-switchyard-manager', 'test-switchyard-manager-redis'].map(
      (name) =>
        ofKind(objects, 'NetworkPolicy').find(({ metadata }) => metadata.name === name)?.['spec'] as {
          ingress: object[];
          egress: object[];
        },
    );
    expect(own?.egress.at(-1)).toMatchObject({
      ports: [{ port: 6379, protocol: 'TCP' }],
      to: [{ podSelector: { matchLabels: { 'app.kubernetes.io/name': 'switchyard-manager-redis' } } }],
    });
    expect(ofRedis).toMatchObject({ ingress: [{ ports: [{ port: 6379, protocol: 'TCP' }] }], egress: [] });
  });

  test('is let through a NetworkPolicy at the ports that its addresses name', () => {
    const portsOf = (...values: string[]): number[] =>
      egressOf('manager', ...values)
        .slice(2)
        .flatMap(({ ports }) => ports.map(({ port }) => port));
    expect(portsOf()).toEqual([]);
    expect(portsOf('redis.url=rediss://user:6@redis:6380/2')).toEqual([6379, 6380]);
    expect(portsOf('redis.clusterNodes={a:7000,b:7001}', 'networkPolicy.redis.ports={7002}')).toEqual([7000, 7001, 7002]);
  });

  test.each([
    [[], []],
    [['history.store=s3://jobs/a'], [443]],
    [['history.store=s3://jobs/a?endpoint=https%3A%2F%2Fminio:9000&region=a'], [9000]],
    [['history.store=s3://jobs?region=a&endpoint=http://minio'], [80]],
    [['history.store=redis://a:6@redis/2'], [6379]],
    [['history.store=rediss://:p@redis:6380/2?prefix=h:7'], [6380]],
    [['history.storeSecret=where'], [443, 6379]],
    [['history.storeSecret=where', 'networkPolicy.history.ports={9000}'], [9000]],
    [['history.storeSecret=where', 'history.enabled=false'], []],
    [['config.otlpEndpoint=http://collector:4318'], [4318]],
    [['config.otlpEndpoint=https://collector/otlp'], [443]],
  ])('and what else is outside of the pod is let through: %j', (values, expected) => {
    const [rule, ...more] = egressOf('manager', ...values).slice(2);
    expect(rule?.ports.map(({ port }) => port) ?? []).toEqual(expected);
    expect(more).toEqual([]);
  });

  test('each of them only where it is, if that is said', () => {
    const values = ['history.store=s3://jobs', 'config.otlpEndpoint=http://a:4318', 'redis.url=redis://redis'];
    const peers = ['history', 'otlp', 'redis'].map((name, at) => `networkPolicy.${name}.to[0].ipBlock.cidr=10.0.${at}.0/24`);
    expect(egressOf('manager', ...values, ...peers).slice(2)).toEqual([
      { ports: [{ port: 6379, protocol: 'TCP' }], to: [{ ipBlock: { cidr: '10.0.2.0/24' } }] },
      { ports: [{ port: 443, protocol: 'TCP' }], to: [{ ipBlock: { cidr: '10.0.0.0/24' } }] },
      { ports: [{ port: 4318, protocol: 'TCP' }], to: [{ ipBlock: { cidr: '10.0.1.0/24' } }] },
    ]);
    expect(egressOf('worker', 'config.otlpEndpoint=http://a:4318', peers[1] ?? '').slice(2)).toEqual([
      { ports: [{ port: 4318, protocol: 'TCP' }], to: [{ ipBlock: { cidr: '10.0.1.0/24' } }] },
    ]);
  });

  test('is one: two ways to it are refused, and sentinels without the name of the master', () => {
    expect(() => renderChart('manager', 'redis.url=redis://a', 'redis.existingSecret=b')).toThrow(
      /redis\.url and redis\.existingSecret name one Redis each: choose one of them/,
    );
    expect(() => renderChart('manager', 'redis.evaluation.enabled=true', 'redis.clusterNodes={a:1}')).toThrow(/choose one of them/);
    expect(() => renderChart('manager', 'redis.sentinels={a:1}')).toThrow(/redis\.sentinels needs redis\.sentinelName/);
  });

  test('as a store of history has its password in a Secret, too', () => {
    const objects = renderChart('manager', 'history.store=redis://:pa55word@redis:6379');
    expect(JSON.stringify(ofKind(objects, 'Deployment'))).not.toContain('pa55word');
    expect(ofKind(objects, 'Secret').map(({ metadata }) => metadata.name)).toContain('test-switchyard-manager-history');
  });
});

test.each(['manager', 'worker'] as const)('labels of what the %s measures stay as they are when they are scraped', (chart) => {
  for (const kind of ['ServiceMonitor', 'PodMonitor']) {
    const value = `${kind[0]?.toLowerCase()}${kind.slice(1)}`;
    const [monitor] = ofKind(renderChart(chart, `${value}.enabled=true`, 'metrics.authentication.enabled=false'), kind);
    expect(JSON.stringify(monitor)).toContain('"honorLabels":true');
  }
});

describe('values that would not work', () => {
  test.each([
    [['preStopSleepSeconds=6'], /terminationGracePeriodSeconds is 40: .* make 41/],
    [['webhook.port=8080'], /metrics\.port and webhook\.port are both 8080: give each a port of its own/],
    [['api.enabled=true', 'api.port=9443'], /api\.port and webhook\.port are both 9443/],
    [['api.enabled=true', 'dashboard.enabled=true', 'dashboard.port=8443'], /api\.port and dashboard\.port are both 8443/],
    [['webhook.tls.existingSecret=mine'], /webhook\.tls\.existingSecret needs webhook\.tls\.caBundle/],
  ])('%j', (values, reason) => {
    expect(() => renderChart('manager', ...values)).toThrow(reason);
  });

  test('a port that nobody listens on is nobody’s', () => {
    expect(renderChart('manager', 'api.port=9443').length).toBeGreaterThan(0);
  });
});

describe('roles of people', () => {
  type Role = { metadata: { labels: Record<string, string> }; rules: { resources: string[]; verbs: string[] }[] };
  const roleOf = (which: string, ...values: string[]): Role =>
    ofKind(renderChart('manager', ...values), 'ClusterRole').find(
      ({ metadata }) => metadata.name === `test-switchyard-manager-${which}`,
    ) as unknown as Role;
  const aggregatedTo = ({ metadata }: Role): string[] =>
    Object.keys(metadata.labels)
      .flatMap((label) => /aggregate-to-(.*)$/.exec(label)?.[1] ?? [])
      .toSorted();

  test('are added to Kubernetes’ own: whoever views or edits a namespace sees the queues, and who edits it submits', () => {
    const [view, edit] = [roleOf('view'), roleOf('edit')];
    expect([aggregatedTo(view), aggregatedTo(edit)]).toEqual([
      ['admin', 'edit', 'view'],
      ['admin', 'edit'],
    ]);
    expect(view.rules.map(({ verbs }) => verbs)).toEqual([['get', 'list', 'watch']]);
    expect(view.rules[0]?.resources).toEqual(
      expect.arrayContaining(['localqueues', 'clusterqueues', 'workerclusters', 'submissionqueues']),
    );
    expect(edit.rules).toMatchObject([{ resources: ['submissionqueues/submissions'], verbs: ['create', 'get', 'delete'] }]);
  });

  test('queues give priorities and namespaces away, so that they are written by operators, unless tenants are let', () => {
    expect(aggregatedTo(roleOf('admin'))).toEqual([]);
    expect(aggregatedTo(roleOf('admin', 'rbac.aggregateAdmin=true'))).toEqual(['admin']);
    expect(roleOf('admin').rules.at(-1)?.verbs).toContain('create');
    expect(aggregatedTo(roleOf('view', 'rbac.aggregateClusterRoles=false'))).toEqual([]);
  });
});
