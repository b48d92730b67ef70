import { addRequests, chargesIn, type Requests } from '../../api/amount.ts';
import { forPods } from '../../api/job-requests.ts';
import { withCharges, type ResourceTransformations } from '../quota/resource-transformations.ts';
import type { QueueSetup } from '../snapshot/snapshot.ts';
import { digestOfPodSets, type Workload, type WorkloadPodSet } from '../workload/workload.ts';

/** Whether finished pods keep their quota until the Job ends. */
type ReclaimPolicy = Pick<QueueSetup, 'keepsFinished'>;
type ChargePolicy = ReclaimPolicy & Pick<QueueSetup, 'transformations'>;

/**
 * The requests that a Workload with a record holds: the recorded requests without pods that are no longer needed. It derives from record
 * and status, and costs no write.
 */
export function heldOf(recorded: Requests, { podsNeeded }: Pick<Workload, 'podsNeeded'>, queue: ReclaimPolicy | undefined): Requests {
  return queue?.keepsFinished === true ? recorded : forPods(recorded, podsNeeded);
}

/**
 * A pending Workload as its ClusterQueue charges it: with the pods that it still needs, and with what resources are transformed to. Its
 * record still allows all requests: finished indexes of a copy do not run again, so the copy need not know.
 */
export function sizedFor(workload: Workload, { keepsFinished, transformations }: ChargePolicy): Workload {
  if (workload.podSets !== undefined && transformations !== undefined) return ofPodSets(workload, workload.podSets, transformations);
  const all = transformations === undefined ? workload.requests : withCharges(workload.requests, transformations);
  const requests = keepsFinished ? all : forPods(all, workload.podsNeeded);
  if (requests === workload.requests) return workload;
  const charged = transformations === undefined ? '' : JSON.stringify([...chargesIn(all)]);
  const schedulingHash = `${workload.schedulingHash} ${workload.podsNeeded} ${charged}`;
  if (requests === all) return { ...workload, requests, schedulingHash };
  return { ...workload, requests, recordedRequests: all, schedulingHash };
}

/** Each pod set is charged for itself. */
function ofPodSets(workload: Workload, given: readonly WorkloadPodSet[], transformations: ResourceTransformations): Workload {
  const podSets = given.map((each) => ({ ...each, requests: withCharges(each.requests, transformations) }));
  const requests = podSets.map((each) => each.requests).reduce(addRequests);
  return { ...workload, requests, podSets, schedulingHash: `${workload.schedulingHash} ${digestOfPodSets(podSets)}` };
}
