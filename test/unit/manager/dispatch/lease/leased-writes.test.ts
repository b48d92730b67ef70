/** Goal: nothing is written on a worker cluster without the Lease of our origin there. */
import { expect, onTestFinished, test } from 'vitest';
import { LeaseNotHeld } from '../../../../../manager/dispatch/cluster/lease-not-held.ts';
import { leasedWrites } from '../../../../../manager/dispatch/lease/leased-writes.ts';
import { JOBS, NAMESPACES } from '../../../../../shared/api/resources.ts';
import { startCluster } from '../../../../support/embedded-cluster.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

const key = { namespace: 'team', name: 'sum' };
const job = {
  metadata: key,
  spec: { template: { spec: { restartPolicy: 'Never' as const, containers: [{ name: 'main', image: 'busybox' }] } } },
};

test('each kind of write goes through while the Lease is held, and none from the moment on at which it is not; reading always does', async () => {
  const { plane, client } = await startCluster(new FakeClock());
  onTestFinished(() => plane.close());
  let isHeld = true;
  const leased = leasedWrites(client, { isHeld: () => isHeld });
  await leased.create(NAMESPACES, { metadata: { name: 'team' } });
  await leased.create(JOBS, job);
  await leased.patch(JOBS, key, { type: 'merge', body: { spec: { parallelism: 2 } } });
  const patched = await leased.patchStatus(JOBS, key, { type: 'merge', body: { status: { ready: 0 } } });
  await leased.replace(JOBS, patched);
  const before = await leased.replaceStatus(JOBS, await leased.get(JOBS, key));
  isHeld = false;
  const refused = [
    () => leased.create(JOBS, { ...job, metadata: { ...key, name: 'other' } }),
    () => leased.patch(JOBS, key, { type: 'merge', body: { spec: { parallelism: 3 } } }),
    () => leased.patchStatus(JOBS, key, { type: 'merge', body: { status: { active: 1 } } }),
    () => leased.replace(JOBS, before),
    () => leased.replaceStatus(JOBS, before),
    () => leased.delete(JOBS, key),
  ];
  for (const write of refused) await expect(write()).rejects.toThrow(LeaseNotHeld);
  expect(await leased.get(JOBS, key)).toEqual(before);
  isHeld = true;
  await leased.delete(JOBS, key, { propagationPolicy: 'Background' });
  expect((await leased.list(JOBS)).items).toEqual([]);
});
