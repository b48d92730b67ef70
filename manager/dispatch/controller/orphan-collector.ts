import type { WorkObject } from '../../../shared/api/kubernetes.ts';
import type { Lister } from '../../../shared/kube/indexer.ts';
import { parseKey } from '../../../shared/kube/keys.ts';
import { sleep, type Clock } from '../../../shared/runtime/clock.ts';
import { copyIdentity } from '../../work-kind/copy-marks.ts';
import type { RemoteCluster } from '../connection/remote-cluster-contract.ts';

export type OrphanCollectorDeps = {
  readonly clusters: () => readonly RemoteCluster[];
  readonly jobs: Lister<WorkObject>;
  /** Enqueues a Job: its copies are deleted if the Job is gone. */
  readonly wake: (localKey: string) => void;
  readonly clock: Clock;
};

const SWEEP_INTERVAL_MS = 60_000;

/**
 * Finds copies whose Job is gone without an event, and copies whose deletion was undone, cluster by cluster in the existing caches. The
 * mirror controller decides about them like about all others.
 */
export async function runOrphanCollector(deps: OrphanCollectorDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const cluster of deps.clusters()) {
      for (const key of [...cluster.undeleted(), ...orphansOf(cluster, deps.jobs)]) deps.wake(key);
    }
    await sleep(deps.clock, SWEEP_INTERVAL_MS, signal);
  }
}

/** Keys of Jobs that are gone, or were recreated, while an old copy still exists. */
export function orphansOf(cluster: Pick<RemoteCluster, 'localKeys' | 'copiesOf'>, jobs: Lister<WorkObject>): readonly string[] {
  return [...cluster.localKeys()].filter((key) => {
    const uid = jobs.get(parseKey(key))?.metadata.uid;
    return cluster.copiesOf(key).some(({ job, deleting }) => !deleting && copyIdentity(job)?.originUid !== uid);
  });
}
