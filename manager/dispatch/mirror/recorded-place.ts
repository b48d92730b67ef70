import type { AdmissionRecord } from '../../api/records.ts';

/** Where a record says that a Job is, as far as that cluster is known now. */
export type RecordedPlace =
  /** The WorkerCluster of this name has that cluster, or may turn out to have it. */
  | { readonly kind: 'Known'; readonly cluster: string }
  /** No WorkerCluster has it. */
  | { readonly kind: 'Unknown' }
  /** The WorkerCluster of the recorded name leads to another cluster, and no WorkerCluster to the recorded one. */
  | { readonly kind: 'Changed'; readonly cluster: string; readonly uid: string };

/** The WorkerClusters that there are, and which clusters they are known to be. */
export type KnownPlaces = {
  has(name: string): boolean;
  /** Undefined while it is not known. */
  uidOf(name: string): string | undefined;
  nameOf(uid: string): string | undefined;
};

/**
 * A cluster is who it is, not what it is called: the name counts only where the record says no more, or while it is not known which cluster has the
 * name. One that is not known is not Ready, so that nothing is done there before it is.
 */
export function recordedPlace({ cluster, clusterUID }: Pick<AdmissionRecord, 'cluster' | 'clusterUID'>, known: KnownPlaces): RecordedPlace {
  const uid = known.uidOf(cluster);
  if (clusterUID !== undefined && uid !== clusterUID) {
    const name = known.nameOf(clusterUID);
    if (name !== undefined) return { kind: 'Known', cluster: name };
    if (uid !== undefined) return { kind: 'Changed', cluster, uid };
  }
  return known.has(cluster) ? { kind: 'Known', cluster } : { kind: 'Unknown' };
}
