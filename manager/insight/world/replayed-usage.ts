import type { DeepReadonly } from '../../../shared/api/kubernetes.ts';
import type { LocalQueue } from '../../api/local-queue.ts';
import type { AdmissionCache, HoldingListener } from '../../admission/cache/admission-cache.ts';
import type { UsagePolicy } from '../../admission/fair-sharing/local-queue-usage.ts';
import { localQueueOf } from '../../admission/fair-sharing/local-queue-order.ts';
import type { Reservation } from '../../admission/workload/reservation.ts';
import { writtenLedger } from '../../admission/fair-sharing/usage-ledger.ts';

/** The usage of LocalQueues in simulations: in a replay, whose log has no earlier usage, and in worlds, which have the written usage. */
export interface ReplayedUsage {
  readonly holdings: HoldingListener;
  /** The usage that orders a LocalQueue within its ClusterQueue; undefined if that does not order by usage. */
  usageOf(localQueue: string): number | undefined;
  /** Compares all LocalQueues again. */
  sample(nowMs: number): void;
}

export type ReplayedUsageDeps = {
  readonly policy: UsagePolicy;
  readonly cache: () => Pick<AdmissionCache, 'queueing'>;
  /** LocalQueues whose status has earlier usage; absent: none. */
  readonly localQueues?: Iterable<DeepReadonly<LocalQueue>>;
  /** The order may have changed: in this ClusterQueue, or in all if undefined. */
  readonly changed: (clusterQueue?: string, localQueue?: string) => void;
  readonly now: () => number;
};

export function createReplayedUsage({ policy, cache, localQueues = [], changed, now }: ReplayedUsageDeps): ReplayedUsage {
  const ledger = writtenLedger(policy, localQueues);
  let sampledMs: number | undefined;
  const notify = (reservation: Reservation): void => changed(reservation.record.clusterQueue, localQueueOf(reservation.workload));
  return {
    holdings: {
      held: (reservation) => {
        const { workload, held, record } = reservation;
        if (workload.queue !== undefined && ledger.admitted(localQueueOf(reservation.workload), workload.key, held, record, now()))
          notify(reservation);
      },
      // An assumed admission counts as admitted, because no write fails here.
      released: (reservation) => {
        ledger.ended(reservation.workload.key, now());
        notify(reservation);
      },
    },
    usageOf: (localQueue) => {
      const { localQueues, queues } = cache().queueing();
      const setup = localQueues.get(localQueue);
      if (setup === undefined || queues.get(setup.clusterQueue)?.admissionMode !== 'UsageBasedAdmissionFairSharing') return undefined;
      const nowMs = now();
      sampledMs ??= nowMs;
      // Usage is scaled to the last comparison, so that values of different times compare.
      return ledger.usage(localQueue, setup.weight, nowMs) * 2 ** Math.min((nowMs - sampledMs) / policy.halfLifeMs, HALF_LIVES_MAX);
    },
    sample: (nowMs) => {
      sampledMs = nowMs;
      changed();
    },
  };
}
/** Beyond this many half-lives no comparable usage is left. */
const HALF_LIVES_MAX = 500;
