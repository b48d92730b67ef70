import type { Clock, Timer } from '../../../shared/runtime/clock.ts';
import { fencedJob, judgeLoss } from '../../api/fenced-off.ts';
import type { LostClusters } from '../../api/lost-clusters.ts';
import { FailReason } from '../../api/reasons.ts';
import type { AdmissionCache } from '../cache/admission-cache.ts';
import { EvictionReason, type Eviction } from './evictions.ts';

/**
 * Finds Workloads that leave lost clusters. All are examined when clusters or queues change, when a Workload is admitted to a lost cluster,
 * and when a judgement is due.
 */
export interface LossWatch {
  recheck(): void;
  find(): readonly Eviction[];
  stop(): void;
}

export function createLossWatch(deps: {
  readonly cache: Pick<AdmissionCache, 'reservations' | 'placements' | 'queueing'>;
  readonly lostClusters: LostClusters;
  /** After this time Jobs leave a lost cluster; 0: never. */
  readonly timeoutMs: number;
  /** Called when Workloads may be found. */
  readonly wake: () => void;
  readonly clock: Clock;
}): LossWatch {
  const { cache, lostClusters, timeoutMs, wake, clock } = deps;
  let isDue = true;
  let timer: Timer | undefined;
  /** {@link AdmissionCache.placements} of each lost cluster at the last look. */
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
        const { onLoss } = cache.queueing().queues.get(record.clusterQueue) ?? {};
        const job = fencedJob(workload.graceSeconds, record, onLoss, workload.fencedKind);
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
    // Workloads that were found are examined until their eviction is observed.
    isDue = found.length > 0;
    return found;
  };
  /** An admission may be decided before the cluster is lost, and be written long after. */
  const hasNewPlacements = (): boolean => lostClusters.names().some((name) => cache.placements(name) !== (placements.get(name) ?? 0));
  const due = (): void => {
    isDue = true;
    wake();
  };

  return {
    recheck: () => {
      isDue = true;
    },
    find: () => (isDue || hasNewPlacements() ? look() : []),
    stop: () => timer?.cancel(),
  };
}
