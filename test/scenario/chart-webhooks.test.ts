/** The webhook configurations of the manager's chart, with a Job on its way through them; only the address is the test's. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { selfSignedCertificate } from '../../manager/cli/local/webhook-certificate.ts';
import { createWebhookServer } from '../../manager/webhook/server.ts';
import type { Job } from '../../shared/api/kubernetes.ts';
import { KUEUE_QUEUE_NAME_LABEL, MANAGER_CONTROLLER_NAME, QUEUE_NAME_LABEL } from '../../shared/api/names.ts';
import { JOBS, type Resource } from '../../shared/api/resources.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { startCluster, type EmbeddedCluster } from '../support/embedded-cluster.ts';
import { ofKind, renderChart } from '../support/helm.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-webhooks-'));
let cluster: EmbeddedCluster;
let server: { url: string; close(): Promise<void> };

beforeAll(async () => {
  const { certPem, keyPem } = await selfSignedCertificate(Date.now());
  const [certFile, keyFile] = [path.join(directory, 'tls.crt'), path.join(directory, 'tls.key')];
  writeFileSync(certFile, certPem);
  writeFileSync(keyFile, keyPem);
  const hooks = createWebhookServer({ certFile, keyFile, managerUsernames: ['manager'], clock: systemClock, log: silentLogger });
  server = await hooks.listen('127.0.0.1:0');
  cluster = await startCluster(systemClock, []);
  const rendered = renderChart('manager');
  for (const kind of ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']) {
    const [configuration] = ofKind(rendered, kind) as unknown as {
      metadata: { name: string };
      webhooks: { clientConfig: { service: { path: string } } }[];
    }[];
    const webhooks = configuration?.webhooks.map((hook) => ({
      ...hook,
      clientConfig: { url: `${server.url}${hook.clientConfig.service.path}`, caBundle: Buffer.from(certPem).toString('base64') },
    }));
    const resource: Resource = {
      group: 'admissionregistration.k8s.io',
      version: 'v1',
      plural: `${kind.toLowerCase()}s`,
      kind,
      namespaced: false,
    };
    await cluster.client.create(resource, { metadata: { name: configuration?.metadata.name ?? '' }, webhooks } as never);
  }
});
afterAll(async () => {
  await cluster.plane.close();
  await server.close();
  rmSync(directory, { recursive: true, force: true });
});

const create = (name: string, labels: Record<string, string>, namespace = 'default'): Promise<Job> =>
  cluster.client.create(JOBS, {
    metadata: { name, namespace, labels },
    spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } } },
  });

test.each([QUEUE_NAME_LABEL, KUEUE_QUEUE_NAME_LABEL])('a Job with the label %s is born suspended and the manager’s own', async (label) => {
  const { spec } = await create(`queued-by-${label.split('.')[0]}`, { [label]: 'batch' });
  expect(spec).toMatchObject({ suspend: true, managedBy: MANAGER_CONTROLLER_NAME });
});

test('nobody but the manager may write the admission record', async () => {
  await create('guarded', { [QUEUE_NAME_LABEL]: 'batch' });
  const body = { metadata: { annotations: { 'switchyard.dev/admission': '{}' } }, spec: { suspend: false } };
  await expect(cluster.client.patch(JOBS, { namespace: 'default', name: 'guarded' }, { type: 'merge', body })).rejects.toThrow(/admission/);
});

test('other Jobs, and those of excluded namespaces, do not wait for the manager, even when none answers', async () => {
  expect((await create('plain', { app: 'x' })).spec.managedBy).toBeUndefined();
  await server.close();
  expect((await create('plain-without-manager', {})).spec.suspend).toBe(false);
  expect((await create('system', { [QUEUE_NAME_LABEL]: 'batch' }, 'kube-system')).spec.managedBy).toBeUndefined();
  await expect(create('queued-without-manager', { [QUEUE_NAME_LABEL]: 'batch' })).rejects.toThrow(
    /failed calling webhook "jobs\.switchyard\.dev"/,
  );
});
