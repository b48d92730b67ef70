/** Goal: docs/operations.md, "Move the manager to another cluster": the Jobs that wait go along, and run from there. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { JOBS } from '../../../shared/api/resources.ts';
import { WORKER_CLUSTERS } from '../../../manager/api/worker-cluster.ts';
import { CLUSTERS_ANNOTATION, QUEUE_NAME_LABEL } from '../../../shared/api/names.ts';
import { canInstall, startInstallation } from '../../support/installation.ts';
import { startInstalledCluster } from '../../support/installed-cluster.ts';
import { startLongJob, until } from '../../support/installed-jobs.ts';
import { isSlow } from '../../support/slow.ts';

const LIMIT_MS = 500_000;

test.skipIf(!isSlow || !canInstall())('a manager moves, with its queues and the Jobs that wait', { timeout: LIMIT_MS }, async () => {
  await using installation = await startInstallation();
  await using other = await startInstalledCluster('other', installation.image);
  other.kubelet.follow();
  const merged = path.join(installation.folder, 'contexts');
  writeFileSync(merged, readFileSync(other.kubeconfigFile));
  await installation.install();
  installation.addKubeconfig(merged);
  installation.set('NEW_HOME', 'other');
  const { home, east, west } = installation.clusters;
  const done = await startLongJob(installation, 'done');
  done.letEnd();
  await done.complete();
  // One that can run nowhere before the move, because it names a cluster that is not there, so that it waits for certain.
  await home.client.create(JOBS, {
    metadata: {
      name: 'waiting',
      namespace: 'default',
      labels: { [QUEUE_NAME_LABEL]: 'batch', team: 'blue' },
      annotations: { [CLUSTERS_ANNOTATION]: 'nowhere' },
    },
    spec: {
      template: {
        spec: {
          restartPolicy: 'Never',
          containers: [{ name: 'main', image: 'busybox', command: ['true'], resources: { requests: { cpu: '1' } } }],
        },
      },
    },
  });

  installation.here('a snapshot of the home cluster’s etcd is taken', async () => undefined);
  await installation.follow('docs/operations.md', ['Back up', 'Move the manager to another cluster']);
  expect((await other.client.list(WORKER_CLUSTERS)).items.map(({ metadata }) => metadata.name)).toEqual(['east', 'west']);
  const { items } = await other.client.list(JOBS);
  expect(items.map(({ metadata }) => metadata.name)).toEqual(['waiting']);
  const [waiting] = items;
  expect(waiting).toMatchObject({ metadata: { labels: { team: 'blue' } }, spec: { suspend: true, managedBy: 'switchyard.dev/manager' } });
  const body = { metadata: { annotations: { [CLUSTERS_ANNOTATION]: null } } };
  const key = { namespace: 'default', name: 'waiting' };
  await other.client.patch(JOBS, key, { type: 'merge', body });
  await until('it has run', async () => (await other.client.get(JOBS, key)).status?.succeeded === 1);
  for (const cluster of [east, west])
    await until('nothing is left there', async () => (await cluster.client.list(JOBS)).items.length === 0);
});
