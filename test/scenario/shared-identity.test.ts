/** A manager that runs as somebody else: it works, and says so wherever somebody may look. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Registry } from 'prom-client';
import { expect, onTestFinished, test } from 'vitest';
import { createManagerAccount, MANAGER_USERNAME } from '../../manager/cli/local/manager-account.ts';
import { installKinds, installWebhooks } from '../../manager/cli/local/set-up.ts';
import { selfSignedCertificate } from '../../manager/cli/local/webhook-certificate.ts';
import { createManager, type Manager } from '../../manager/manager.ts';
import { EVENTS, JOBS } from '../../shared/api/resources.ts';
import { MANAGER_CONTROLLER_NAME, QUEUE_NAME_LABEL } from '../../shared/api/names.ts';
import { kubeconfigFor } from '../../shared/controlplane/server/kubeconfig-file.ts';
import type { UserInfo } from '../../shared/controlplane/auth/user-info.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { certificateFromFiles } from '../../shared/runtime/serving-certificate.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { seededRandom } from '../../shared/runtime/random.ts';
import { startCluster } from '../support/embedded-cluster.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');
const PATIENCE = { timeout: 30_000 };

type Running = { readonly manager: Manager; readonly registry: Registry; readonly client: KubeClient; as(user: UserInfo): KubeClient };

/** A manager that serves its webhook and writes as `user`. */
async function running(user: UserInfo | undefined): Promise<Running> {
  const { plane, client } = await startCluster(systemClock, []);
  await installKinds(client, ROOT);
  await createManagerAccount(client, ROOT, kubeconfigFor({ url: 'https://127.0.0.1' }, 'token'));
  const as = (who: UserInfo | undefined): KubeClient => createKubeClient(plane.transport(who), { userAgent: 'test', clock: systemClock });
  const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-identity-'));
  const certificate = await selfSignedCertificate(Date.now());
  const [certFile, keyFile] = [path.join(directory, 'tls.crt'), path.join(directory, 'tls.key')];
  writeFileSync(certFile, certificate.certPem);
  writeFileSync(keyFile, certificate.keyPem);
  const port = await freePort();
  const registry = new Registry();
  const manager = createManager({
    client: as(user),
    connectCluster: () => as(user),
    recordKeySecret: { namespace: 'switchyard-system', name: 'switchyard-manager-record-key' },
    webhook: {
      address: `127.0.0.1:${port}`,
      certificate: certificateFromFiles({ of: 'webhook', certFile, keyFile, clock: systemClock, log: silentLogger }),
    },
    concurrentDispatches: 1,
    registry,
    clock: systemClock,
    random: seededRandom(1),
    log: silentLogger,
  });
  const stopping = new AbortController();
  const ended = manager.run(stopping.signal);
  onTestFinished(async () => {
    stopping.abort(new Error('the test is over'));
    await ended;
    await plane.close();
    rmSync(directory, { recursive: true });
  });
  await expect.poll(() => manager.unreadiness(), PATIENCE).toBeUndefined();
  const username = user?.name ?? 'kubernetes-admin';
  await installWebhooks(client, { port, certificate, identities: { managers: [username], localWorkers: [] } });
  return { manager, registry, client, as };
}

async function freePort(): Promise<number> {
  const { createServer } = await import('node:net');
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

const shared = async (registry: Registry): Promise<number | undefined> =>
  (await registry.getSingleMetric('switchyard_manager_identity_shared')?.get())?.values[0]?.value;

test('with an administrator’s identity it says so at its start, and judges the administrator all the same', async () => {
  const { manager, registry, client } = await running(undefined);
  await expect
    .poll(() => manager.warnings(), PATIENCE)
    .toEqual([expect.stringContaining('uses an administrator’s identity, kubernetes-admin')]);
  expect(await shared(registry)).toBe(1);

  await client.create(JOBS, {
    metadata: { name: 'big', namespace: 'default', labels: { [QUEUE_NAME_LABEL]: 'main' } },
    spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } } },
  });
  const release = client.patch(JOBS, { namespace: 'default', name: 'big' }, { type: 'merge', body: { spec: { suspend: false } } });
  await expect(release).rejects.toThrow(/spec\.suspend: is set to false by the manager/);
  expect(manager.warnings()).toEqual([expect.stringContaining('administrator'), expect.stringContaining('somebody else writes as')]);
  await expect
    .poll(async () => (await client.list(EVENTS)).items.map(({ reason }) => reason), PATIENCE)
    .toEqual(expect.arrayContaining(['AdministratorIdentity', 'IdentityShared']));
});

test('with an identity of its own there is nothing to say, whoever else writes', async () => {
  const { manager, registry, client, as } = await running({ name: MANAGER_USERNAME, groups: ['system:authenticated'] });
  await as({ name: 'alice', groups: ['system:masters'] }).create(JOBS, {
    metadata: { name: 'small', namespace: 'default', labels: { [QUEUE_NAME_LABEL]: 'main' } },
    spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } } },
  });
  expect((await client.get(JOBS, { namespace: 'default', name: 'small' })).spec.managedBy).toBe(MANAGER_CONTROLLER_NAME);
  expect(manager.warnings()).toEqual([]);
  expect(await shared(registry)).toBe(0);
});
