/** Jobs on an installation: one that runs until the test lets it end, and what can be seen of it. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Job } from '../../shared/api/kubernetes.ts';
import { CLUSTER_LABEL, CLUSTERS_ANNOTATION, QUEUE_NAME_LABEL } from '../../shared/api/names.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { hasTrueCondition } from '../../shared/kube/conditions.ts';
import { sleep, systemClock } from '../../shared/runtime/clock.ts';
import type { ClusterName, Installation } from './installation.ts';
import type { InstalledCluster } from './installed-cluster.ts';

const POLL_MS = 100;
const NAMESPACE = 'default';

export type LongJob = {
  readonly name: string;
  /** Where its copy is, and the copy's UID: another one is another copy. */
  place(home?: InstalledCluster): Promise<string>;
  /** How often a pod of it has begun. */
  starts(): number;
  /** For a test that fails. */
  story(): Promise<unknown>;
  isRunning(): boolean;
  letEnd(): void;
  /** Resolves when it is complete at home. */
  complete(home?: InstalledCluster): Promise<Job>;
};

/** Creates a Job whose pod runs until it is let end, and waits until it does. */
export async function startLongJob(installation: Installation, name: string, clusters?: string): Promise<LongJob> {
  const job = longJob(installation, name);
  await installation.clusters.home.client.create(JOBS, {
    metadata: {
      name,
      namespace: NAMESPACE,
      labels: { [QUEUE_NAME_LABEL]: 'batch' },
      ...(clusters === undefined ? {} : { annotations: { [CLUSTERS_ANNOTATION]: clusters } }),
    },
    spec: {
      template: {
        spec: {
          restartPolicy: 'Never',
          terminationGracePeriodSeconds: 1,
          containers: [
            {
              name: 'main',
              image: 'busybox',
              command: ['/bin/sh', '-c', script(installation.folder, name)],
              resources: { requests: { cpu: '100m', memory: '16Mi' } },
            },
          ],
        },
      },
    },
  });
  await until(`${name} runs`, async () => job.isRunning(), job.story);
  return job;
}

const script = (folder: string, name: string): string =>
  `mktemp ${folder}/${name}.started.XXXXXX; while [ ! -e ${folder}/${name}.end ]; do sleep 0.2; done`;

function longJob({ folder, clusters }: Installation, name: string): LongJob {
  const key = { namespace: NAMESPACE, name };
  const starts = (): number => readdirSync(folder).filter((file) => file.startsWith(`${name}.started.`)).length;
  return {
    name,
    async place(home = clusters.home) {
      const at = (await home.client.get(JOBS, key)).metadata.labels?.[CLUSTER_LABEL] as ClusterName | undefined;
      if (at === undefined) return 'nowhere';
      return `${at} ${(await clusters[at].client.list(JOBS, { namespace: NAMESPACE })).items.map(({ metadata }) => metadata.uid).join(' ')}`;
    },
    starts,
    story: async () => [
      starts(),
      (await clusters.home.client.get(JOBS, key)).metadata.annotations,
      (await clusters.home.client.get(JOBS, key)).status,
    ],
    isRunning: () => starts() > 0 && !existsSync(path.join(folder, `${name}.end`)),
    letEnd: () => writeFileSync(path.join(folder, `${name}.end`), ''),
    async complete(home = clusters.home) {
      let job = await home.client.get(JOBS, key);
      await until(`${name} is complete`, async () => {
        job = await home.client.get(JOBS, key);
        return hasTrueCondition(job.status?.conditions, 'Complete');
      });
      return job;
    },
  };
}

const PATIENCE_MS = 180_000;

/** Rejects after as long as nothing takes, with the story of what there is instead. */
export async function until(what: string, holds: () => Promise<boolean>, story: () => Promise<unknown> = async () => ''): Promise<void> {
  const givenUpMs = Date.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (Date.now() > givenUpMs) throw new Error(`${what}: not within ${PATIENCE_MS / 1000} s: ${JSON.stringify(await story())}`);
    await sleep(systemClock, POLL_MS);
  }
}
