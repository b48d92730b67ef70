/** Goal: a simulated store that is put back behaves as etcd does. Method: one control plane, a client that goes on, and what it sees. */
import { expect, test } from 'vitest';
import { JOBS, NAMESPACES } from '../../../shared/api/resources.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { createKubeClient } from '../../../shared/kube/kube-client.ts';
import { silentLogger } from '../../../shared/runtime/logger.ts';
import { seededRandom } from '../../../shared/runtime/random.ts';
import { recordHistory } from '../../support/cluster-history.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { createRestorablePlane, type RestorablePlane } from '../../support/restorable-plane.ts';

const AT = { namespace: 'default', name: 'job' };

async function world(): Promise<{ clock: FakeClock; plane: RestorablePlane; client: KubeClient }> {
  const clock = new FakeClock();
  const plane = await createRestorablePlane({ clock, random: seededRandom(1), log: silentLogger, controllers: [] });
  return { clock, plane, client: createKubeClient(plane.transport(), { userAgent: 'test', clock }) };
}
const create = (client: KubeClient, name: string) =>
  client.create(JOBS, {
    metadata: { namespace: 'default', name },
    spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } } },
  });

test('what was written after the backup is gone, what was deleted is back, and versions go on from the backup', async () => {
  const { plane, client } = await world();
  const job = await create(client, 'job');
  const uid = (await client.get(NAMESPACES, { namespace: '', name: 'kube-system' })).metadata.uid;
  const backup = plane.backUp();
  await client.delete(JOBS, AT, { propagationPolicy: 'Background' });
  const later = await create(client, 'later');
  await plane.restore(backup, 'Broken');

  const { items, resourceVersion } = await client.list(JOBS);
  expect(items.map(({ metadata }) => metadata.uid)).toEqual([job.metadata.uid]);
  expect(Number(resourceVersion)).toBeLessThan(Number(later.metadata.resourceVersion));
  expect((await client.get(NAMESPACES, { namespace: '', name: 'kube-system' })).metadata.uid).toBe(uid);
  await plane.close();
});

test.each(['Broken', 'Left'] as const)('open watches: %s', async (watches) => {
  const { clock, plane, client } = await world();
  const { resourceVersion } = await client.list(JOBS);
  const seen: string[] = [];
  const reading = (async () => {
    const events = await client.watch(JOBS, { resourceVersion, timeoutSeconds: 1000 });
    for await (const batch of events)
      seen.push(...batch.map((event) => (event.type === 'BOOKMARK' ? event.type : event.object.metadata.name)));
  })().then(
    () => seen.push('ended'),
    () => seen.push('broken'),
  );
  await create(client, 'job');
  await clock.advance(10);
  await plane.restore(plane.backUp(), watches);
  await create(client, 'unheard');
  await clock.advance(10);
  expect(seen).toEqual(watches === 'Broken' ? ['job', 'broken'] : ['job']);
  if (watches === 'Broken') await reading;
  await plane.close();
});

test('the history of a cluster tells what a restore has taken and brought back', async () => {
  const { clock, plane, client } = await world();
  const history = await recordHistory(client);
  await create(client, 'before');
  const backup = plane.backUp();
  await client.delete(JOBS, { ...AT, name: 'before' }, { propagationPolicy: 'Background' });
  await create(client, 'after');
  await clock.advance(10);
  history.next();
  await history.throughRestore(() => plane.restore(backup, 'Broken'));
  await create(client, 'new');
  await clock.advance(10);

  expect(history.next().map(({ gone, object }) => `${object.metadata.name} ${gone ? 'gone' : 'there'}`)).toEqual([
    'after gone',
    'before there',
    'new there',
  ]);
  expect([...history.jobs.values()].map(({ metadata }) => metadata.name)).toEqual(['before', 'new']);
  history.stop();
  await plane.close();
});
