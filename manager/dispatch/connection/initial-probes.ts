import type { DeepReadonly } from '../../../shared/api/kubernetes.ts';
import { findCondition } from '../../../shared/kube/conditions.ts';
import { sleep, type Clock } from '../../../shared/runtime/clock.ts';
import { ClusterCondition, type WorkerClusterStatus } from '../../api/worker-cluster.ts';
import type { Finding } from '../cluster/cluster-status.ts';

/**
 * What is found of each cluster when somebody begins to lead. Its WorkerCluster says what the leader before found. Mostly that is still so, and known within a second: until then
 * nothing is told of having just begun, which would be three writes for each cluster, and news to whoever watches.
 */
export interface InitialProbes {
  /** How long it is put off to tell this; undefined: it is to be told. */
  putOffMs(name: string, told: DeepReadonly<WorkerClusterStatus> | undefined, finding: Finding): number | undefined;
  /** What the cache has of its WorkerCluster is what was found. */
  agreed(name: string): void;
  /** There is no such cluster any more. */
  forget(name: string): void;
  /** Resolves when all clusters say what was found of them, though some may not be in reach; or after some seconds, when that cannot be written, or `signal` aborts. */
  settled(signal: AbortSignal): Promise<void>;
}

/** Who is not in contact by then says so. Three probes that are refused take two seconds. */
const PUT_OFF_MS = 3_000;
/** A manager that cannot write what it finds goes on with what is known. */
const SETTLED_WITHIN_MS = 10_000;

/** `names`: of all WorkerClusters. */
export function createInitialProbes(clock: Clock, names: () => readonly string[]): InitialProbes {
  const sinceMs = new Map<string, number>();
  const known = new Set<string>();
  let isSettled = false;
  const all = Promise.withResolvers<void>();
  const look = (): void => {
    if (isSettled || !names().every((name) => known.has(name))) return;
    isSettled = true;
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
      look();
    },
    forget(name) {
      known.delete(name);
      sinceMs.delete(name);
      look();
    },
    async settled(signal) {
      look();
      const over = new AbortController();
      await Promise.race([all.promise, sleep(clock, SETTLED_WITHIN_MS, AbortSignal.any([signal, over.signal]))]);
      over.abort();
    },
  };
}

/** It is connected to, or in contact while its nodes are still listed, which says nothing against a cluster that was ready. */
const isBeginning = ({ health, capacity }: Finding & { kind: 'Running' }, wasReady: boolean): boolean =>
  health.contact === 'Connecting' || (health.contact === 'Ready' && wasReady && capacity.isAll !== true);
