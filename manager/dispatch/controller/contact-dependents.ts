/** Keys of the Jobs that depend on the contact to a cluster, so that one that comes and goes does not cost a plan for each Job there. */
export interface ContactDependents {
  /** Replaces the clusters that a Job depends on. */
  set(localKey: string, clusters: readonly string[]): void;
  of(cluster: string): readonly string[];
}

export function createContactDependents(): ContactDependents {
  const clustersOf = new Map<string, readonly string[]>();
  const jobsOf = new Map<string, Set<string>>();
  return {
    set(localKey, clusters) {
      for (const cluster of clustersOf.get(localKey) ?? []) {
        const jobs = jobsOf.get(cluster);
        jobs?.delete(localKey);
        if (jobs?.size === 0) jobsOf.delete(cluster);
      }
      for (const cluster of clusters) {
        const jobs = jobsOf.get(cluster);
        if (jobs === undefined) jobsOf.set(cluster, new Set([localKey]));
        else jobs.add(localKey);
      }
      if (clusters.length === 0) clustersOf.delete(localKey);
      else clustersOf.set(localKey, clusters);
    },
    of: (cluster) => [...(jobsOf.get(cluster) ?? [])],
  };
}
