import type { DeepReadonly } from '../../../shared/api/kubernetes.ts';
import type { LocalQueue } from '../../api/local-queue.ts';
import type { AdmissionCache, HoldingListener } from '../../admission/cache/admission-cache.ts';
import type { UsagePolicy } from '../../admission/fair-sharing/local-queue-usage.ts';
import { localQueueOf } from '../../admission/fair-sharing/local-queue-order.ts';
import type { Reservation } from '../../admission/workload/reservation.ts';
import { writtenLedger } from '../../admission/fair-sharing/usage-ledger.ts';

/** What LocalQueues have used where admission is played: in a replay, whose log does not tell what they had used before, and in worlds, which know what was written. */
export interface ReplayedUsage {
  readonly holdings: HoldingListener;
  /** What orders it among the others of its ClusterQueue; undefined where that does not ask for it. */
  usageOf(localQueue: string): number | undefined;
  /** Compares all anew. */
  sample(nowMs: number): void;
}

export type ReplayedUsageDeps = {
  readonly policy: UsagePolicy;
  readonly cache: () => Pick<AdmissionCache, 'queueing'>;
  /** Whose statuses tell what was used before; absent: nothing was. */
  readonly localQueues?: Iterable<DeepReadonly<LocalQueue>>;
  /** Others may go first in this ClusterQueue now; in all, where none is named. */
  readonly changed: (clusterQueue?: string, localQueue?: string) => void;
  readonly now: () => number;
};

export function createReplayedUsage({ policy, cache, localQueues = [], changed, now }: ReplayedUsageDeps): ReplayedUsage {
  const ledger = writtenLedger(policy, localQueues);
  let sampledMs: number | undefined;
  const tell = (reservation: Reservation): void => changed(reservation.record.clusterQueue, localQueueOf(reservation.workload));
  return {
    holdings: {
      held: (reservation) => {
        const { workload, held, record } = reservation;
        if (workload.queue !== undefined && ledger.admitted(localQueueOf(reservation.workload), workload.key, held, record, now()))
          tell(reservation);
      },
      // Whoever is only assumed here is admitted: nothing fails.
      released: (reservation) => {
        ledger.ended(reservation.workload.key, now());
        tell(reservation);
      },
    },
    usageOf: (localQueue) => {
      const { localQueues, queues } = cache().queueing();
      const setup = localQueues.get(localQueue);
      if (setup === undefined || queues.get(setup.clusterQueue)?.admissionMode !== 'UsageBasedAdmissionFairSharing') return undefined;
      const nowMs = now();
      sampledMs ??= nowMs;
      // As of the last time that all were compared, so that those looked at later are not better off.
      return ledger.usage(localQueue, setup.weight, nowMs) * 2 ** Math.min((nowMs - sampledMs) / policy.halfLifeMs, HALF_LIVES_MAX);
    },
    sample: (nowMs) => {
      sampledMs = nowMs;
      changed();
    },
  };
}
/** Of more nothing is left of what could be compared. */
const HALF_LIVES_MAX = 500;
