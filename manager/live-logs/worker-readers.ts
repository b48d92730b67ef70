import type { DeepReadonly } from '../../shared/api/kubernetes.ts';
import type { KubeClient, ReadClient, StreamClient } from '../../shared/kube/client.ts';
import type { ClusterAccess } from '../../shared/kube/cluster-access.ts';
import type { Lister } from '../../shared/kube/indexer.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { withDeadline } from '../../shared/runtime/deadline.ts';
import type { WorkerCluster } from '../api/worker-cluster.ts';
import { renewableAccess, type RenewableAccess } from '../dispatch/token/renewable-access.ts';
import { accessOrProblem, type WorkerAccess } from '../dispatch/token/worker-access.ts';
import { readWorkerSecret } from '../dispatch/token/worker-secret.ts';
import { chooseToken, endpointDigest, storedToken } from '../dispatch/token/worker-token.ts';

export type WorkerReader = ReadClient & StreamClient;

/** Connections for reading pods on worker clusters: those of this replica, leader or not, and apart from the connections of dispatch. */
export interface WorkerReaders {
  /** Rejects where the Secret of the cluster cannot be read now. */
  of(cluster: string): Promise<WorkerReader | { readonly kind: 'Problem'; readonly message: string }>;
  close(): Promise<void>;
}

export type WorkerReadersDeps = {
  readonly workerClusters: Lister<WorkerCluster>;
  /** The manager cluster: it has the Secrets, and may be a worker cluster itself. */
  readonly home: WorkerReader;
  readonly connect: (cluster: string, access: ClusterAccess) => WorkerReader & Pick<KubeClient, 'close'>;
  /** The only namespace for the Secrets; undefined: any. */
  readonly secretsNamespace: string | undefined;
  readonly clock: Clock;
};

/** A Secret is not read again within this time, unless the cluster has refused its credentials. */
const SECRET_TTL_MS = 30_000;
const ANSWER_MS = 5_000;

type Connected = {
  /** The fingerprint of WorkerCluster and server. */
  readonly fingerprint: string;
  readonly access: RenewableAccess;
  readonly client: ReturnType<WorkerReadersDeps['connect']>;
  /** On the clock's `monotonic`. */
  freshUntilMs: number;
};

export function createWorkerReaders({ workerClusters, home, connect, secretsNamespace, clock }: WorkerReadersDeps): WorkerReaders {
  const connected = new Map<string, Connected>();
  const closed = new AbortController();
  /** One read at a time for each cluster. */
  const looking = new Map<string, ReturnType<WorkerReaders['of']>>();
  const workerCluster = (name: string): DeepReadonly<WorkerCluster> | undefined => workerClusters.get({ namespace: '', name });

  /** The access with the newest token that a leader has stored next to the kubeconfig. */
  async function access(cluster: DeepReadonly<WorkerCluster>): Promise<WorkerAccess | { kind: 'Problem'; message: string }> {
    const found = await withDeadline(clock, ANSWER_MS, closed.signal, (signal) =>
      readWorkerSecret(home, cluster.spec, secretsNamespace, signal),
    );
    if (found.kind === 'Problem') return { kind: 'Problem', message: found.problem.message };
    const read = accessOrProblem(Buffer.from(found.kubeconfig, 'base64').toString('utf8'));
    if (read instanceof Error) return { kind: 'Problem', message: `${found.where}: ${read.message}` };
    const { token: given } = read.credentials;
    if (given === undefined) return read;
    const renewed = [storedToken(found.secret.data, found.key)];
    const token = chooseToken({ given, endpoint: endpointDigest(read.endpoint), renewed, refused: new Set(), nowMs: clock.now() });
    return { ...read, credentials: { ...read.credentials, token } };
  }

  async function look(cluster: DeepReadonly<WorkerCluster>): ReturnType<WorkerReaders['of']> {
    const { name, uid } = cluster.metadata;
    const read = await access(cluster);
    if ('kind' in read) return read;
    const fingerprint = JSON.stringify([uid, read.endpoint]);
    const before = connected.get(name);
    const freshUntilMs = clock.monotonic() + SECRET_TTL_MS;
    if (before?.fingerprint === fingerprint) {
      before.access.renew(read.credentials);
      before.freshUntilMs = freshUntilMs;
      return before.client;
    }
    await forget(name);
    const own = renewableAccess(name, read, () => {
      const entry = connected.get(name);
      if (entry?.access === own) entry.freshUntilMs = Number.NEGATIVE_INFINITY;
    });
    const client = connect(name, own);
    connected.set(name, { fingerprint, access: own, client, freshUntilMs });
    return client;
  }

  async function forget(name: string): Promise<void> {
    const entry = connected.get(name);
    connected.delete(name);
    await entry?.client.close();
  }

  return {
    async of(name) {
      await Promise.all([...connected.keys()].filter((each) => workerCluster(each) === undefined).map(forget));
      const cluster = workerCluster(name);
      if (cluster === undefined) return { kind: 'Problem', message: 'there is no WorkerCluster of this name' };
      if (cluster.spec.local === true) return home;
      const entry = connected.get(name);
      if (entry !== undefined && clock.monotonic() < entry.freshUntilMs) return entry.client;
      const inFlight = looking.get(name) ?? look(cluster).finally(() => looking.delete(name));
      looking.set(name, inFlight);
      return inFlight;
    },
    async close() {
      closed.abort(new Error('nobody looks any more'));
      await Promise.all([...connected.keys()].map(forget));
    },
  };
}
