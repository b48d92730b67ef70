/**
 * The commands of docs/uninstall.md for what is left, as they stand there, run by a shell with kubectl against an embedded control plane.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { originLeaseName, workerLeaseName } from '../../shared/api/fence-leases.ts';
import { JOBS, LEASES, NAMESPACES } from '../../shared/api/resources.ts';
import {
  BUILT_IN_JOB_CONTROLLER_NAME,
  COPIES_FINALIZER,
  ORIGIN_LABEL,
  SUBMISSION_FINALIZER,
  WORKER_CLUSTER_FINALIZER,
  WORKER_CONTROLLER_NAME,
  WORKER_LABEL,
} from '../../shared/api/names.ts';
import { createCrds } from '../support/crds.ts';
import { type ServerUnderTest, startServerUnderTest } from '../support/server-under-test.ts';
import { findKubectls } from '../support/kubectl.ts';
import { shellBlocks } from '../support/shell-document.ts';

const DOCUMENT = path.join(import.meta.dirname, '..', '..', 'docs', 'uninstall.md');
const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-uninstall-'));
let cluster: ServerUnderTest | undefined;
afterEach(() => cluster?.close());
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const [kubectl] = findKubectls(process.env);

/** The commands under a heading, by a reader with this kubeconfig. */
async function follow(heading: string, kubeconfig: string): Promise<void> {
  const blocks = shellBlocks(readFileSync(DOCUMENT, 'utf8')).filter((block) => block.heading === heading);
  expect(blocks).toHaveLength(1);
  await sh(blocks[0]?.text ?? '', kubeconfig);
}

async function sh(text: string, kubeconfig: string): Promise<void> {
  const environment = {
    ...process.env,
    KUBECONFIG: kubeconfig,
    PATH: `${path.dirname(kubectl?.file ?? '')}${path.delimiter}${process.env['PATH']}`,
  };
  await promisify(execFile)('sh', ['-euc', text], { env: environment });
}

describe.skipIf(kubectl === undefined)('the documented command', () => {
  test('takes our finalizer off every Job, and nobody else’s', { timeout: 120_000 }, async () => {
    cluster = await startServerUnderTest();
    const { client, kubeconfig } = cluster;
    const file = path.join(directory, 'kubeconfig');
    writeFileSync(file, kubeconfig);
    const finalizers: Readonly<Record<string, string[]>> = {
      ours: [COPIES_FINALIZER],
      both: ['example.com/own', COPIES_FINALIZER],
      submitted: [SUBMISSION_FINALIZER, COPIES_FINALIZER],
      theirs: ['example.com/own'],
      none: [],
    };
    for (const namespace of ['blue', 'green']) {
      await client.create(NAMESPACES, { metadata: { name: namespace } });
      for (const [name, list] of Object.entries(finalizers)) {
        const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } };
        await client.create(JOBS, { metadata: { name, namespace, finalizers: list }, spec: { suspend: true, template } });
      }
    }
    await follow('When the manager is gone before its Jobs', file);
    const left = (await client.list(JOBS)).items.map(({ metadata }) => [metadata.namespace, metadata.name, metadata.finalizers ?? []]);
    expect(left).toEqual(
      ['blue', 'green'].flatMap((namespace) => [
        [namespace, 'both', ['example.com/own']],
        [namespace, 'none', []],
        [namespace, 'ours', []],
        [namespace, 'submitted', []],
        [namespace, 'theirs', ['example.com/own']],
      ]),
    );
  });

  test('leaves no Lease of a worker or a manager, whatever the controller name of the worker is, and all others', {
    timeout: 120_000,
  }, async () => {
    cluster = await startServerUnderTest();
    const { client, kubeconfig } = cluster;
    const file = path.join(directory, 'kubeconfig');
    writeFileSync(file, kubeconfig);
    const lease = (name: string, labels: Record<string, string>) =>
      client.create(LEASES, { metadata: { namespace: 'kube-system', name, labels }, spec: {} });
    for (const controller of [WORKER_CONTROLLER_NAME, BUILT_IN_JOB_CONTROLLER_NAME])
      await lease(workerLeaseName(controller), { [WORKER_LABEL]: 'true' });
    await lease(originLeaseName('m1'), { [ORIGIN_LABEL]: 'm1' });
    await lease('kube-controller-manager', {});
    const lines = shellBlocks(readFileSync(DOCUMENT, 'utf8'))
      .filter(({ heading }) => heading === 'Uninstall')
      .flatMap(({ text }) => text.split('\n'))
      .filter((line) => line.includes('delete leases'));
    await sh(['cluster=$(kubectl config current-context)', ...lines].join('\n'), file);
    const left = (await client.list(LEASES, { namespace: 'kube-system' })).items.map(({ metadata }) => metadata.name);
    // A real API server keeps one of its own.
    expect(left.filter((name) => !name.startsWith('apiserver-'))).toEqual(['kube-controller-manager']);
  });

  test('lets WorkerClusters go of which no manager takes the finalizer off', { timeout: 120_000 }, async () => {
    cluster = await startServerUnderTest();
    const { client, kubeconfig } = cluster;
    const file = path.join(directory, 'kubeconfig');
    writeFileSync(file, kubeconfig);
    await createCrds(client);
    for (const name of ['east', 'west'])
      await client.create(WORKER_CLUSTERS, {
        metadata: { name, finalizers: [WORKER_CLUSTER_FINALIZER] },
        spec: { kubeconfigSecretRef: { namespace: 'switchyard', name } },
      });
    await client.delete(WORKER_CLUSTERS, { namespace: '', name: 'east' });
    expect((await client.list(WORKER_CLUSTERS)).items).toHaveLength(2);
    await follow('WorkerClusters that stay', file);
    const left = (await client.list(WORKER_CLUSTERS)).items.map(({ metadata }) => [metadata.name, metadata.finalizers ?? []]);
    expect(left).toEqual([['west', []]]);
  });
});
