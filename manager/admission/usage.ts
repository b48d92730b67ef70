import { ZERO, type Amount } from '../api/amount.ts';

/**
 * What is in use, by holder (a node of the quota tree, a WorkerCluster) and key (a flavor resource, a resource).
 * A fork sees the usage of its origin and keeps its own changes to itself: decisions are tried on a fork.
 */
export type Usage = {
  get(holder: string, key: string): Amount;
  set(holder: string, key: string, amount: Amount): void;
  fork(): Usage;
};

export const createUsage = (): Usage => usageOver(() => ZERO);

function usageOver(inherited: (holder: string, key: string) => Amount): Usage {
  const own = new Map<string, Map<string, Amount>>();
  // Most forks hold little of their own, and are asked about everybody.
  const get = (holder: string, key: string): Amount => (own.size === 0 ? undefined : own.get(holder)?.get(key)) ?? inherited(holder, key);
  return {
    get,
    set: (holder, key, amount) => {
      const known = own.get(holder);
      if (known === undefined) own.set(holder, new Map([[key, amount]]));
      else known.set(key, amount);
    },
    fork: () => usageOver(get),
  };
}

/** Under this name a WorkerCluster holds usage: by resource, whatever the flavor. */
export const clusterHolder = (cluster: string): string => `WorkerCluster/${cluster}`;
