/**
 * Goal: Helm installs, upgrades, rolls back and uninstalls both charts, as its users do, against the server under test. No pods are needed
 * for that. With SWITCHYARD_SLOW=1.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { CUSTOM_RESOURCE_DEFINITIONS, SECRETS, type Resource } from '../../shared/api/resources.ts';
import { CHARTS, findHelms, type Chart } from '../support/helm.ts';
import { findKubectls } from '../support/kubectl.ts';
import { type ServerUnderTest, startServerUnderTest } from '../support/server-under-test.ts';
import { isSlow } from '../support/slow.ts';

const TIME_LIMIT_MS = 120_000;
const BOTH: readonly Chart[] = ['manager', 'worker'];
const HELMS = findHelms(process.env);
const NAMESPACE = 'switchyard-helm';
const DEPLOYMENTS: Resource = { group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment', namespaced: true };
const SERVICES: Resource = { group: '', version: 'v1', plural: 'services', kind: 'Service', namespaced: true };
const CLUSTER_ROLES: Resource = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'clusterroles',
  kind: 'ClusterRole',
  namespaced: false,
};

describe.skipIf(!isSlow)('charts', () => {
  let server: ServerUnderTest;
  let home: string;

  beforeAll(async () => {
    server = await startServerUnderTest();
    home = mkdtempSync(path.join(tmpdir(), 'switchyard-helm-'));
  }, TIME_LIMIT_MS);

  afterAll(async () => {
    await server?.close();
    if (home !== undefined) rmSync(home, { recursive: true, force: true });
  });

  /** Runs helm beside the server of this process, which must go on answering meanwhile. */
  const helm = (...args: readonly string[]): Promise<string> => run('helm', [...args, '--namespace', NAMESPACE]);

  async function run(program: string, args: readonly string[]): Promise<string> {
    const environment = {
      ...process.env,
      KUBECONFIG: server.kubeconfigFile,
      HELM_CACHE_HOME: home,
      HELM_CONFIG_HOME: home,
      HELM_DATA_HOME: home,
    };
    const { stdout } = await promisify(execFile)(program, args, { env: environment });
    return stdout;
  }

  const install = (chart: Chart, ...more: readonly string[]): Promise<string> =>
    helm('install', `switchyard-${chart}`, CHARTS[chart], '--create-namespace', '--wait=false', ...more);

  const namesOf = async (resource: Resource): Promise<string[]> =>
    (await server.client.list(resource, resource.namespaced ? { namespace: NAMESPACE } : {})).items
      .map(({ metadata }) => metadata.name)
      .filter((name) => name.includes('switchyard'))
      .toSorted();

  const builtin = (plural: string): Resource => {
    const group = plural.startsWith('role') ? 'rbac.authorization.k8s.io' : plural === 'deployments' ? 'apps' : '';
    return { group, version: 'v1', plural, kind: plural, namespaced: true };
  };

  const replicasOf = async (name: string): Promise<unknown> =>
    ((await server.client.get(DEPLOYMENTS, { namespace: NAMESPACE, name })) as unknown as { spec: { replicas: number } }).spec.replicas;

  describe('Helm', () => {
    test('installs both charts beside each other', { timeout: TIME_LIMIT_MS }, async () => {
      expect(await install('manager')).toContain('STATUS: deployed');
      expect(await install('worker')).toContain('STATUS: deployed');
      expect(await namesOf(DEPLOYMENTS)).toEqual(['switchyard-manager', 'switchyard-manager-certificates', 'switchyard-worker']);
      expect(await namesOf(SERVICES)).toEqual(['switchyard-manager', 'switchyard-worker']);
      expect(await helm('list')).toMatch(/switchyard-manager[^\n]*deployed[\s\S]*switchyard-worker[^\n]*deployed/);
    });

    test('upgrades a release, and rolls it back', { timeout: TIME_LIMIT_MS }, async () => {
      await helm('upgrade', 'switchyard-worker', CHARTS.worker, '--set', 'replicaCount=1');
      expect(await replicasOf('switchyard-worker')).toBe(1);
      await helm('rollback', 'switchyard-worker', '1');
      expect(await replicasOf('switchyard-worker')).toBe(2);
    });

    test('uninstalls both, and leaves nothing but the definitions, which it is told to keep', { timeout: TIME_LIMIT_MS }, async () => {
      await helm('uninstall', 'switchyard-worker', 'switchyard-manager');
      expect(await namesOf(DEPLOYMENTS)).toEqual([]);
      expect(await namesOf(SERVICES)).toEqual([]);
      expect(await namesOf(CLUSTER_ROLES)).toEqual([]);
      expect((await namesOf(CUSTOM_RESOURCE_DEFINITIONS)).length).toBeGreaterThan(0);
    });
  });

  describe('a release of the charts before', () => {
    /** Packages of the charts as they were before values were generated, Redis was optional and replicas were kept apart. */
    const BEFORE = (chart: Chart): string => path.join(import.meta.dirname, 'charts-before', `switchyard-${chart}-0.1.0.tgz`);
    const valuesOf: Readonly<Record<Chart, readonly string[]>> = {
      manager: ['redis.url=redis://redis:6379', 'crds.install=true', 'config.fairSharing.enabled=true', 'config.logLevel=debug'],
      worker: ['config.fenceAfter=2m', 'managerAccess.namespaces={default}'],
    };
    const OBJECTS = ['deployments', 'services', 'serviceaccounts', 'roles', 'rolebindings', 'secrets'];
    type Kept = {
      metadata: { uid: string; labels: Record<string, string> };
      spec: { template: { spec: { containers: [{ args: string[] }] } } };
    };
    const deployment = async (chart: Chart): Promise<Kept> =>
      (await server.client.get(DEPLOYMENTS, { namespace: NAMESPACE, name: `switchyard-${chart}` })) as unknown as Kept;

    const definition = { namespace: '', name: 'clusterqueues.switchyard.dev' };
    const definedQueues = async (): Promise<unknown> =>
      ((await server.client.get(CUSTOM_RESOURCE_DEFINITIONS, definition)) as { spec?: unknown }).spec;
    const queuesOfChart = (): object =>
      (parse(readFileSync(path.join(CHARTS.manager, 'files/crds/switchyard.dev_clusterqueues.yaml'), 'utf8')) as { spec: object }).spec;

    // Before 3.12 Helm knows no match conditions of webhooks, and cannot make a patch of theirs; it can put a new version in the place of
    // the old one.
    const knowsMatchConditions = (version: string): boolean => {
      const [major = 0, minor = 0] = version.split('.').map(Number);
      return major > 3 || minor >= 12;
    };

    test.each(HELMS.flatMap(({ file, version }) => BOTH.map((chart) => ({ file, version, chart }))))(
      'of the $chart is upgraded by Helm $version with the values it has, and nothing else to do',
      { timeout: TIME_LIMIT_MS },
      async ({ file, version, chart }) => {
        const withHelm = (...args: readonly string[]): Promise<string> => run(file, [...args, '--namespace', NAMESPACE]);
        const set = valuesOf[chart].flatMap((value) => ['--set', value]);
        // The rules of its definition of ClusterQueues exceed the cost budget of an API server, so it can only be installed without
        // definitions.
        const without = chart === 'manager' ? ['--set', 'crds.install=false'] : [];
        const force = knowsMatchConditions(version) ? [] : ['--force'];
        const release = `switchyard-${chart}`;
        await withHelm('install', release, BEFORE(chart), '--create-namespace', '--wait=false', ...set, ...without);
        const before = await deployment(chart);
        expect(await withHelm('upgrade', release, CHARTS[chart], '--wait=false', ...set, ...force)).toContain('STATUS: deployed');
        const after = await deployment(chart);
        if (chart === 'manager') expect(await definedQueues()).toMatchObject(queuesOfChart());
        // The same Deployment: nothing of what cannot be changed has changed, so that its pods are replaced one after the other.
        expect(after.metadata.uid).toBe(before.metadata.uid);
        // The manager looks after its certificate itself now, in the Secret that it had.
        const flagsOf = ({ spec }: Kept): string[] =>
          spec.template.spec.containers[0].args.filter(
            (arg) => !arg.endsWith('=') && !arg.endsWith('=false') && !arg.startsWith('--webhook-tls-'),
          );
        // A shared queue is served where it is asked for, and no more by default; Leases are in a namespace of their own.
        const gone = [chart === 'manager' ? '--submission-queue=switchyard-submissions' : '--lease-namespace=kube-system'];
        expect(flagsOf(before).filter((flag) => !flagsOf(after).includes(flag.replace(/=true$/, '')))).toEqual(gone);
        expect(await withHelm('rollback', release, '1', '--wait=false', ...force)).toContain('Rollback was a success');
        await withHelm('upgrade', release, CHARTS[chart], '--wait=false', ...set, ...force);
        await withHelm('uninstall', release);
        const left = await Promise.all(OBJECTS.map(async (plural) => namesOf(builtin(plural))));
        // The certificate outlasts the release (docs/uninstall.md): whoever installs it again is trusted at once.
        const kept = chart === 'manager' ? ['switchyard-manager-webhook-tls'] : [];
        expect(left.flat()).toEqual(kept);
        for (const name of kept) await server.client.delete(SECRETS, { namespace: NAMESPACE, name });
      },
    );
  });

  describe('definitions that a release has left behind', () => {
    const MANAGER = ['switchyard', CHARTS.manager, '--namespace', 'elsewhere'];
    const ownerOf = async (): Promise<unknown> => {
      const { metadata } = await server.client.get(CUSTOM_RESOURCE_DEFINITIONS, { namespace: '', name: 'clusterqueues.switchyard.dev' });
      return metadata.annotations?.['meta.helm.sh/release-namespace'];
    };

    test('do not keep another release in another namespace from being installed, which takes them over as its notes say', {
      timeout: TIME_LIMIT_MS,
    }, async ({ skip }) => {
      expect(await ownerOf()).toBe(NAMESPACE);
      const notes = await run('helm', ['install', ...MANAGER, '--create-namespace', '--wait=false']);
      expect(notes).toContain('STATUS: deployed');
      expect(notes).toContain('belong to another release of Helm');
      expect(await ownerOf()).toBe(NAMESPACE);
      // An upgrade leaves them alone as well, until somebody says that they are its own.
      expect(await run('helm', ['upgrade', ...MANAGER])).toContain('belong to another release of Helm');
      const commands = notes
        .split('\n')
        .flatMap((line) => /^ {2}(kubectl (?:label|annotate) customresourcedefinitions .*)$/.exec(line)?.[1] ?? []);
      expect(commands).toHaveLength(2);
      const kubectl = findKubectls(process.env)[0]?.file;
      if (kubectl === undefined) return skip('without a kubectl');
      for (const command of commands) await run(kubectl, command.split(' ').slice(1));
      expect(await run('helm', ['upgrade', ...MANAGER])).not.toContain('belong to another release of Helm');
      expect(await ownerOf()).toBe('elsewhere');
      await run('helm', ['uninstall', 'switchyard', '--namespace', 'elsewhere']);
      expect(await ownerOf()).toBe('elsewhere');
    });
  });

  test('a ServiceMonitor is taken once its definition is there, as the charts of others bring it', { timeout: TIME_LIMIT_MS }, async () => {
    const MONITORS: Resource = {
      group: 'monitoring.coreos.com',
      version: 'v1',
      plural: 'servicemonitors',
      kind: 'ServiceMonitor',
      namespaced: true,
    };
    await server.client.create(CUSTOM_RESOURCE_DEFINITIONS, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'servicemonitors.monitoring.coreos.com' },
      spec: {
        group: MONITORS.group,
        names: { kind: MONITORS.kind, plural: MONITORS.plural },
        scope: 'Namespaced',
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } },
            },
          },
        ],
      },
    } as Parameters<typeof server.client.create>[1]);
    const monitor = {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'ServiceMonitor',
      metadata: { name: 'switchyard', namespace: 'default' },
      spec: { selector: { matchLabels: { app: 'switchyard' } }, endpoints: [{ port: 'metrics' }] },
    };
    // A definition takes a moment to be served.
    let created: unknown;
    await expect
      .poll(async () => (created = await server.client.create(MONITORS, monitor).catch((error: unknown) => error)), { timeout: 30_000 })
      .not.toBeInstanceOf(Error);
    expect(created).toMatchObject({ spec: monitor.spec });
  });
});

test.runIf(!isSlow)('Helm installs the charts', ({ skip }) => skip('it takes half a minute: SWITCHYARD_SLOW=1'));
