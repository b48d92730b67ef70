import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import type { CycleParts, LoggedAdmission, LoggedPreemption, LoggedWaiting } from './decision-log.ts';
import type { Decision } from '../scheduling/decision.ts';

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
      const { cluster, flavors, parallelism } = decision.record;
      admitted.push({ job, queue, cluster, flavors, ...omitUndefined({ pods: parallelism }) });
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
