import type { DeepReadonly } from '../../../shared/api/kubernetes.ts';
import { findCondition } from '../../../shared/kube/conditions.ts';
import { sleep, type Clock } from '../../../shared/runtime/clock.ts';
import { ClusterCondition, type WorkerClusterStatus } from '../../api/worker-cluster.ts';
import type { Finding } from '../cluster/cluster-status.ts';

/**
 * The first probe of each cluster in a term of leadership. The WorkerCluster shows the findings of the last leader, which are mostly still
 * true, and confirmed within a second. Until then the beginning of the term is not written: that would cost three writes for each cluster,
 * and wake every watcher.
 */
export interface InitialProbes {
  /** Milliseconds for which this finding is withheld; undefined: write it now. */
  putOffMs(name: string, told: DeepReadonly<WorkerClusterStatus> | undefined, finding: Finding): number | undefined;
  /** The WorkerCluster in the cache shows the finding. */
  agreed(name: string): void;
  /** The WorkerCluster is gone. */
  forget(name: string): void;
  /**
   * Resolves when every WorkerCluster shows its finding, reachable or not. Resolves after some seconds where that cannot be written, or
   * when `signal` aborts.
   */
  reported(signal: AbortSignal): Promise<void>;
}

/** A cluster not in contact by then is reported. Three refused probes take two seconds. */
const PUT_OFF_MS = 3_000;
/** A manager that cannot write its findings continues with those it has. */
const REPORTED_WITHIN_MS = 10_000;

/** `names`: those of all WorkerClusters. */
export function createInitialProbes(clock: Clock, names: () => readonly string[]): InitialProbes {
  const sinceMs = new Map<string, number>();
  const known = new Set<string>();
  let areAllReported = false;
  const all = Promise.withResolvers<void>();
  const update = (): void => {
    if (areAllReported || !names().every((name) => known.has(name))) return;
    areAllReported = true;
    all.resolve();
  };
  return {
    putOffMs(name, told, finding) {
      if (known.has(name) || finding.kind !== 'Running') return undefined;
      const before = findCondition(told?.conditions, ClusterCondition.Ready);
      if (before === undefined || !isBeginning(finding, before.status === 'True')) return undefined;
      const nowMs = clock.monotonic();
      const beganMs = sinceMs.get(name) ?? nowMs;
      sinceMs.set(name, beganMs);
      const leftMs = beganMs + PUT_OFF_MS - nowMs;
      return leftMs > 0 ? leftMs : undefined;
    },
    agreed(name) {
      known.add(name);
      update();
    },
    forget(name) {
      known.delete(name);
      sinceMs.delete(name);
      update();
    },
    async reported(signal) {
      update();
      const over = new AbortController();
      await Promise.race([all.promise, sleep(clock, REPORTED_WITHIN_MS, AbortSignal.any([signal, over.signal]))]);
      over.abort();
    },
  };
}

/** The cluster is being connected to, or its nodes are still being listed: neither counts against a cluster that was ready. */
const isBeginning = ({ health, capacity }: Finding & { kind: 'Running' }, wasReady: boolean): boolean =>
  health.contact === 'Connecting' || (health.contact === 'Ready' && wasReady && capacity.isAll !== true);
