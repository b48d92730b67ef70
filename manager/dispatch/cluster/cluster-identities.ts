/** The identity of a WorkerCluster, as far as known. An identity is the UID of the cluster's namespace kube-system. */
export type KnownCluster = {
  readonly name: string;
  readonly createdAt: string;
  /** True for the manager cluster itself. */
  readonly local: boolean;
  /** The identity with which the cluster has been used. */
  readonly recorded: string | undefined;
  /** The identity read over the present connection; undefined before it is read. */
  readonly read: string | undefined;
};
export type IdentityProblem = {
  readonly reason: 'IdentityUnknown' | 'OwnCluster' | 'ClusterChanged' | 'DuplicateCluster';
  readonly message: string;
};

/**
 * Decides which of the WorkerClusters whose identity was read must not be used, and why. In order:
 *
 * 1. The WorkerCluster leads to the manager's own cluster, where each copy would be its own original.
 * 2. The WorkerCluster leads to another cluster than before: its Jobs may still run on the former.
 * 3. Another WorkerCluster has this cluster: they would delete each other's copies. The WorkerCluster with the recorded identity keeps it,
 *    else the older one, else the first by name. A recorded identity stays taken while its WorkerCluster leads elsewhere, or nowhere.
 */
export function judgeIdentities(clusters: readonly KnownCluster[], homeUID: string): ReadonlyMap<string, IdentityProblem> {
  const isOwn = ({ local, read }: KnownCluster): boolean => !local && read === homeUID;
  const holders = new Map<string, KnownCluster>();
  for (const cluster of clusters.filter((each) => !isOwn(each)).toSorted(byClaim)) {
    const uid = cluster.recorded ?? cluster.read;
    if (uid !== undefined && !holders.has(uid)) holders.set(uid, cluster);
  }
  const judge = (cluster: KnownCluster): IdentityProblem | undefined => {
    const { recorded, read } = cluster;
    if (read === undefined) return undefined;
    if (isOwn(cluster)) return OWN_CLUSTER; // 1
    if (recorded !== undefined && recorded !== read) return changed(recorded, read); // 2
    const holder = holders.get(read);
    return holder === undefined || holder === cluster ? undefined : duplicate(holder.name, read); // 3
  };
  const problems = new Map<string, IdentityProblem>();
  for (const cluster of clusters) {
    const problem = judge(cluster);
    if (problem !== undefined) problems.set(cluster.name, problem);
  }
  return problems;
}

function byClaim(one: KnownCluster, other: KnownCluster): number {
  const first = Number(one.recorded === undefined) - Number(other.recorded === undefined);
  return first || compare(one.createdAt, other.createdAt) || compare(one.name, other.name);
}
const compare = (one: string, other: string): number => Number(one > other) - Number(one < other);

const OWN_CLUSTER: IdentityProblem = {
  reason: 'OwnCluster',
  message: 'its kubeconfig leads to the manager’s own cluster; set local: true instead, or correct the Secret',
};
const changed = (recorded: string, read: string): IdentityProblem => ({
  reason: 'ClusterChanged',
  message:
    `it was the cluster whose namespace kube-system has UID ${recorded}, and is now one where it has UID ${read}; correct the Secret so that ` +
    'it leads to the former, or, when no Job of that one can run any more, delete this WorkerCluster and create it again',
});
const duplicate = (holder: string, uid: string): IdentityProblem => ({
  reason: 'DuplicateCluster',
  message:
    `WorkerCluster "${holder}" has the same cluster (UID ${uid} of the namespace kube-system); ` +
    'delete one of the two, or correct the Secret of the one that leads to the wrong cluster',
});
