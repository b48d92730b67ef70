/**
 * Goal: who installs without Helm, or by a tool that renders without a cluster, applies what the charts say now, and what the programs
 * write afterwards is no difference to it.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { SWITCHYARD_KINDS } from '../../../manager/api/kinds.ts';
import { INSTALL_MANIFESTS, installManifest } from '../../../scripts/generate-install-manifests.ts';
import type { KubeObject } from '../../../shared/api/kubernetes.ts';
import { LEASES, SECRETS, type Resource } from '../../../shared/api/resources.ts';
import { createControlPlane } from '../../../shared/controlplane/control-plane.ts';
import { createKubeClient } from '../../../shared/kube/kube-client.ts';
import { silentLogger } from '../../../shared/runtime/logger.ts';
import { seededRandom } from '../../../shared/runtime/random.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { parseRendered, type Rendered } from '../../support/helm.ts';

const FILES = Object.keys(INSTALL_MANIFESTS) as (keyof typeof INSTALL_MANIFESTS)[];
/** Five thousand lines of YAML, applied three times, on a machine that does other things as well. */
const LIMIT_MS = 240_000;
const CHARTS = path.join(import.meta.dirname, '..', '..', '..', 'charts');
const committed = (file: string): string => readFileSync(path.join(CHARTS, file), 'utf8');

test.each(FILES)('charts/%s is what its chart renders', (file) => {
  expect(committed(file), 'run node scripts/generate-install-manifests.ts').toBe(installManifest(file));
});

function resourceOf({ apiVersion, kind, metadata }: Rendered): Resource<KubeObject> {
  const [version = '', group = ''] = apiVersion.split('/').toReversed();
  const plural = kind.endsWith('y') ? `${kind.slice(0, -1).toLowerCase()}ies` : `${kind.toLowerCase()}s`;
  return { group, version, plural, kind, namespaced: metadata.namespace !== undefined };
}

const ADMISSION = { apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name: 'switchyard-manager' } };

test('both, applied in their order by a ServiceAccount, are accepted, and stay as they are beside what the programs write', {
  timeout: LIMIT_MS,
}, async () => {
  const clock = new FakeClock();
  await using stack = new AsyncDisposableStack();
  const plane = stack.adopt(await createControlPlane({ clock, random: seededRandom(1), log: silentLogger, controllers: [] }), (each) =>
    each.close(),
  );
  const client = (account?: string) =>
    createKubeClient(
      plane.transport(
        account === undefined
          ? undefined
          : {
              name: `system:serviceaccount:argocd:${account}`,
              uid: account,
              groups: ['system:serviceaccounts', 'system:authenticated'],
              extra: {},
            },
      ),
      { userAgent: 'test', clock },
    );
  const administrator = client();
  await administrator.create(
    {
      group: 'rbac.authorization.k8s.io',
      version: 'v1',
      plural: 'clusterrolebindings',
      kind: 'ClusterRoleBinding',
      namespaced: false,
    } as Resource<KubeObject>,
    {
      metadata: { name: 'argocd' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', namespace: 'argocd', name: 'controller' }],
    } as never,
  );
  const gitOps = client('controller');
  const objects = FILES.flatMap((file) => parseRendered(committed(file)));
  const apply = async (): Promise<string[]> => {
    const versions: string[] = [];
    for (const object of objects) {
      const key = { namespace: object.metadata.namespace ?? '', name: object.metadata.name };
      const applied = await gitOps.patch(resourceOf(object), key, { type: 'apply', body: object, force: true }, { fieldManager: 'argocd' });
      versions.push(`${object.kind}/${object.metadata.name} ${applied.metadata.resourceVersion}`);
    }
    return versions;
  };
  await apply();
  // What the programs write: the authority of the webhooks, their Leases, the key of records.
  for (const kind of ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']) {
    const resource = resourceOf({ ...ADMISSION, kind });
    const { webhooks } = (await administrator.get(resource, { namespace: '', ...ADMISSION.metadata })) as unknown as {
      webhooks: { name: string; clientConfig: object }[];
    };
    const trusted = webhooks.map(({ clientConfig, ...hook }) => ({ ...hook, clientConfig: { ...clientConfig, caBundle: 'LS0=' } }));
    await administrator.patch(
      resource,
      { namespace: '', ...ADMISSION.metadata },
      { type: 'merge', body: { webhooks: trusted } },
      { fieldManager: 'switchyard-certificates' },
    );
  }
  await administrator.create(LEASES, { metadata: { name: 'switchyard-manager', namespace: 'switchyard' }, spec: { holderIdentity: 'a' } });
  await administrator.create(SECRETS, { metadata: { name: 'switchyard-manager-record-key', namespace: 'switchyard' } });
  const written = await apply();
  expect(await apply()).toEqual(written);
  const hook = (await administrator.get(resourceOf({ ...ADMISSION, kind: 'MutatingWebhookConfiguration' }), {
    namespace: '',
    ...ADMISSION.metadata,
  })) as unknown as {
    webhooks: { clientConfig: { caBundle?: string } }[];
  };
  expect(hook.webhooks.map(({ clientConfig }) => clientConfig.caBundle)).toEqual(hook.webhooks.map(() => 'LS0='));
});

test.each(['switchyard-manager', 'switchyard-worker'])('Chart.yaml of %s has all that Helm and Artifact Hub show of a chart', (chart) => {
  const text = committed(`${chart}/Chart.yaml`);
  for (const field of ['home', 'icon', 'sources', 'maintainers', 'keywords', 'kubeVersion', 'description'])
    expect(text).toMatch(new RegExp(`^${field}:`, 'm'));
  expect(text).not.toMatch(/@/);
  if (chart !== 'switchyard-manager') return;
  const definitions = FILES.flatMap((file) => parseRendered(committed(file))).filter(({ kind }) => kind === 'CustomResourceDefinition');
  expect(definitions).toHaveLength(SWITCHYARD_KINDS.length);
  for (const { metadata } of definitions) expect(text).toContain(`name: ${metadata.name}\n`);
});
