/** Goal: `kubectl apply -f` of the manifests for those without Helm installs both programs, whoever may administer the cluster. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKubectl, findKubectls } from '../support/kubectl.ts';
import { startServerUnderTest, type ServerUnderTest } from '../support/server-under-test.ts';

const LIMIT_MS = 180_000;
const CHARTS = path.join(import.meta.dirname, '..', '..', 'charts');
const kubectls = findKubectls(process.env).slice(-1);
const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-manifests-'));
let server: ServerUnderTest;
beforeAll(async () => {
  if (kubectls.length > 0) server = await startServerUnderTest();
}, LIMIT_MS);
afterAll(async () => {
  await server?.close();
  rmSync(directory, { recursive: true, force: true });
});

test.runIf(kubectls.length === 0)('kubectl', ({ skip }) => skip('needs a kubectl on the PATH or named by $KUBECTL_BINARIES'));

describe.each(kubectls)('kubectl $version', { timeout: LIMIT_MS }, (binary) => {
  test('as a ServiceAccount creates all of both, and changes nothing the second time', async () => {
    const kubeconfig = path.join(directory, 'kubeconfig');
    writeFileSync(kubeconfig, server.kubeconfig, { mode: 0o600 });
    const kubectl = createKubectl(binary, kubeconfig, '', path.join(directory, 'cache'));
    await kubectl('create serviceaccount installer --namespace default');
    await kubectl('create clusterrolebinding installer --clusterrole=cluster-admin --serviceaccount=default:installer');
    const token = (await kubectl('create token installer --namespace default')).trim();
    const flags = `-f ${CHARTS}/install.yaml -f ${CHARTS}/install-worker.yaml --token=${token}`;
    const created = (await kubectl(`apply ${flags}`)).trim().split('\n');
    expect(created.filter((line) => !/ (created|unchanged)$/.test(line))).toEqual([]);
    expect(created).toContain('deployment.apps/switchyard-manager created');
    expect(created).toContain('deployment.apps/switchyard-worker created');
    const explained = await kubectl('explain clusterqueue.spec');
    expect(explained).toContain('What is wanted of the ClusterQueue.');
    expect(explained).toMatch(/namespaceSelector\s+<Object>\s+Namespaces whose Jobs are admitted/);
    expect(explained).not.toContain('<no description>');
    const again = (await kubectl(`apply ${flags}`)).trim().split('\n');
    // A PodDisruptionBudget's selector is sent each time, and nothing is written.
    expect(again.filter((line) => !/ unchanged$|^poddisruptionbudget\.policy\/\S+ configured$/.test(line))).toEqual([]);
    expect(await kubectl('auth can-i list jobs.batch --all-namespaces --as=system:serviceaccount:switchyard:switchyard-manager')).toBe(
      'yes\n',
    );
    expect(await kubectl('auth can-i create pods --all-namespaces --as=system:serviceaccount:switchyard:switchyard-worker')).toBe('yes\n');
  });
});
