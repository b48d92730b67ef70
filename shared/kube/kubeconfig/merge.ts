import type { Kubeconfig } from './kubeconfig.ts';

/**
 * Several kubeconfigs as one, by kubectl's rule: the first to set the current context or to name an entry wins, with the entry as a whole.
 */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  return {
    currentContext: configs.find(({ currentContext }) => currentContext !== undefined)?.currentContext,
    contexts: firstOfName(configs.map(({ contexts }) => contexts)),
    clusters: firstOfName(configs.map(({ clusters }) => clusters)),
    users: firstOfName(configs.map(({ users }) => users)),
  };
}

function firstOfName<T>(maps: readonly ReadonlyMap<string, T>[]): ReadonlyMap<string, T> {
  // What comes later in the list of entries replaces what came before.
  return new Map(maps.toReversed().flatMap((map) => [...map]));
}
