import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import type { CycleParts, LoggedAdmission, LoggedPreemption, LoggedWaiting } from './decision-log.ts';
import { formatRequests } from '../../api/job-requests.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import type { Decision } from '../scheduling/decision.ts';
import { withPods } from '../workload/workload-pod-sets.ts';
import type { Workload } from '../workload/workload.ts';

/** The decisions of a cycle as logged. Messages are omitted, because building them costs more than the decisions. */
export function partsOf(decisions: readonly Decision[]): CycleParts {
  const admitted: LoggedAdmission[] = [];
  const preempting: LoggedPreemption[] = [];
  const waiting: LoggedWaiting[] = [];
  const again: string[] = [];
  for (const decision of decisions) {
    const { clusterQueue: queue, queued } = decision.head;
    const job = queued.workload.key;
    if (decision.kind === 'Admit') {
      admitted.push({ job, queue, ...loggedPlace(decision.record) });
    } else if (decision.kind === 'Preempt') {
      const victims = decision.victims.map(({ admitted: victim, rule }) => ({ job: victim.reservation.workload.key, rule }));
      preempting.push({ job, queue, cluster: decision.claim.cluster, victims });
    } else if (decision.kind === 'Inadmissible') {
      const { reason, waitsFor, claim } = decision;
      waiting.push({ job, queue, reason, waitsFor, ...omitUndefined({ claim: claim?.cluster }) });
    } else again.push(job);
  }
  return {
    ...(admitted.length > 0 ? { admitted } : {}),
    ...(preempting.length > 0 ? { preempting } : {}),
    ...(waiting.length > 0 ? { waiting } : {}),
    ...(again.length > 0 ? { again } : {}),
  };
}

/** The decision of a record, as logged. */
export const loggedPlace = ({ cluster, flavors, podSets, parallelism: pods }: AdmissionRecord): Omit<LoggedAdmission, 'job' | 'queue'> => ({
  cluster,
  flavors,
  ...omitUndefined({ podSets: podSets && Object.fromEntries(podSets.map((each) => [each.name, each.flavors])), pods }),
});

/** The record of a logged admission, as far as decisions depend on it. */
export function recordFor(
  { queue, cluster, flavors, podSets: taken, pods }: LoggedAdmission,
  workload: Pick<Workload, 'requests' | 'podSets'>,
  atMs: number,
): AdmissionRecord {
  const { requests, podSets } = withPods(workload, pods);
  return {
    clusterQueue: queue,
    flavors,
    cluster,
    epoch: 1,
    since: new Date(atMs).toISOString(),
    requests: formatRequests(requests),
    ...omitUndefined({
      podSets: podSets?.map(({ podSet: name, requests: each, admittedPods: count }) => ({
        name,
        flavors: taken?.[name] ?? flavors,
        requests: formatRequests(each),
        ...omitUndefined({ count }),
      })),
      parallelism: pods,
    }),
  };
}
