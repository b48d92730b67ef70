/**
 * How the worker clusters of a simulated installation belong to it: a WorkerCluster and the Secret with a kubeconfig for each, and what an
 * operator does to them.
 */
import { WORKER_CLUSTERS, type WorkerClusterSpec } from '../../../manager/api/worker-cluster.ts';
import { SECRETS } from '../../../shared/api/resources.ts';
import { kubeconfigFor } from '../../../shared/controlplane/server/kubeconfig-file.ts';
import { isAlreadyExists } from '../../../shared/kube/api-error.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { Gate } from './gate.ts';

/** Where the manager lives. */
export const MANAGER_NAMESPACE = 'switchyard';

export type Member = {
  readonly name: string;
  /** Where kubeconfigs say that it is. */
  readonly url: string;
  /** Whether the manager finds the namespaces of the teams there, or makes them. */
  readonly namespaces: 'Require' | 'Create';
  readonly gate: Gate;
};

/** Writes the kubeconfig that leads to `cluster` with the token that it knows now into the Secret of the WorkerCluster `name`. */
export async function pointTo(home: KubeClient, name: string, cluster: Member): Promise<void> {
  const body = { data: kubeconfigOf(cluster) };
  await home.patch(SECRETS, { namespace: MANAGER_NAMESPACE, name }, { type: 'merge', body });
}

/** Makes cluster and Secret known to the manager, where they are not. */
export async function join(home: KubeClient, cluster: Member): Promise<void> {
  const { name, namespaces } = cluster;
  const secret = { metadata: { name, namespace: MANAGER_NAMESPACE }, data: kubeconfigOf(cluster) };
  const spec: WorkerClusterSpec = { kubeconfigSecretRef: { namespace: MANAGER_NAMESPACE, name }, namespaces };
  await unlessThere(() => home.create(SECRETS, secret));
  await unlessThere(() => home.create(WORKER_CLUSTERS, { metadata: { name }, spec }));
}

async function unlessThere(create: () => Promise<unknown>): Promise<void> {
  try {
    await create();
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

const kubeconfigOf = ({ url, gate }: Member): Record<string, string> => ({
  kubeconfig: Buffer.from(kubeconfigFor({ url }, gate.token())).toString('base64'),
});
