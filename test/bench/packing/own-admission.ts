import type { ClusterQueueSpec } from '../../../manager/api/cluster-queue.ts';
import { createExpectedRunTimes } from '../../../manager/insight/estimate/expected-run-times.ts';
import { createRunTimes } from '../../../manager/insight/estimate/run-times.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { waitingWorkload } from '../../support/waiting-workload.ts';
import { cpuCluster, cpuQueue, createAdmissionCore } from '../admission-core.ts';
import type { PackingJob } from './jobs.ts';
import type { Machine, PackingScheduler } from './play.ts';
import type { EstimateKind } from './run-time-estimates.ts';

export type OwnAdmission = {
  readonly queues: number;
  /** What all ClusterQueues have in their spec besides quota. */
  readonly spec: Partial<ClusterQueueSpec>;
  /** What a Job says of its run time. History is not among it: admission learns that from Jobs that end. */
  readonly estimate: EstimateKind;
};

/**
 * The manager's own admission, as one that decides: the pending queues, the cache and the scheduling cycle. Quota is ample, so that only
 * room on clusters is scarce.
 */
export function createOwnAdmission({ clusters, clusterCpu }: Machine, { queues, spec, estimate }: OwnAdmission): PackingScheduler {
  const core = createAdmissionCore(
    Array.from({ length: queues }, (_, index) => cpuQueue(`queue-${index}`, clusters * clusterCpu, undefined, spec)),
    Array.from({ length: clusters }, (_, index) => cpuCluster(`cluster-${index}`, clusterCpu)),
  );
  const jobs = new Map<string, PackingJob>();
  const expected = createExpectedRunTimes(createRunTimes());
  const queueOf = ({ queue }: PackingJob): string => `queue-${queue % queues}`;
  return {
    arrive: (job, nowMs) => {
      const requests = { cpu: `${job.cpu}`, pods: `${job.pods}` };
      const limitMs = estimate === 'history' ? undefined : estimate === 'exact' ? job.runMs : job.limitMs;
      const workload = waitingWorkload(job.name, requests, {
        createdMs: nowMs,
        shape: job.family,
        maxExecutionSeconds: limitMs === undefined ? undefined : Math.ceil(limitMs / 1000),
        ...omitUndefined({ expectedMs: limitMs ?? expected.of(queueOf(job), job.family, undefined) }),
      });
      jobs.set(workload.key, job);
      core.add(queueOf(job), workload);
    },
    end: (job, nowMs) => {
      const { family, runMs } = job;
      expected.observe({ clusterQueue: queueOf(job), family, ranMs: runMs, endedMs: nowMs });
      core.release(`team/${job.name}`);
    },
    start: (nowMs, begin) => {
      const admitted = (key: string, _clusterQueue: string, cluster: string): void => {
        const job = jobs.get(key);
        if (job !== undefined) begin(job, Number(cluster.slice('cluster-'.length)));
        jobs.delete(key);
      };
      while (core.cycle(nowMs, admitted) !== undefined);
    },
  };
}
