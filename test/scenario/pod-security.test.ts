/**
 * Goal: a namespace that enforces the Pod Security Standard `restricted` takes every pod of both charts. The embedded control plane has no
 * such admission of its own, so that the standard
 * (https://kubernetes.io/docs/concepts/security/pod-security-standards/) is a policy here; a real API server reads the label of the
 * namespace beside it.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Pod, Unsaved } from '../../shared/api/kubernetes.ts';
import { NAMESPACES, PODS, type Resource } from '../../shared/api/resources.ts';
import { type Chart, ofKind, renderChart, type Rendered } from '../support/helm.ts';
import { type ServerUnderTest, startServerUnderTest } from '../support/server-under-test.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });
const ADMISSION = 'admissionregistration.k8s.io';
const kind = (group: string, name: string, plural: string, namespaced: boolean): Resource => ({
  group,
  version: 'v1',
  plural,
  kind: name,
  namespaced,
});
const SERVICE_ACCOUNTS = kind('', 'ServiceAccount', 'serviceaccounts', true);

/** What the standard asks of a pod, as CEL, with what is said of one that has not got it. */
const RESTRICTED: Readonly<Record<string, string>> = {
  'host namespaces':
    '!(has(variables.spec.hostNetwork) && variables.spec.hostNetwork) && !(has(variables.spec.hostPID) && variables.spec.hostPID) && !(has(variables.spec.hostIPC) && variables.spec.hostIPC)', // prettier-ignore
  'host ports': 'variables.containers.all(c, !has(c.ports) || c.ports.all(p, !has(p.hostPort) || p.hostPort == 0))',
  'volume types':
    '!has(variables.spec.volumes) || variables.spec.volumes.all(v, has(v.configMap) || has(v.csi) || has(v.downwardAPI) || has(v.emptyDir) || has(v.ephemeral) || has(v.persistentVolumeClaim) || has(v.projected) || has(v.secret))', // prettier-ignore
  'privilege escalation':
    'variables.containers.all(c, has(c.securityContext) && has(c.securityContext.allowPrivilegeEscalation) && !c.securityContext.allowPrivilegeEscalation && !(has(c.securityContext.privileged) && c.securityContext.privileged))', // prettier-ignore
  'running as root':
    '(has(variables.spec.securityContext) && has(variables.spec.securityContext.runAsNonRoot) && variables.spec.securityContext.runAsNonRoot) && variables.containers.all(c, !has(c.securityContext) || !has(c.securityContext.runAsNonRoot) || c.securityContext.runAsNonRoot)', // prettier-ignore
  'user 0':
    '!(has(variables.spec.securityContext) && has(variables.spec.securityContext.runAsUser) && variables.spec.securityContext.runAsUser == 0) && variables.containers.all(c, !has(c.securityContext) || !has(c.securityContext.runAsUser) || c.securityContext.runAsUser != 0)', // prettier-ignore
  seccomp:
    'has(variables.spec.securityContext) && has(variables.spec.securityContext.seccompProfile) && variables.spec.securityContext.seccompProfile.type in ["RuntimeDefault", "Localhost"]', // prettier-ignore
  capabilities:
    'variables.containers.all(c, has(c.securityContext) && has(c.securityContext.capabilities) && has(c.securityContext.capabilities.drop) && c.securityContext.capabilities.drop.exists(d, d == "ALL") && (!has(c.securityContext.capabilities.add) || c.securityContext.capabilities.add.all(a, a == "NET_BIND_SERVICE")))', // prettier-ignore
};

let server: ServerUnderTest;
const create = (pod: Unsaved<Pod>): Promise<Pod> => server.client.create(PODS, pod, { dryRun: true });

beforeAll(async () => {
  server = await startServerUnderTest({ controllers: [], whoseControllers: 'ours' });
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await server.client.create(NAMESPACES, { metadata: { name: 'switchyard', labels } });
  await server.client.create(SERVICE_ACCOUNTS, { metadata: { namespace: 'switchyard', name: 'default' } } as never);
  await server.client.create(kind(ADMISSION, 'ValidatingAdmissionPolicy', 'validatingadmissionpolicies', false), {
    metadata: { name: 'restricted' },
    spec: {
      matchConstraints: { resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }] },
      variables: [
        { name: 'spec', expression: 'object.spec' },
        { name: 'containers', expression: 'object.spec.containers + (has(object.spec.initContainers) ? object.spec.initContainers : [])' },
      ],
      validations: Object.entries(RESTRICTED).map(([message, expression]) => ({ message: `restricted: ${message}`, expression })),
    },
  } as never);
  await server.client.create(kind(ADMISSION, 'ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings', false), {
    metadata: { name: 'restricted' },
    spec: { policyName: 'restricted', validationActions: ['Deny'], matchResources: { namespaceSelector: { matchLabels: labels } } },
  } as never);
  // An API server learns of policies by a watch, and lets writes pass until then. A real one goes by the label of the namespace at once.
  const isRefused = (): Promise<boolean> =>
    create(broken({ hostNetwork: true })).then(
      () => false,
      (error) => /restricted: |violates PodSecurity/.test(String(error)),
    );
  await vi.waitUntil(isRefused, { timeout: 60_000, interval: 100 });
});
afterAll(() => server.close());

/** A pod that is as it should be but for this. */
function broken(spec: object, container: object = {}): Unsaved<Pod> {
  const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
  return {
    metadata: { namespace: 'switchyard', name: 'broken' },
    spec: {
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [{ name: 'main', image: 'busybox', securityContext: { ...securityContext, ...container } }],
      ...spec,
    },
  } as Unsaved<Pod>;
}

test.each([
  ['host namespaces', broken({ hostPID: true })],
  ['volume types', broken({ volumes: [{ name: 'a', hostPath: { path: '/' } }] })],
  ['privilege escalation', broken({}, { allowPrivilegeEscalation: true })],
  ['running as root', broken({ securityContext: { seccompProfile: { type: 'RuntimeDefault' } } })],
  ['user 0', broken({}, { runAsUser: 0 })],
  ['seccomp', broken({ securityContext: { runAsNonRoot: true } })],
  ['capabilities', broken({}, { capabilities: { drop: ['ALL'], add: ['SYS_ADMIN'] } })],
])('the standard refuses %s', async (what, pod) => {
  await expect(create(pod)).rejects.toThrow(new RegExp(`restricted: ${what}|violates PodSecurity "restricted`));
});

/** All pods that a chart makes: those of its Deployments, and that of `helm test`. */
const podsOf = (objects: readonly Rendered[]): Unsaved<Pod>[] => [
  ...(ofKind(objects, 'Deployment') as unknown as { metadata: { name: string }; spec: { template: Pod } }[]).map(
    ({ metadata: { name }, spec: { template } }) => ({ ...template, metadata: { ...template.metadata, namespace: 'switchyard', name } }),
  ),
  ...(ofKind(objects, 'Pod') as unknown as Pod[]),
];

test.each<[Chart, number, string[]]>([
  ['manager', 2, []],
  ['worker', 1, []],
  [
    'manager',
    4,
    ['redis.evaluation.enabled=true', 'canary.queue=team/main', 'api.enabled=true', 'dashboard.enabled=true', 'metrics.tls.enabled=true'],
  ],
  ['manager', 2, ['history.existingClaim=mine', 'redis.existingSecret=mine', 'redis.tls.existingSecret=ca', 'redis.passwordSecret=p']],
  ['manager', 1, ['webhook.tls.certManager.enabled=true']],
  ['worker', 1, ['metrics.tls.enabled=true', 'metrics.tls.existingSecret=own', 'config.fenceAfter=0']],
])('a namespace that enforces it takes the pods of the %s: %i of them with %j', async (chart, count, values) => {
  const objects = renderChart(chart, ...values);
  for (const account of ofKind(objects, 'ServiceAccount'))
    await server.client.create(SERVICE_ACCOUNTS, account as never).catch((error: unknown) => {
      if (!String(error).includes('already exists')) throw error;
    });
  const pods = podsOf(objects);
  expect(pods).toHaveLength(count);
  for (const pod of pods) expect((await create(pod)).metadata.name).toBe(pod.metadata.name);
});
