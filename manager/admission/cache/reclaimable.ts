import type { Requests } from '../../api/amount.ts';
import { forPods } from '../../api/job-requests.ts';
import type { QueueSetup } from '../snapshot/snapshot.ts';
import type { Workload } from '../workload/workload.ts';

/** Whether the quota of pods that a Job will not need again is kept until it ends. */
type Keeping = Pick<QueueSetup, 'keepsFinished'>;

/** What a Workload with a record holds: what stands there, without pods that it will not need again. It follows from record and status, and costs no write. */
export function heldOf(recorded: Requests, { podsNeeded }: Pick<Workload, 'podsNeeded'>, queue: Keeping | undefined): Requests {
  return queue?.keepsFinished === true ? recorded : forPods(recorded, podsNeeded);
}

/**
 * A Workload that waits, as its queue takes it: it asks for the pods that it still needs. Its record allows all that it asks for none the less, because
 * what is over its copy does not run again, and nothing need be told it.
 */
export function sizedFor(workload: Workload, { keepsFinished }: Keeping): Workload {
  const requests = keepsFinished ? workload.requests : forPods(workload.requests, workload.podsNeeded);
  if (requests === workload.requests) return workload;
  const schedulingHash = `${workload.schedulingHash} ${workload.podsNeeded}`;
  return { ...workload, requests, recordedRequests: workload.requests, schedulingHash };
}
