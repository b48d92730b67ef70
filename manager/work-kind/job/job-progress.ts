import type { DeepReadonly, Job, JobStatus } from '../../../shared/api/kubernetes.ts';
import type { Progress } from '../work-kind.ts';

export const progressOf = ({ status }: DeepReadonly<Pick<Job, 'status'>>): Progress => ({
  startTime: status?.startTime ?? undefined,
  completionTime: status?.completionTime ?? undefined,
  active: status?.active ?? 0,
  terminating: status?.terminating ?? 0,
  ready: podsReady(status),
  succeeded: status?.succeeded ?? 0,
  failed: status?.failed ?? 0,
});

/** The number of ready pods. Where the API server does not count them, the number of active pods. */
export const podsReady = (status: DeepReadonly<JobStatus> | undefined): number => status?.ready ?? status?.active ?? 0;
