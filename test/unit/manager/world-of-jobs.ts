/** A world of one queue without quota, in which Jobs wait. */
import type { WorldObjects } from '../../../manager/insight/world/world-objects.ts';
import type { Job } from '../../../shared/api/kubernetes.ts';
import { QUEUE_NAME_LABEL } from '../../../shared/api/names.ts';
import { cpuQueue, meta, queueingObjects } from '../../bench/admission-core.ts';
import { aHomeJob } from '../../support/jobs.ts';

export function aJobOf(name: string, second: number, priority = 0): Job {
  const creationTimestamp = new Date(Date.UTC(2026, 0, 1) + second * 1_000).toISOString();
  const containers = [{ name: 'main', image: 'busybox', resources: { requests: { cpu: '1' } } }];
  const job = aHomeJob({
    metadata: { name, uid: `uid-${name}`, creationTimestamp, labels: { [QUEUE_NAME_LABEL]: 'main' } },
    spec: { template: { spec: { restartPolicy: 'Never', containers, ...(priority === 0 ? {} : { priorityClassName: `p${priority}` }) } } },
  });
  return job;
}

export const theWorld = (jobs: readonly Job[]): WorldObjects => ({
  ...queueingObjects([cpuQueue('main', 0, undefined)]),
  jobs,
  namespaces: [{ metadata: meta('team') }],
  localQueues: [{ metadata: { ...meta('main'), namespace: 'team' }, spec: { clusterQueue: 'main' } }],
  workerClusters: [],
  workloadPriorityClasses: [],
  priorityClasses: [{ metadata: meta('p10'), value: 10 }],
  limitRanges: [],
  runtimeClasses: [],
});
