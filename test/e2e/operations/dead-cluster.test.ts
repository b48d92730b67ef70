/**
 * Goal: docs/operations.md, "Take a worker cluster out" and "Give up a dead cluster": its Jobs move, when nothing of them can run there any
 * more, and it is forgotten.
 */
import { expect, test } from 'vitest';
import { WORKER_CLUSTERS } from '../../../manager/api/worker-cluster.ts';
import { CLUSTERS_ANNOTATION } from '../../../shared/api/names.ts';
import { JOBS } from '../../../shared/api/resources.ts';
import { canInstall, startInstallation, type Installation } from '../../support/installation.ts';
import { startLongJob, until, type LongJob } from '../../support/installed-jobs.ts';
import { isSlow } from '../../support/slow.ts';

const LIMIT_MS = 500_000;

/** A Job that runs there, and may run elsewhere from then on. */
async function startOn(installation: Installation, cluster: string, name: string): Promise<LongJob> {
  const job = await startLongJob(installation, name, cluster);
  const body = { metadata: { annotations: { [CLUSTERS_ANNOTATION]: null } } };
  await installation.clusters.home.client.patch(JOBS, { namespace: 'default', name }, { type: 'merge', body });
  return job;
}

test.skipIf(!isSlow || !canInstall())(
  'a worker cluster is taken out, comes back, dies and is given up',
  { timeout: LIMIT_MS },
  async () => {
    await using installation = await startInstallation();
    await installation.install();
    const { home, west } = installation.clusters;
    const first = await startOn(installation, 'west', 'first');
    installation.here('the cluster is worked on', () =>
      until('it runs on east', async () => /^east \S+$/.test(await first.place()) && first.starts() === 2, first.story),
    );
    await installation.follow('docs/operations.md', ['Take a worker cluster out']);
    first.letEnd();
    await first.complete();

    const second = await startOn(installation, 'west', 'second');
    await west.kubelet.stop('switchyard', 'switchyard-worker');
    await west.stop();
    const lost = async (): Promise<string | undefined> =>
      (await home.client.get(WORKER_CLUSTERS, { namespace: '', name: 'west' })).status?.lostSince;
    await until('west is lost', async () => (await lost()) !== undefined);

    await installation.follow('docs/operations.md', ['Give up a dead cluster']);
    await until('it runs on east', async () => second.starts() === 2, second.story);
    expect(await second.place()).toMatch(/^east /);
    expect((await home.client.list(WORKER_CLUSTERS)).items.map(({ metadata }) => metadata.name)).toEqual(['east']);
    second.letEnd();
    await second.complete();
  },
);
