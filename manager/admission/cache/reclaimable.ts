import type { Requests } from '../../api/amount.ts';
import { forPods } from '../../api/job-requests.ts';
import type { QueueSetup } from '../snapshot/snapshot.ts';
import type { Workload } from '../workload/workload.ts';

/** Whether finished pods keep their quota until the Job ends. */
type ReclaimPolicy = Pick<QueueSetup, 'keepsFinished'>;

/**
 * The requests that a Workload with a record holds: the recorded requests without pods that are no longer needed. It derives from record
 * and status, and costs no write.
 */
export function heldOf(recorded: Requests, { podsNeeded }: Pick<Workload, 'podsNeeded'>, queue: ReclaimPolicy | undefined): Requests {
  return queue?.keepsFinished === true ? recorded : forPods(recorded, podsNeeded);
}

/**
 * A pending Workload as its ClusterQueue charges it: with the pods that it still needs. Its record still allows all requests: finished
 * indexes of a copy do not run again, so the copy need not know.
 */
export function sizedFor(workload: Workload, { keepsFinished }: ReclaimPolicy): Workload {
  const requests = keepsFinished ? workload.requests : forPods(workload.requests, workload.podsNeeded);
  if (requests === workload.requests) return workload;
  const schedulingHash = `${workload.schedulingHash} ${workload.podsNeeded}`;
  return { ...workload, requests, recordedRequests: workload.requests, schedulingHash };
}
