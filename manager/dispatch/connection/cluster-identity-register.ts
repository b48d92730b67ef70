import type { DeepReadonly } from '../../../shared/api/kubernetes.ts';
import type { WorkerCluster } from '../../api/worker-cluster.ts';
import type { KnownCluster } from '../cluster/cluster-identities.ts';

/** `read` is the identity read last, `used` the identity that is recorded, or about to be. */
export type Identity = { readonly read: string; readonly used: string | undefined };

/** The identities of the connected clusters, beside those that their WorkerClusters record. */
export interface ClusterIdentityRegister {
  get(name: string): Identity | undefined;
  /** undefined: the cluster is no longer connected. */
  set(name: string, identity: Identity | undefined): void;
  /** A WorkerCluster was added, changed or deleted. */
  workerClustersChanged(): void;
  /** The identity in use, or the recorded one. */
  uidOf(name: string): string | undefined;
  nameOf(uid: string): string | undefined;
  /** All WorkerClusters with what is known of their identities. */
  known(): KnownCluster[];
}

type WorkerClusters = {
  get(name: string): DeepReadonly<WorkerCluster> | undefined;
  list(): readonly DeepReadonly<WorkerCluster>[];
};

export function createClusterIdentityRegister(workerClusters: WorkerClusters): ClusterIdentityRegister {
  const identities = new Map<string, Identity>();
  /** Names of WorkerClusters by the identity in use; undefined until needed again. */
  let namesByUID: ReadonlyMap<string, string> | undefined;
  const uidOf = (name: string): string | undefined => identities.get(name)?.used ?? workerClusters.get(name)?.status?.clusterUID;
  const named = ({ metadata: { name } }: DeepReadonly<WorkerCluster>): [string, string][] => {
    const uid = uidOf(name);
    return uid === undefined ? [] : [[uid, name]];
  };
  return {
    get: (name) => identities.get(name),
    set(name, identity) {
      if (identity === undefined) identities.delete(name);
      else identities.set(name, identity);
      namesByUID = undefined;
    },
    workerClustersChanged() {
      namesByUID = undefined;
    },
    uidOf,
    nameOf(uid) {
      namesByUID ??= new Map(workerClusters.list().flatMap(named));
      return namesByUID.get(uid);
    },
    known: () =>
      workerClusters.list().map(({ metadata: { name, creationTimestamp }, spec, status }) => {
        const { read, used } = identities.get(name) ?? {};
        return { name, createdAt: creationTimestamp, local: spec.local === true, recorded: status?.clusterUID ?? used, read };
      }),
  };
}
