/**
 * Goal: docs/uninstall.md, "Uninstall": after an installation that has run Jobs, all clusters have the objects that they had before it, and
 * no others.
 */
import { expect, test } from 'vitest';
import { JOBS } from '../../../shared/api/resources.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { canInstall, CLUSTERS, startInstallation } from '../../support/installation.ts';
import { startLongJob } from '../../support/installed-jobs.ts';
import { isSlow } from '../../support/slow.ts';

const LIMIT_MS = 400_000;

test.skipIf(!isSlow || !canInstall())('nothing stays of an installation that is uninstalled', { timeout: LIMIT_MS }, async () => {
  await using installation = await startInstallation();
  const { clusters } = installation;
  const all = async (): Promise<Record<string, string[]>> =>
    Object.fromEntries(await Promise.all(CLUSTERS.map(async (name) => [name, await objectsOn(clusters[name].client)] as const)));
  const before = await all();
  await installation.install();
  const done = await startLongJob(installation, 'done');
  done.letEnd();
  await done.complete();
  await startLongJob(installation, 'runs');
  expect((await clusters.home.client.list(JOBS)).items).toHaveLength(2);
  const during = await all();
  for (const name of CLUSTERS) expect(during[name]?.length).toBeGreaterThan(before[name]?.length ?? 0);

  await installation.follow('docs/uninstall.md', ['Uninstall']);
  expect(await all()).toEqual(before);
});

type ApiResource = { readonly name: string; readonly namespaced: boolean; readonly verbs: readonly string[] };

/** What can be listed there, by group, kind and name: whatever it is that somebody may have left. Events are told about what there was. */
async function objectsOn(client: KubeClient): Promise<string[]> {
  const read = async <T>(path: string): Promise<T> => JSON.parse(await client.raw({ method: 'GET', path })) as T;
  const { groups } = await read<{ groups: { preferredVersion: { groupVersion: string } }[] }>('/apis');
  const roots = ['/api/v1', ...groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`)];
  const found: string[] = [];
  for (const root of roots) {
    const { resources } = await read<{ resources: ApiResource[] }>(root);
    for (const { name, verbs } of resources) {
      if (!verbs.includes('list') || name === 'events') continue;
      const { items } = await read<{ items: { metadata: { namespace?: string; name: string } }[] }>(`${root}/${name}`);
      found.push(...items.map(({ metadata }) => `${root}/${name} ${metadata.namespace ?? ''}/${metadata.name}`));
    }
  }
  return found.toSorted();
}
