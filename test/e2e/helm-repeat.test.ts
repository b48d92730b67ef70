/**
 * Goal: an install that the API server stopped half way is repeated, in each way that Helm offers, and leaves nothing in the way: what
 * refuses is an admission policy, as many clusters have them. Ends with a whole installation. With SWITCHYARD_SLOW=1.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES, type Resource } from '../../shared/api/resources.ts';
import { isNotFound } from '../../shared/kube/api-error.ts';
import { CHARTS, findHelms } from '../support/helm.ts';
import { until } from '../support/installed-jobs.ts';
import { startServerUnderTest, type ServerUnderTest } from '../support/server-under-test.ts';
import { isSlow } from '../support/slow.ts';

const LIMIT_MS = 120_000;
const NAMESPACE = 'switchyard';
const REFUSED = 'localqueues.switchyard.dev';
const admission = (kind: string, plural: string): Resource => ({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural,
  kind,
  namespaced: false,
});
const POLICIES = admission('ValidatingAdmissionPolicy', 'validatingadmissionpolicies');
const BINDINGS = admission('ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings');
const DEPLOYMENTS: Resource = { group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment', namespaced: true };
const POLICY = { namespace: '', name: 'no-local-queues' };

type Definition = { metadata: { name: string }; spec: { names: { categories: string[] }; versions: object[] } };
const FOLDER = path.join(CHARTS.manager, 'files', 'crds');
const CHART_DEFINITIONS = readdirSync(FOLDER).map((file) => parse(readFileSync(path.join(FOLDER, file), 'utf8')) as Definition);

/** The API server stores no empty map and no empty list. */
const withoutEmpty = (value: object): object =>
  JSON.parse(JSON.stringify(value), (_, each: unknown) =>
    typeof each === 'object' && each !== null && Object.keys(each).length === 0 ? undefined : each,
  ) as object;

describe.skipIf(!isSlow)('an install that failed half way', () => {
  let server: ServerUnderTest;
  let home: string;

  beforeAll(async () => {
    server = await startServerUnderTest();
    home = mkdtempSync(path.join(tmpdir(), 'switchyard-helm-'));
  }, LIMIT_MS);
  afterAll(async () => {
    await server?.close();
    if (home !== undefined) rmSync(home, { recursive: true, force: true });
  });

  async function helm(file: string, ...args: readonly string[]): Promise<string> {
    const environment = {
      ...process.env,
      KUBECONFIG: server.kubeconfigFile,
      HELM_CACHE_HOME: home,
      HELM_CONFIG_HOME: home,
      HELM_DATA_HOME: home,
    };
    return (await promisify(execFile)(file, [...args, '--namespace', NAMESPACE], { env: environment })).stdout;
  }

  /** Whether the API server takes the definition now; a policy holds a moment after it was written. */
  const isRefused = async (): Promise<boolean> => {
    const definition = CHART_DEFINITIONS.find(({ metadata }) => metadata.name === REFUSED);
    const probe = server.client.create(CUSTOM_RESOURCE_DEFINITIONS, structuredClone(definition) as never, { dryRun: true });
    return probe.then(
      () => false,
      (error: unknown) => String(error).includes('no local queues here'),
    );
  };
  async function refuse(): Promise<void> {
    await server.client.create(POLICIES, {
      metadata: { name: POLICY.name },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          resourceRules: [
            { apiGroups: ['apiextensions.k8s.io'], apiVersions: ['v1'], resources: ['customresourcedefinitions'], operations: ['CREATE'] },
          ],
        },
        validations: [{ expression: `object.metadata.name != '${REFUSED}'`, message: 'no local queues here' }],
      },
    } as never);
    await server.client.create(BINDINGS, {
      metadata: { name: POLICY.name },
      spec: { policyName: POLICY.name, validationActions: ['Deny'] },
    } as never);
    await until('the policy holds', isRefused);
  }
  async function allow(): Promise<void> {
    for (const resource of [BINDINGS, POLICIES]) await server.client.delete(resource, POLICY);
    await until('the policy holds no more', async () => !(await isRefused()));
  }

  beforeEach(refuse, LIMIT_MS);
  afterEach(async () => {
    for (const { metadata } of (await server.client.list(CUSTOM_RESOURCE_DEFINITIONS)).items)
      await server.client.delete(CUSTOM_RESOURCE_DEFINITIONS, { namespace: '', name: metadata.name });
    await server.client.delete(NAMESPACES, { namespace: '', name: NAMESPACE });
    const isGone = (): Promise<boolean> =>
      server.client.get(NAMESPACES, { namespace: '', name: NAMESPACE }).then(
        () => false,
        (error: unknown) => isNotFound(error),
      );
    await until(
      'nothing is left',
      async () => (await isGone()) && (await server.client.list(CUSTOM_RESOURCE_DEFINITIONS)).items.length === 0,
    );
  }, LIMIT_MS);

  /** All definitions, as the chart has them, and the Deployment. */
  async function expectAWholeInstallation(): Promise<void> {
    const { items } = await server.client.list(CUSTOM_RESOURCE_DEFINITIONS);
    const found = new Map(items.map((each) => [each.metadata.name, (each as unknown as Definition).spec]));
    for (const { metadata, spec } of CHART_DEFINITIONS)
      expect(found.get(metadata.name), metadata.name).toMatchObject(
        withoutEmpty({ names: { categories: spec.names.categories }, versions: spec.versions }),
      );
    expect((await server.client.list(DEPLOYMENTS, { namespace: NAMESPACE })).items).toHaveLength(2);
  }

  /** The half that is there becomes that of an older chart. */
  const spoil = async (): Promise<void> => {
    const body = { spec: { names: { categories: ['of-an-older-chart'] } } };
    const { items } = await server.client.list(CUSTOM_RESOURCE_DEFINITIONS);
    expect(items.length).toBeGreaterThan(0);
    for (const { metadata } of items)
      await server.client.patch(CUSTOM_RESOURCE_DEFINITIONS, { namespace: '', name: metadata.name }, { type: 'merge', body });
  };

  const RELEASE = ['switchyard-manager', CHARTS.manager, '--create-namespace', '--wait=false'];
  const failing = (file: string, ...more: readonly string[]): Promise<unknown> =>
    expect(helm(file, 'install', ...RELEASE, ...more)).rejects.toThrow('no local queues here');

  test.each(findHelms(process.env))(
    'is repeated by `helm upgrade --install`, and first tried so, with Helm $version',
    { timeout: LIMIT_MS },
    async ({ file }) => {
      await expect(helm(file, 'upgrade', '--install', ...RELEASE)).rejects.toThrow('no local queues here');
      await spoil();
      await allow();
      expect(await helm(file, 'upgrade', '--install', ...RELEASE)).toContain('STATUS: deployed');
      await expectAWholeInstallation();
    },
  );

  test.each(findHelms(process.env))(
    'is repeated by itself where --atomic has taken it back, with Helm $version',
    { timeout: LIMIT_MS },
    async ({ file }) => {
      await failing(file, '--atomic');
      await spoil();
      await allow();
      expect(await helm(file, 'install', ...RELEASE)).toContain('STATUS: deployed');
      await expectAWholeInstallation();
    },
  );

  test.each(findHelms(process.env))(
    'is repeated by itself after `helm uninstall`, with Helm $version',
    { timeout: LIMIT_MS },
    async ({ file }) => {
      await failing(file);
      await spoil();
      await helm(file, 'uninstall', 'switchyard-manager');
      await allow();
      expect(await helm(file, 'install', ...RELEASE)).toContain('STATUS: deployed');
      await expectAWholeInstallation();
    },
  );
});

test.skipIf(isSlow)('an install that failed half way is repeated', ({ skip }) => skip('it takes half a minute: SWITCHYARD_SLOW=1'));
