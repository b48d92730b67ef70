/** Goal: however the charts are installed, an API server takes every object as it stands, whichever Helm has rendered it. */
import { DEFAULT_LEASE_NAMESPACE } from '../../shared/api/names.ts';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES, type Resource } from '../../shared/api/resources.ts';
import { combinations, type Combination } from '../support/chart-matrix.ts';
import { type ServerUnderTest, startServerUnderTest } from '../support/server-under-test.ts';
import { FOREIGN_KINDS } from '../support/foreign-kinds.ts';
import { CHARTS, findHelms, parseRendered, setting, templateArguments, type Rendered } from '../support/helm.ts';
import { isSlow } from '../support/slow.ts';

const LIMIT_MS = 600_000;
/** Fifty ways take a minute or two for each Helm; every fifth of them is tried each time. */
const MATRIX = [...combinations('manager', 35), ...combinations('worker', 15)].filter((_, index) => isSlow || index % 5 === 0);

const kind = (group: string, name: string, namespaced = true, plural = `${name.toLowerCase()}s`): Resource => ({
  group,
  version: 'v1',
  plural,
  kind: name,
  namespaced,
});
const RBAC = 'rbac.authorization.k8s.io';
const ADMISSION = 'admissionregistration.k8s.io';
const KINDS: ReadonlyMap<string, Resource> = new Map(
  [
    CUSTOM_RESOURCE_DEFINITIONS,
    NAMESPACES,
    ...['ConfigMap', 'Secret', 'Service', 'ServiceAccount', 'Pod'].map((name) => kind('', name)),
    kind('apps', 'Deployment'),
    kind('policy', 'PodDisruptionBudget'),
    kind('networking.k8s.io', 'NetworkPolicy', true, 'networkpolicies'),
    ...['Role', 'RoleBinding'].map((name) => kind(RBAC, name)),
    ...['ClusterRole', 'ClusterRoleBinding'].map((name) => kind(RBAC, name, false)),
    ...['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration', 'ValidatingAdmissionPolicyBinding'].map((name) =>
      kind(ADMISSION, name, false),
    ),
    kind(ADMISSION, 'ValidatingAdmissionPolicy', false, 'validatingadmissionpolicies'),
    ...FOREIGN_KINDS.map(({ resource }) => resource),
  ].map((resource) => [resource.kind, resource]),
);

let cluster: ServerUnderTest;
beforeAll(async () => {
  cluster = await startServerUnderTest({ controllers: [] });
  for (const name of ['switchyard', 'monitoring', 'a', 'b', DEFAULT_LEASE_NAMESPACE])
    await cluster.client.create(NAMESPACES, { metadata: { name } });
  for (const { definition } of FOREIGN_KINDS) await cluster.client.create(CUSTOM_RESOURCE_DEFINITIONS, definition as never);
  // A definition takes a moment to be served.
  for (const { resource } of FOREIGN_KINDS) await vi.waitFor(() => cluster.client.list(resource), { timeout: 30_000 });
}, LIMIT_MS);
afterAll(() => cluster.close());

/** What an API server says against it; undefined: nothing. */
async function objection(object: Rendered): Promise<string | undefined> {
  const resource = KINDS.get(object.kind);
  if (resource === undefined) return `${object.kind} is no kind that is known here`;
  const named = `${object.kind}/${object.metadata.name}`;
  if (resource.namespaced && object.metadata.namespace === undefined && !object.metadata.name.endsWith('-more'))
    return `${named} has no namespace`;
  // A namespace that the other objects need is there already.
  const asNamed =
    object.kind === 'Namespace' ? { ...object, metadata: { ...object.metadata, name: `${object.metadata.name}-anew` } } : object;
  const inNamespace = resource.namespaced ? { ...object, metadata: { namespace: 'switchyard', ...object.metadata } } : asNamed;
  try {
    await cluster.client.create(resource, inNamespace as never, { dryRun: true, fieldValidation: 'Strict' });
    return undefined;
  } catch (error) {
    return `${named}: ${String(error)}`;
  }
}

/** The pods of a Deployment are looked at as pods, too: the template alone is defaulted and checked less. */
const podsOf = (objects: readonly Rendered[]): Rendered[] =>
  objects.flatMap((object) => {
    if (object.kind !== 'Deployment') return [];
    const { template } = object['spec'] as { template: { metadata: object; spec: object } };
    const { name, namespace } = object.metadata;
    // The ServiceAccount is one of the release, which is not installed here.
    const spec = { ...template.spec, serviceAccountName: 'default', priorityClassName: undefined };
    return [
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { ...template.metadata, name: `${name}-0`.slice(-63), ...(namespace === undefined ? {} : { namespace }) },
        spec,
      },
    ];
  });

async function objectionsTo(helm: string, { chart, values }: Combination): Promise<string[]> {
  const { stdout } = await promisify(execFile)(helm, [...templateArguments(chart), ...values.flatMap(setting)], {
    maxBuffer: 64 * 1024 * 1024,
  });
  const objects = parseRendered(stdout);
  const names = objects.map(({ kind: of, metadata }) => `${of}/${metadata.namespace ?? ''}/${metadata.name}`);
  const twice = names.filter((name, index) => names.indexOf(name) !== index).map((name) => `${name} is there twice`);
  const objections = await Promise.all([...objects, ...podsOf(objects)].map(objection));
  return [...twice, ...objections.filter((each) => each !== undefined)];
}

async function linted(helm: string, { chart, values }: Combination): Promise<string> {
  const args = ['lint', '--strict', CHARTS[chart], '--namespace', 'switchyard', ...values.flatMap(setting)];
  return (await promisify(execFile)(helm, args)).stdout;
}

describe.each(findHelms(process.env).filter((_, index) => index === 0 || isSlow))('rendered by Helm $version', ({ file }) => {
  test.each(MATRIX.map((each) => ({ ...each, way: each.values.join(' ') })))(
    '$chart with $way',
    { timeout: LIMIT_MS },
    async (combination) => {
      expect(await objectionsTo(file, combination)).toEqual([]);
      if (isSlow) expect(await linted(file, combination)).toContain('0 chart(s) failed');
    },
  );
});

test('an object that is wrong is objected to: unknown fields, bad values, kinds of others', { timeout: LIMIT_MS }, async () => {
  const wrong = (name: string, more: object) =>
    objection({ apiVersion: 'v1', kind: name, metadata: { name: 'a', namespace: 'switchyard' }, ...more });
  expect(await wrong('Service', { spec: { ports: [{ prot: 80 }] } })).toMatch(/unknown field "spec.ports\[0\].prot"/);
  expect(await wrong('NetworkPolicy', { apiVersion: 'networking.k8s.io/v1', spec: { podSelector: {}, egres: [] } })).toMatch(
    /unknown field "spec.egres"/,
  );
  expect(
    await wrong('PodDisruptionBudget', { apiVersion: 'policy/v1', spec: { selector: {}, minAvailable: 1, maxUnavailable: 1 } }),
  ).toMatch(/invalid/i);
  expect(
    await wrong('ServiceMonitor', { apiVersion: 'monitoring.coreos.com/v1', spec: { selector: {}, endpoints: [{ prot: 'a' }] } }),
  ).toMatch(/unknown field "spec.endpoints\[0\].prot"/);
});
