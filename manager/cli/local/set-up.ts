import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import type { KubeObject, Unsaved } from '../../../shared/api/kubernetes.ts';
import {
  apiVersionOf,
  CONFIG_MAPS,
  CUSTOM_RESOURCE_DEFINITIONS,
  NAMESPACES,
  SECRETS,
  type Resource,
} from '../../../shared/api/resources.ts';
import { ApiError } from '../../../shared/kube/api-error.ts';
import type { RawClient, WriteClient } from '../../../shared/kube/client.ts';
import { sleep, systemClock } from '../../../shared/runtime/clock.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { SWITCHYARD_KINDS } from '../../api/kinds.ts';
import { WORK_KINDS, type WorkKindObject, type WorkKindSpec } from '../../api/work-kind.ts';
import { WORKER_CLUSTERS } from '../../api/worker-cluster.ts';
import { MANAGER_ADDRESS } from '../server/manager-address.ts';
import { admissionPolicies, type PolicyKind } from '../../policy/admission-policies.ts';
import {
  matchConditions,
  objectSelectorOf,
  ofInstallation,
  OVERRIDE_CONDITIONS,
  OVERRIDE_WEBHOOK,
  RESOURCE_RULES,
  resourceRulesOf,
  type WebhookKind,
} from '../../policy/webhook-conditions.ts';
import type { Identities } from '../../policy/writer.ts';
import { JOB_SET_DEFINITION, JOB_SETS } from './job-set/definition.ts';
import type { Certificate } from './webhook-certificate.ts';

const admissionKind = (kind: string, plural = `${kind.toLowerCase()}s`): Resource => ({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural,
  kind,
  namespaced: false,
});

const rbac = (kind: string, namespaced = true): Resource => ({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: `${kind.toLowerCase()}s`,
  kind,
  namespaced,
});

/** Namespace of the kubeconfig Secrets. */
export const SYSTEM_NAMESPACE = 'switchyard-system';

/** Objects of Switchyard in a namespace are for whoever has Kubernetes' own role view, edit or admin there, as the chart has it. */
const VIEW_ROLE = {
  metadata: {
    name: 'switchyard-view',
    labels: Object.fromEntries(['view', 'edit', 'admin'].map((role) => [`rbac.authorization.k8s.io/aggregate-to-${role}`, 'true'])),
  },
  rules: [
    { apiGroups: ['switchyard.dev'], resources: SWITCHYARD_KINDS.map(({ resource }) => resource.plural), verbs: ['get', 'list', 'watch'] },
  ],
};

/**
 * Of what `helm install switchyard-manager` would do on a manager cluster: the kinds, who may look at them, and the namespace of the
 * kubeconfigs. Resolves when the kinds are served.
 */
export async function installKinds(client: WriteClient & RawClient, root: string): Promise<void> {
  const folder = path.join(root, 'charts', 'switchyard-manager', 'files', 'crds');
  for (const file of readdirSync(folder).toSorted())
    await client.create(CUSTOM_RESOURCE_DEFINITIONS, parse(readFileSync(path.join(folder, file), 'utf8')) as KubeObject);
  await client.create(rbac('ClusterRole', false), VIEW_ROLE as never);
  await client.create(NAMESPACES, { metadata: { name: SYSTEM_NAMESPACE } });
  while (!(await areServed(client))) await sleep(systemClock, POLL_MS);
}

const POLL_MS = 50;

/** As the installation of JobSet brings it, on any cluster. Resolves when JobSets are served. */
export async function installJobSets(client: WriteClient & RawClient): Promise<void> {
  await client.create(CUSTOM_RESOURCE_DEFINITIONS, JOB_SET_DEFINITION as Unsaved<KubeObject>);
  while (!(await areServed(client, [JOB_SETS]))) await sleep(systemClock, POLL_MS);
}

/** Has the manager dispatch JobSets: the WorkKind of the chart, whose description it returns. */
export async function describeJobSets(client: WriteClient, root: string): Promise<WorkKindSpec> {
  const file = path.join(root, 'charts', 'switchyard-manager', 'files', 'kinds', 'jobset.yaml');
  const kind = parse(readFileSync(file, 'utf8')) as WorkKindObject;
  await client.create(WORK_KINDS, kind);
  return kind.spec;
}

/** A real API server takes a moment between taking a definition and serving it. */
export async function areServed(
  client: RawClient,
  kinds: readonly Resource[] = SWITCHYARD_KINDS.map(({ resource }) => resource),
): Promise<boolean> {
  try {
    const answers = await Promise.all(
      [...new Set(kinds.map(apiVersionOf))].map((version) => client.raw({ method: 'GET', path: `/apis/${version}` })),
    );
    const served = answers.flatMap((answer) => (JSON.parse(answer) as { resources: readonly { name: string }[] }).resources);
    return kinds.every(({ plural }) => served.some(({ name }) => name === plural));
  } catch (error) {
    // A group without a kind is no API object that is not found: the answer is a plain 404 without a reason.
    if (error instanceof ApiError && error.code === 404) return false;
    throw error;
  }
}

type LocalWebhooks = {
  readonly port: number;
  readonly certificate: Certificate;
  readonly identities: Identities;
  /** Kinds with a WorkKind. */
  readonly described?: readonly Pick<Resource, 'group' | 'plural'>[];
};

/** And the webhooks, served by a manager on this machine. */
export async function installWebhooks(
  client: WriteClient,
  { port, certificate, identities, described = [] }: LocalWebhooks,
): Promise<void> {
  const rulesOf = (kind: WebhookKind): object[] => [...RESOURCE_RULES[kind], ...described.flatMap((each) => resourceRulesOf(kind, each))];
  const called = (route: string): object => ({
    url: `https://127.0.0.1:${port}/${route}`,
    caBundle: Buffer.from(certificate.certPem).toString('base64'),
  });
  const overrideWebhook = {
    ...OVERRIDE_WEBHOOK,
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    clientConfig: called('override'),
    rules: rulesOf('Validating'),
    matchConditions: ofInstallation(OVERRIDE_CONDITIONS, identities),
  };
  for (const [kind, route] of [
    ['Mutating', 'mutate'],
    ['Validating', 'validate'],
  ] as const) {
    const configuration = {
      metadata: { name: 'switchyard' },
      webhooks: [
        {
          name: 'jobs.switchyard.dev',
          admissionReviewVersions: ['v1'],
          sideEffects: kind === 'Validating' ? 'NoneOnDryRun' : 'None',
          failurePolicy: 'Fail',
          clientConfig: called(route),
          rules: rulesOf(kind),
          ...omitUndefined({ objectSelector: objectSelectorOf(kind) }),
          matchConditions: matchConditions(kind, identities),
        },
        ...(kind === 'Validating' ? [] : [overrideWebhook]),
      ],
    };
    await client.create(admissionKind(`${kind}WebhookConfiguration`), configuration);
  }
}

/** And what holds while no manager answers: the same rules, applied by the API server itself. */
export async function installPolicies(client: WriteClient, identities: Identities, kinds: readonly PolicyKind[] = []): Promise<void> {
  for (const object of admissionPolicies('switchyard', identities, kinds)) {
    const plural = object.kind === 'ValidatingAdmissionPolicy' ? 'validatingadmissionpolicies' : undefined;
    await client.create(admissionKind(object.kind, plural), object);
  }
}

/** Makes a worker cluster known to the manager: its kubeconfig in a Secret, and a WorkerCluster that names it. */
export async function joinCluster(client: WriteClient, name: string, kubeconfig: string): Promise<void> {
  const secret = `${name}-kubeconfig`;
  await client.create(SECRETS, {
    metadata: { namespace: SYSTEM_NAMESPACE, name: secret },
    data: { kubeconfig: Buffer.from(kubeconfig).toString('base64') },
  });
  await client.create(WORKER_CLUSTERS, {
    metadata: { name },
    spec: { kubeconfigSecretRef: { namespace: SYSTEM_NAMESPACE, name: secret }, namespaces: 'Create' },
  });
}

/** Has the cluster say where the manager's HTTP API is, as the chart does. */
export async function publishManager(client: WriteClient, server: string): Promise<void> {
  const { namespace, name } = MANAGER_ADDRESS;
  await client.create(CONFIG_MAPS, { metadata: { namespace, name }, data: { server } });
  const rules = [{ apiGroups: [''], resources: ['configmaps'], resourceNames: [name], verbs: ['get'] }];
  await client.create(rbac('Role'), { metadata: { namespace, name }, rules } as never);
  await client.create(rbac('RoleBinding'), {
    metadata: { namespace, name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:authenticated' }],
  } as never);
}

/** Creates every document of a YAML file with objects of our own kinds. */
export async function createFromFile(client: WriteClient, file: string): Promise<void> {
  for (const document of parseAllDocuments(readFileSync(file, 'utf8'))) {
    const object = document.toJS() as KubeObject;
    const known = SWITCHYARD_KINDS.find(({ resource }) => resource.kind === object.kind);
    if (known === undefined) throw new Error(`${file}: ${object.kind} is none of Switchyard's kinds`);
    await client.create(known.resource, object as Unsaved<KubeObject>);
  }
}
