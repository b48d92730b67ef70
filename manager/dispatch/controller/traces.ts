/**
 * Which clusters have, or may have, something of a Job: so a Job is decided on by looking at those few, and not at hundreds. What is noted may be over;
 * what is not noted is not there.
 */
export interface Traces {
  note(localKey: string, cluster: string): void;
  /** Names of clusters. Those for which `isStill` says no are dropped. */
  of(localKey: string, isStill: (cluster: string) => boolean): readonly string[];
}

export function createTraces(): Traces {
  const clusters = new Map<string, Set<string>>();
  return {
    note(localKey, cluster) {
      const noted = clusters.get(localKey);
      if (noted === undefined) clusters.set(localKey, new Set([cluster]));
      else noted.add(cluster);
    },
    of(localKey, isStill) {
      const noted = clusters.get(localKey);
      if (noted === undefined) return [];
      for (const cluster of noted) if (!isStill(cluster)) noted.delete(cluster);
      if (noted.size === 0) clusters.delete(localKey);
      return [...noted];
    },
  };
}
