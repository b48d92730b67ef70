/**
 * Goal: docs/operations.md, "Upgrade" and "Roll back": new programs take over what runs, and the old ones again, and no Job is stopped,
 * moved or begun anew.
 */
import { expect, test } from 'vitest';
import { canInstall, startInstallation } from '../../support/installation.ts';
import { startLongJob } from '../../support/installed-jobs.ts';
import { DEPLOYMENTS } from '../../support/test-kubelet.ts';
import { isSlow } from '../../support/slow.ts';

const LIMIT_MS = 400_000;

test.skipIf(!isSlow || !canInstall())('an installation is upgraded and rolled back while a Job runs', { timeout: LIMIT_MS }, async () => {
  await using installation = await startInstallation();
  await installation.install();
  const job = await startLongJob(installation, 'long');
  const place = await job.place();
  const { home, east } = installation.clusters;
  const images = async (): Promise<unknown[]> =>
    Promise.all(
      ([home, east] as const).map(async ({ client, name }) => {
        const key = { namespace: 'switchyard', name: name === 'home' ? 'switchyard-manager' : 'switchyard-worker' };
        const { template } = (await client.get(DEPLOYMENTS, key)).spec;
        return (template.spec.containers[0] as { image?: string }).image;
      }),
    );
  const pods = [...home.kubelet.pods(), ...east.kubelet.pods()];

  await installation.follow('docs/operations.md', ['Upgrade']);
  expect(await images()).toEqual(['registry.example/switchyard:0.1.1', 'registry.example/switchyard:0.1.1']);
  expect(pods.every(({ program }) => program.hasEnded())).toBe(true);
  expect([await job.place(), job.starts()]).toEqual([place, 1]);

  await installation.follow('docs/operations.md', ['Roll back']);
  expect(await images()).toEqual(['registry.example/switchyard:0.1.0', 'registry.example/switchyard:0.1.0']);
  expect([await job.place(), job.starts()]).toEqual([place, 1]);

  job.letEnd();
  expect((await job.complete()).status).toMatchObject({ succeeded: 1 });
  expect(job.starts()).toBe(1);
  // And what is new is taken as before.
  const next = await startLongJob(installation, 'next');
  next.letEnd();
  await next.complete();
});
