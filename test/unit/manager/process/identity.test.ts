import { expect, test } from 'vitest';
import { clusterIdentity, mayDoEverything, ownUsername } from '../../../../manager/process/identity.ts';
import { NAMESPACES } from '../../../../shared/api/resources.ts';
import type { KubeClient } from '../../../../shared/kube/client.ts';
import { createKubeClient } from '../../../../shared/kube/kube-client.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { startCluster } from '../../../support/embedded-cluster.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

async function aCluster(): Promise<{ client: KubeClient; clock: FakeClock }> {
  const clock = new FakeClock();
  const { client } = await startCluster(clock);
  return { clock, client };
}

test('the manager learns under which name it writes', async () => {
  const { client, clock } = await aCluster();
  const deps = { client, clock, log: silentLogger };
  expect(await ownUsername(deps, new AbortController().signal)).toBe('kubernetes-admin');
});

test('its cluster is known by the UID of kube-system', async () => {
  const { client, clock } = await aCluster();
  const { metadata } = await client.get(NAMESPACES, { namespace: '', name: 'kube-system' });
  const deps = { client, clock, log: silentLogger };
  expect(await clusterIdentity(deps, new AbortController().signal)).toBe(metadata.uid);
});

test('an API server that answers something else is asked again', async () => {
  const clock = new FakeClock();
  const answers = ['{}', '{"status": {"userInfo": {"username": "alice"}}}'];
  const client = { raw: () => Promise.resolve(answers.shift() ?? '') };
  const username = ownUsername({ client, clock, log: silentLogger }, new AbortController().signal);
  await clock.advance(2_000);
  expect(await username).toBe('alice');
});

test('the manager learns whether it may do everything, which only administrators may', async () => {
  const clock = new FakeClock();
  const { plane, client } = await startCluster(clock);
  const somebody = createKubeClient(plane.transport({ name: 'alice', groups: ['system:authenticated'] }), { userAgent: 'test', clock });
  const ask = (as: KubeClient) => mayDoEverything({ client: as, clock, log: silentLogger }, new AbortController().signal);
  expect(await ask(client)).toBe(true);
  expect(await ask(somebody)).toBe(false);
  await plane.close();
});
