import { describe, expect, test } from 'vitest';
import { CHARTS, helm, ofKind, renderChart, REQUIRED_VALUES, type Chart, type Rendered } from '../../support/helm.ts';

const BOTH: readonly Chart[] = ['manager', 'worker'];
type Rule = { apiGroups: string[]; resources: string[]; verbs: string[] };
const rulesOf = (objects: readonly Rendered[], kind: 'ClusterRole' | 'Role'): Rule[] =>
  ofKind(objects, kind).flatMap((role) => role['rules'] as Rule[]);
const argsOf = (objects: readonly Rendered[]): string[] => {
  const [deployment] = ofKind(objects, 'Deployment') as unknown as { spec: { template: { spec: { containers: { args: string[] }[] } } } }[];
  return deployment?.spec.template.spec.containers[0]?.args ?? [];
};

describe.each(BOTH)('the chart of the %s', (chart) => {
  test('helm finds nothing wrong with it', () => {
    const set = REQUIRED_VALUES[chart].flatMap((value) => ['--set', value]);
    expect(helm('lint', '--strict', CHARTS[chart], ...set)).toContain('0 chart(s) failed');
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
  test('it refuses to render without a Redis, and says how to name one', () => {
    expect(() => helm('template', 'test', CHARTS.manager, '--kube-version', '1.36.0')).toThrow(
      /redis\.url or redis\.existingSecret must be set/,
    );
  });

  test('the CRDs come with it, survive its removal, and can be left out', () => {
    const crds = ofKind(renderChart('manager'), 'CustomResourceDefinition');
    expect(crds.map(({ metadata }) => metadata.name).toSorted()).toEqual([
      'clusterqueues.switchyard.dev',
      'cohorts.switchyard.dev',
      'localqueues.switchyard.dev',
      'resourceflavors.switchyard.dev',
      'workerclusters.switchyard.dev',
    ]);
    for (const { metadata } of crds) expect(metadata).toMatchObject({ annotations: { 'helm.sh/resource-policy': 'keep' } });
    expect(ofKind(renderChart('manager', 'crds.install=false'), 'CustomResourceDefinition')).toEqual([]);
  });

  test('the webhooks trust the CA of the certificate that the manager serves', () => {
    const objects = renderChart('manager');
    const [secret] = ofKind(objects, 'Secret') as unknown as { data: Record<string, string> }[];
    const hooks = [...ofKind(objects, 'MutatingWebhookConfiguration'), ...ofKind(objects, 'ValidatingWebhookConfiguration')] as unknown as {
      webhooks: { clientConfig: { caBundle: string } }[];
    }[];
    expect(hooks).toHaveLength(2);
    for (const hook of hooks) expect(hook.webhooks[0]?.clientConfig.caBundle).toBe(secret?.data['ca.crt']);
  });

  test('with cert-manager there is no secret in the release, and the CA is injected', () => {
    const objects = renderChart('manager', 'webhook.tls.certManager.enabled=true');
    expect(ofKind(objects, 'Secret')).toEqual([]);
    expect(ofKind(objects, 'Certificate')).toHaveLength(1);
    expect(ofKind(objects, 'MutatingWebhookConfiguration')[0]?.metadata).toMatchObject({
      annotations: { 'cert-manager.io/inject-ca-from': 'switchyard/test-switchyard-manager-webhook' },
    });
  });
});

describe('the worker chart', () => {
  test('it may delete Jobs only when it runs the TTL controller', () => {
    const jobVerbs = (...values: string[]): string[] =>
      rulesOf(renderChart('worker', 'managerAccess.create=false', ...values), 'ClusterRole').find(({ resources }) =>
        resources.includes('jobs'),
      )?.verbs ?? [];
    expect(jobVerbs()).not.toContain('delete');
    expect(jobVerbs('config.controllers={job,ttl-after-finished}')).toContain('delete');
  });

  test('the values reach the program as flags', () => {
    const args = argsOf(renderChart('worker', 'config.controllerName=kubernetes.io/job-controller', 'config.concurrentJobSyncs=9'));
    expect(args).toEqual(
      expect.arrayContaining(['--controller-name=kubernetes.io/job-controller', '--concurrent-job-syncs=9', '--leader-elect']),
    );
  });
});
