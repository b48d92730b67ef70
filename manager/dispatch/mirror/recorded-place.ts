import type { AdmissionRecord } from '../../api/records.ts';

/** The cluster that a record names, as far as its identity is known now. */
export type RecordedPlace =
  /** The WorkerCluster of this name is that cluster, or may be. */
  | { readonly kind: 'Known'; readonly cluster: string }
  /** No WorkerCluster is that cluster. */
  | { readonly kind: 'Unknown' }
  /** The WorkerCluster of the recorded name is another cluster now, and no WorkerCluster is the recorded one. */
  | { readonly kind: 'Changed'; readonly cluster: string; readonly uid: string };

/** The WorkerClusters and their known identities. */
export type KnownPlaces = {
  has(name: string): boolean;
  /** Undefined while the identity is unknown. */
  uidOf(name: string): string | undefined;
  nameOf(uid: string): string | undefined;
};

/**
 * Finds the recorded cluster by its UID. Its name counts only where the record has no UID, or the UID of that name is unknown. A cluster of
 * unknown UID is not Ready, so that nothing is done there before its UID is known.
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
