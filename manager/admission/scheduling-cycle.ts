import { given } from '../../shared/runtime/given.ts';
import type { AdmissionCache } from './admission-cache.ts';
import type { Decision } from './decision.ts';
import type { PendingQueues } from './pending-queues.ts';
import { schedule } from './schedule.ts';

export type CycleDeps = {
  readonly cache: Pick<AdmissionCache, 'snapshot' | 'displace'>;
  readonly queues: PendingQueues;
  /** Carries an admission out; false when its turn is later. */
  readonly admit: (decision: Extract<Decision, { kind: 'Admit' }>) => boolean;
  /** Has something tried again when its time has come. */
  readonly at: (timeMs: number, retry: () => void) => void;
};

export type CycleResult = {
  /** How many heads were tried. */
  readonly tried: number;
  readonly admitted: number;
  /** Some are to give their place up. */
  readonly displaces: boolean;
  /** Another cycle may come to something else. */
  readonly progressed: boolean;
};

/** One scheduling cycle: takes the heads, decides, and puts the queues in the state that follows. */
export function runCycle({ cache, queues, admit, at }: CycleDeps, nowMs: number): CycleResult {
  const heads = queues.heads();
  if (heads.length === 0) return { tried: 0, admitted: 0, displaces: false, progressed: false };
  const tried = new Set(heads.map(({ queued }) => queued.workload.key));
  let admitted = 0;
  let others = 0;
  let displaces = false;
  for (const decision of schedule(cache.snapshot(), heads, nowMs, queues.claimants())) {
    const { clusterQueue, queued } = decision.head;
    const victims = decision.kind === 'Preempt' ? decision.victims : [];
    cache.displace({ key: queued.workload.key, clusterQueue }, victims);
    displaces ||= victims.some(({ admitted }) => !admitted.leaving);
    if (decision.kind === 'Admit') {
      if (admit(decision)) admitted++;
      else others++;
    } else if (decision.kind === 'Inadmissible') {
      const { head, reason, message, waitsFor, retryAtMs, claim } = decision;
      const retry = queues.markInadmissible(head, { reason, message, waitsFor, ...given({ retryAtMs, claim }) });
      if (retry !== undefined && retryAtMs !== undefined) at(retryAtMs, retry);
      if (tried.has(queued.workload.key)) others++;
    } else if (decision.kind === 'Preempt') {
      const { head, reason, message, claim } = decision;
      queues.markInadmissible(head, { reason, message, waitsFor: 'cluster', claim });
      if (tried.has(queued.workload.key)) others++;
    }
  }
  return { tried: heads.length, admitted, displaces, progressed: admitted + others > 0 };
}
