/**
 * Goal: docs/operations.md, "Back up" and "Restore the home cluster": what runs since before the backup runs on, and what was made since is
 * stopped and forgotten.
 */
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { JOBS } from '../../../shared/api/resources.ts';
import { canInstall, startInstallation } from '../../support/installation.ts';
import { startLongJob, until } from '../../support/installed-jobs.ts';
import { isServerReal } from '../../support/server-under-test.ts';
import { isSlow } from '../../support/slow.ts';

const LIMIT_MS = 400_000;

test.skipIf(!isSlow || !canInstall())('the home cluster is backed up, goes on, and is restored', { timeout: LIMIT_MS }, async () => {
  await using installation = await startInstallation();
  await installation.install();
  const { home, east, west } = installation.clusters;
  const before = await startLongJob(installation, 'before');
  const place = await before.place();
  const backups: (() => Promise<void>)[] = [];
  installation.here('a snapshot of the home cluster’s etcd is taken', async () => void backups.push(home.backUp()));
  installation.here('the home cluster is restored from the snapshot', async () => {
    const [restore] = backups;
    if (restore === undefined) throw new Error('there is no snapshot');
    await restore();
  });

  await installation.follow('docs/operations.md', ['Back up']);
  const folder = (await installation.sh('echo "$BACKUP"')).output.trim();
  expect(readdirSync(folder).toSorted()).toEqual(['manager-values.yaml', 'secrets.yaml', 'setup.yaml']);
  for (const file of readdirSync(folder)) expect(statSync(path.join(folder, file)).mode & 0o077).toBe(0);
  const since = await startLongJob(installation, 'since');

  await installation.follow('docs/operations.md', ['Restore the home cluster']);
  // A real control plane may take longer to start than the fence, which then stops the Job and has it run again there.
  const startsMax = isServerReal() ? 2 : 1;
  const clusterOf = (where: string): string | undefined => where.split(' ')[0];
  expect(clusterOf(await before.place())).toBe(clusterOf(place));
  expect(before.starts()).toBeLessThanOrEqual(startsMax);
  // What nobody at home knows any more goes from the worker clusters.
  const copies = async (): Promise<string[]> =>
    (await Promise.all([east, west].map(({ client }) => client.list(JOBS, { namespace: 'default' })))).flatMap(({ items }) =>
      items.map(({ metadata }) => metadata.name),
    );
  await until('the copy of what was made since is gone', async () => (await copies()).join() === 'before');
  since.letEnd();
  before.letEnd();
  await before.complete();
  expect(before.starts()).toBeLessThanOrEqual(startsMax);
});
