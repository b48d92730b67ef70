import type { Clock, Timer } from '../../../shared/runtime/clock.ts';
import { fencedJob, judgeLoss } from '../../api/fenced-off.ts';
import type { LostClusters } from '../../api/lost-clusters.ts';
import { FailReason } from '../../api/reasons.ts';
import type { AdmissionCache } from '../cache/admission-cache.ts';
import { EvictionReason, type Eviction } from './evictions.ts';

/** Finds the Workloads of lost clusters that are to leave them. All are looked at when something about clusters or queues has changed, when a Workload has come to a lost one, and when a time has come. */
export interface LossWatch {
  lookAnew(): void;
  find(): readonly Eviction[];
  stop(): void;
}

export function createLossWatch(deps: {
  readonly cache: Pick<AdmissionCache, 'reservations' | 'placements' | 'queueing'>;
  readonly lostClusters: LostClusters;
  /** After this time the Jobs of a lost cluster are moved; 0: never. */
  readonly timeoutMs: number;
  /** There is something to find. */
  readonly wake: () => void;
  readonly clock: Clock;
}): LossWatch {
  const { cache, lostClusters, timeoutMs, wake, clock } = deps;
  let isDue = true;
  let timer: Timer | undefined;
  /** What {@link AdmissionCache.placements} was of each lost cluster when it was looked at. */
  let placements: ReadonlyMap<string, number> = new Map();

  const look = (): Eviction[] => {
    const found: Eviction[] = [];
    let nextMs = Number.POSITIVE_INFINITY;
    const lost = new Map(lostClusters.names().map((name) => [name, lostClusters.of(name)]));
    placements = new Map([...lost.keys()].map((name) => [name, cache.placements(name)]));
    if (lost.size > 0) {
      for (const reservation of cache.reservations()) {
        const { workload, record, assumed } = reservation;
        const cluster = lost.get(record.cluster);
        if (cluster === undefined || assumed || workload.phase !== 'Admitted') continue;
        const job = fencedJob(workload.graceSeconds, record, cache.queueing().queues.get(record.clusterQueue)?.onLoss);
        const judgement = judgeLoss(cluster, job, timeoutMs);
        if (judgement.kind === 'NotYet') nextMs = Math.min(nextMs, judgement.forMs);
        if (judgement.kind !== 'FencedOff') continue;
        const message = `${record.cluster}: ${judgement.message}`;
        const fail = job.onClusterLost === 'Fail' ? { fail: { reason: FailReason.ClusterLost, message } } : {};
        found.push({ reservation, reason: EvictionReason.ClusterLost, message, ...fail });
      }
    }
    timer?.cancel();
    timer = Number.isFinite(nextMs) ? clock.schedule(due, nextMs) : undefined;
    // Those that are found are looked at until they are seen to be evicted.
    isDue = found.length > 0;
    return found;
  };
  /** The admission of a Workload may have been decided before the cluster was lost, and be written long after that. */
  const somebodyCame = (): boolean => lostClusters.names().some((name) => cache.placements(name) !== (placements.get(name) ?? 0));
  const due = (): void => {
    isDue = true;
    wake();
  };

  return {
    lookAnew: () => {
      isDue = true;
    },
    find: () => (isDue || somebodyCame() ? look() : []),
    stop: () => timer?.cancel(),
  };
}
