import { chargesIn, type Requests } from '../../api/amount.ts';
import { forPods } from '../../api/job-requests.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import type { Charge } from '../flavors/flavor-assigner.ts';
import { flavorResource } from '../quota/quota-tree.ts';
import { withCharges, type ResourceTransformations } from '../quota/resource-transformations.ts';
import type { QueueSetup } from '../snapshot/snapshot.ts';
import { recordedRequests, type Reservation } from '../workload/reservation.ts';
import type { Workload } from '../workload/workload.ts';
import { digestOfPodSets, sumOf, type WorkloadPodSet } from '../workload/workload-pod-sets.ts';

/** Whether finished pods keep their quota until the Job ends. */
type ReclaimPolicy = Pick<QueueSetup, 'keepsFinished'>;
type ChargePolicy = ReclaimPolicy & Pick<QueueSetup, 'transformations'>;

/**
 * The requests that a Workload with a record holds: the recorded requests without pods that are no longer needed. It derives from record
 * and status, and costs no write.
 */
export function heldOf(recorded: Requests, { podsNeeded }: NeededPods, queue: ReclaimPolicy | undefined): Requests {
  return queue?.keepsFinished === true ? recorded : forPods(recorded, podsNeeded);
}
type NeededPods = Pick<WorkloadPodSet, 'podsNeeded'> | Pick<Workload, 'podsNeeded'>;

/**
 * The requests that a Workload with this record holds, and their charges to its ClusterQueue. Of several pod sets, each gives back what it
 * no longer needs while the others run. `recorded`: the requests of the record.
 */
export function holdingFor(
  workload: Pick<Workload, 'podsNeeded' | 'podSets'>,
  record: Pick<AdmissionRecord, 'flavors' | 'podSets'>,
  recorded: Requests,
  queue: ReclaimPolicy | undefined,
): Pick<Reservation, 'held' | 'recorded'> & { readonly charges: readonly Charge[] } {
  if (record.podSets === undefined) {
    const held = heldOf(recorded, workload, queue);
    return { held, charges: chargesTo(record.flavors, held), ...(held === recorded ? {} : { recorded }) };
  }
  const parts = record.podSets.map((each) => {
    const needed = workload.podSets?.find(({ podSet }) => podSet === each.name) ?? NOTHING_FINISHED;
    return { flavors: each.flavors, requests: heldOf(recordedRequests(each), needed, queue) };
  });
  const charges = parts.flatMap(({ flavors, requests }) => chargesTo(flavors, requests));
  const isLess = queue?.keepsFinished !== true && hasFinishedPods(workload);
  return isLess ? { held: sumOf(parts), recorded, charges } : { held: recorded, charges };
}
const NOTHING_FINISHED: NeededPods = { podsNeeded: undefined };

export const hasFinishedPods = ({ podsNeeded, podSets }: Pick<Workload, 'podsNeeded' | 'podSets'>): boolean =>
  podsNeeded !== undefined || podSets?.some((each) => each.podsNeeded !== undefined) === true;

const chargesTo = (flavors: AdmissionRecord['flavors'], held: Requests): Charge[] =>
  [...chargesIn(held)].flatMap(([resource, amount]): Charge[] => {
    const flavor = flavors[resource];
    return flavor === undefined ? [] : [[flavorResource(flavor, resource), amount]];
  });

/**
 * A pending Workload as its ClusterQueue charges it: with the pods that it still needs, and with what resources are transformed to. Its
 * record still allows all requests: finished indexes of a copy do not run again, so the copy need not know.
 */
export function sizedFor(workload: Workload, { keepsFinished, transformations }: ChargePolicy): Workload {
  // Objects with several pod sets take no finished work along.
  if (workload.podSets !== undefined)
    return transformations === undefined ? workload : ofPodSets(workload, workload.podSets, transformations);
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
  return { ...workload, requests: sumOf(podSets), podSets, schedulingHash: `${workload.schedulingHash} ${digestOfPodSets(podSets)}` };
}
