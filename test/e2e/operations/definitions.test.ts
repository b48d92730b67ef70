/**
 * Goal: docs/operations.md, "Versions of the definitions": objects of a version that comes and one that goes are the same objects, and none
 * is lost on the way or on the way back.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { LOCAL_QUEUES } from '../../../manager/api/local-queue.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, type Resource } from '../../../shared/api/resources.ts';
import type { KubeObject } from '../../../shared/api/kubernetes.ts';
import { CRDS } from '../../support/crds.ts';
import { type ServerUnderTest, startServerUnderTest } from '../../support/server-under-test.ts';
import { findKubectls } from '../../support/kubectl.ts';
import { ReadersShell, shellBlocks } from '../../support/shell-document.ts';
import { isSlow } from '../../support/slow.ts';

const ROOT = path.join(import.meta.dirname, '..', '..', '..');
const LIMIT_MS = 180_000;
const [KUBECTL] = findKubectls(process.env).toReversed();

type Version = { readonly name: string; readonly served: boolean; readonly storage: boolean; readonly schema: object };
type Definition = KubeObject & {
  readonly spec: { readonly versions: readonly Version[] };
  readonly status?: { readonly storedVersions: readonly string[] };
};

let cluster: ServerUnderTest | undefined;
const folder = mkdtempSync(path.join(tmpdir(), 'switchyard-definitions-'));
afterEach(async () => {
  await cluster?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe.skipIf(!isSlow || KUBECTL === undefined)('definitions', () => {
  test('get another version, store it, and lose the one before', { timeout: LIMIT_MS }, async () => {
    cluster = await startServerUnderTest();
    const { client, kubeconfigFile } = cluster;
    const shell = new ReadersShell(ROOT, {
      HOME: folder,
      KUBECONFIG: kubeconfigFile,
      PATH: `${path.dirname(KUBECTL?.file ?? '')}${path.delimiter}${process.env['PATH']}`,
    });
    const sh = async (text: string): Promise<string> => {
      const { code, output } = await shell.run(text);
      expect(code, `${text}\n${output}`).toBe(0);
      return output;
    };
    await sh('HOME_CLUSTER=$(kubectl config current-context)');
    const definitions = async (): Promise<Definition[]> =>
      (await client.list(CUSTOM_RESOURCE_DEFINITIONS)).items as unknown as Definition[];
    /** What an upgrade of the chart does with the definitions of the release. */
    const upgrade = async (versionsOf: (only: Version) => Version[]): Promise<void> => {
      for (const each of CRDS as readonly Definition[]) {
        const [only] = each.spec.versions;
        if (only === undefined) throw new Error('a definition has no version');
        const spec = { ...each.spec, versions: versionsOf(only) };
        const key = { namespace: '', name: each.metadata.name };
        const body = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', ...each, spec };
        await client.patch(CUSTOM_RESOURCE_DEFINITIONS, key, { type: 'apply', body, force: true }, { fieldManager: 'helm' });
      }
      await sh('kubectl wait customresourcedefinitions --all --for condition=Established --timeout 1m');
    };
    const old = (only: Version, storage: boolean): Version => ({ ...only, storage });
    const young = (only: Version, storage: boolean): Version => ({ ...only, name: 'v1beta1', storage });
    const stored = async (): Promise<string[]> => [
      ...new Set((await definitions()).map(({ status }) => status?.storedVersions.join() ?? '')),
    ];
    const inVersion = (version: string): Resource => ({ ...LOCAL_QUEUES, version });
    const queues = async (version: string): Promise<unknown[]> =>
      (await client.list(inVersion(version))).items.map((queue) => [
        queue.metadata.uid,
        queue.metadata.namespace,
        queue.metadata.generation,
        (queue as { spec?: unknown }).spec,
      ]);
    const [migration] = shellBlocks(readFileSync(path.join(ROOT, 'docs', 'operations.md'), 'utf8')).filter(
      ({ heading }) => heading === 'Versions of the definitions',
    );

    await upgrade((only) => [old(only, true)]);
    await sh('kubectl create namespace team; kubectl apply -f examples/queues.yaml');
    await client.create(LOCAL_QUEUES, { metadata: { name: 'other', namespace: 'team' }, spec: { clusterQueue: 'batch' } });
    const before = await queues('v1alpha1');
    expect(before).toHaveLength(2);

    await upgrade((only) => [old(only, true), young(only, false)]);
    expect(await queues('v1beta1')).toEqual(before);
    expect(await stored()).toEqual(['v1alpha1']);

    await upgrade((only) => [old(only, false), young(only, true)]);
    await client.patch(
      inVersion('v1beta1'),
      { namespace: 'team', name: 'other' },
      { type: 'merge', body: { metadata: { labels: { a: 'b' } } } },
    );
    expect([await queues('v1alpha1'), await queues('v1beta1')]).toEqual([before, before]);
    expect(await stored()).toEqual(['v1alpha1,v1beta1']);
    // Rolled back, and forward again: what was stored in between is read all the same.
    await upgrade((only) => [old(only, true), young(only, false)]);
    expect([await queues('v1alpha1'), await queues('v1beta1')]).toEqual([before, before]);
    await upgrade((only) => [old(only, false), young(only, true)]);
    await expect(upgrade((only) => [young(only, true)])).rejects.toThrow(/v1alpha1 was previously a storage version/);

    // Written anew is what was stored before, once, and nothing of the rest.
    const writes = async (): Promise<Record<string, string>> =>
      Object.fromEntries((await client.list(inVersion('v1beta1'))).items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
    const atFirst = await writes();
    await sh(migration?.text ?? 'false');
    const once = await writes();
    expect(Object.keys(once).filter((name) => once[name] !== atFirst[name])).toEqual(['batch']);
    await sh(migration?.text ?? 'false');
    expect(await writes()).toEqual(once);
    expect(await stored()).toEqual(['v1beta1']);
    await upgrade((only) => [young(only, true)]);
    expect(await queues('v1beta1')).toEqual(before);
    expect(await sh('kubectl get localqueues --all-namespaces')).toMatch(/team +other/);
  });
});

test.runIf(!isSlow || KUBECTL === undefined)('the way from one version of definitions to another', ({ skip }) =>
  skip('SWITCHYARD_SLOW=1, with kubectl on the PATH'),
);
