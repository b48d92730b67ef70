/**
 * Clusters that have, or may have, traces of a Job, so that a decision reads a few clusters instead of hundreds. A noted cluster may have
 * none any more; a cluster that is not noted has none.
 */
export interface Traces {
  note(localKey: string, cluster: string): void;
  /** Names of the noted clusters. Drops those for which `isStill` returns false. */
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
