/**
 * A real API server and the webhook in a process of its own, in real time: connections are idle around the limits that servers of Node have
 * by default.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { JOBS, NAMESPACES, type Resource } from '../../shared/api/resources.ts';
import { TestAuthority } from '../support/certificates.ts';
import type { Job, KubeObject } from '../../shared/api/kubernetes.ts';
import { realControlPlaneAssets } from '../support/real-control-plane.ts';
import { startServerUnderTest, type ServerUnderTest } from '../support/server-under-test.ts';
import { isSlow } from '../support/slow.ts';

const isWanted = isSlow && realControlPlaneAssets() !== undefined;
const ROUNDS = 12;
const CONFIGURATIONS: Resource<KubeObject & { webhooks: readonly object[] }> = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural: 'mutatingwebhookconfigurations',
  kind: 'MutatingWebhookConfiguration',
  namespaced: false,
};

let folder: string;
let program: ChildProcess;
let cluster: ServerUnderTest;
beforeAll(async () => {
  if (!isWanted) return;
  folder = mkdtempSync(path.join(tmpdir(), 'webhook-real-time-'));
  const authority = await TestAuthority.create();
  const { certPem, keyPem } = await authority.sign('webhook', ['127.0.0.1']);
  const files = ['tls.crt', 'tls.key'].map((file) => path.join(folder, file));
  for (const [index, pem] of [certPem, keyPem].entries()) writeFileSync(files[index] ?? '', pem);
  program = fork(path.join(import.meta.dirname, '..', 'hostile', 'support', 'webhook-program.ts'), files);
  const [{ url }] = (await once(program, 'message')) as [{ url: string }];
  cluster = await startServerUnderTest();
  await cluster.client.create(CONFIGURATIONS, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'webhook' },
    webhooks: [
      {
        name: 'jobs.switchyard.dev',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        failurePolicy: 'Fail',
        timeoutSeconds: 5,
        clientConfig: { url: `${url}/mutate`, caBundle: Buffer.from(authority.certPem).toString('base64') },
        rules: [{ apiGroups: ['batch'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['jobs'] }],
      },
    ],
  });
  await cluster.client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenant' } });
}, 120_000);
afterAll(async () => {
  if (!isWanted) return;
  await cluster.close();
  program.disconnect();
  rmSync(folder, { recursive: true });
});

const create = async (name: string): Promise<string> => {
  const template = { spec: { containers: [{ name: 'main', image: 'busybox' }], restartPolicy: 'Never' as const } };
  const labels = { 'switchyard.dev/queue-name': 'main' };
  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name, namespace: 'tenant', labels }, spec: { template } } as const;
  try {
    await cluster.client.create<Job>(JOBS, job);
    return 'created';
  } catch (error) {
    return String(error);
  }
};

test.skipIf(!isWanted)(
  'no create is refused, one every five to seven seconds, with and without a stall of the webhook',
  async () => {
    const outcomes: string[] = [];
    // A configuration counts once the API server has read it.
    await expect.poll(() => create(`first-${performance.now().toFixed(0)}`)).toBe('created');
    for (let round = 0; round < ROUNDS; round++) {
      await sleep(5_000 + ((round * 437) % 2_000) - 100);
      if (round % 2 === 0) program.send('stall');
      await sleep(100);
      outcomes.push(await create(`round-${round}`));
    }
    expect(outcomes.filter((outcome) => outcome !== 'created')).toEqual([]);
  },
  ROUNDS * 7_000 + 60_000,
);

test.skipIf(isWanted)('the webhook of a real API server', ({ skip }) => skip('run KUBEBUILDER_ASSETS=DIR npm run test:real'));
