import { parse, stringify } from 'yaml';

type Named<T> = T & { readonly name: string };
type Kubeconfig = {
  readonly apiVersion: 'v1';
  readonly kind: 'Config';
  readonly clusters: readonly Named<{ readonly cluster: object }>[];
  readonly users: readonly Named<{ readonly user: object }>[];
  readonly contexts: readonly Named<{ readonly context: { readonly cluster: string; readonly user: string } }>[];
  readonly 'current-context': string;
};

/**
 * A kubeconfig of one cluster and one user, with its context, cluster and user called `name`: kubeconfigs of several clusters can then be
 * merged.
 */
export function namedKubeconfig(kubeconfig: string, name: string): string {
  const { clusters, users } = parse(kubeconfig) as Kubeconfig;
  const named: Kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: clusters.slice(0, 1).map(({ cluster }) => ({ name, cluster })),
    users: users.slice(0, 1).map(({ user }) => ({ name, user })),
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  };
  return stringify(named, { lineWidth: 0 });
}

/** All of their contexts in one; the current one is that of the first. */
export function mergedKubeconfig(kubeconfigs: readonly string[]): string {
  const all = kubeconfigs.map((each) => parse(each) as Kubeconfig);
  const merged: Kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: all.flatMap(({ clusters }) => clusters),
    users: all.flatMap(({ users }) => users),
    contexts: all.flatMap(({ contexts }) => contexts),
    'current-context': all[0]?.['current-context'] ?? '',
  };
  return stringify(merged, { lineWidth: 0 });
}
