import { leaseNamespaces } from '../../../shared/api/fence-leases.ts';
import { WORKER_CONTROLLER_NAME } from '../../../shared/api/names.ts';
import { SECRETS, type Resource } from '../../../shared/api/resources.ts';
import type { ObjectKey } from '../../../shared/api/kubernetes.ts';
import { isNotFound } from '../../../shared/kube/api-error.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { findCondition } from '../../../shared/kube/conditions.ts';
import { ClusterCondition, WORKER_CLUSTERS, type WorkerCluster } from '../../api/worker-cluster.ts';
import type { ClusterChoice } from '../cluster-connection.ts';
import type { Form } from '../cluster-flags.ts';
import { confirmed } from '../confirmation.ts';
import { ExitCode } from '../exit-codes.ts';
import { followObjects } from '../follow-objects.ts';
import { plain } from '../plain-text.ts';
import { report } from '../report.ts';
import type { Session } from '../session.ts';
import { waitingFor } from '../waiting.ts';
import { withCluster } from '../with-cluster.ts';
import { accessObjects } from './access-rights.ts';
import { accountPolicy } from './account-policy.ts';
import { removeCarryGrants, type RemovedCarryGrants } from './remove-carry-grants.ts';

export type LeaveConfig = ClusterChoice & {
  readonly name: string;
  readonly 'worker-context': string | undefined;
  readonly 'worker-kubeconfig': string | undefined;
  readonly 'account-namespace': string;
  readonly timeout: number;
  readonly yes: boolean;
  readonly output: Form;
};

export const runLeave = (config: LeaveConfig, session: Session): Promise<number> =>
  withCluster(config, async ({ client }) => {
    const { name, yes, timeout } = config;
    const cluster = await client.get(WORKER_CLUSTERS, { namespace: '', name });
    if (!yes && !(await confirmed(session, `Have cluster ${plain(name)} leave? Its Jobs are suspended, and queue again.`))) {
      await session.errors.write('Nothing was done.\n');
      return ExitCode.Failed;
    }
    await removed(client, WORKER_CLUSTERS, { namespace: '', name });
    const code = await waitingFor({ session, timeoutMs: timeout, what: `${name} has not left` }, (signal, done) =>
      untilGone(client, cluster, session, signal, done),
    );
    if (code !== ExitCode.Done) return code;
    const { kubeconfigSecretRef: secret } = cluster.spec;
    if (secret !== undefined) await removed(client, SECRETS, { namespace: secret.namespace, name: secret.name });
    const grants = await removeAccount(config, cluster);
    const { removed: carryNamespaces = [], left = [] } = grants ?? {};
    const lines = [
      `${plain(name)} has left`,
      ...(grants === undefined ? ['The account of the manager is still there; --worker-context deletes it, too.'] : []),
      ...(carryNamespaces.length === 0 ? [] : [`Removed the rights of --carry-namespaces in ${carryNamespaces.map(plain).join(', ')}.`]),
      ...left.map(({ why, command }) => `Not removed: ${plain(why)}. To remove it: ${plain(command)}`),
    ];
    const value = { cluster: name, result: 'left', accountDeleted: grants !== undefined, carryNamespaces, left };
    await report(session, config.output, { lines, value });
    return ExitCode.Done;
  });

async function untilGone(
  client: KubeClient,
  seen: WorkerCluster,
  { errors }: Session,
  signal: AbortSignal,
  done: () => void,
): Promise<void> {
  const { name, uid } = seen.metadata;
  let said = '';
  await followObjects(
    client,
    { resource: WORKER_CLUSTERS, fieldSelector: `metadata.name=${name}`, seen: [seen] },
    async (cluster, isGone) => {
      if (isGone || cluster.metadata.uid !== uid) return done();
      const message = findCondition(cluster.status?.conditions, ClusterCondition.Removing)?.message ?? '';
      if (message !== '' && message !== said) await errors.write(`${plain(message)}\n`);
      said = message;
    },
    signal,
  );
}

/** Where nobody says how the cluster is reached, the account stays; its token ends by itself. */
async function removeAccount(config: LeaveConfig, { spec }: WorkerCluster): Promise<RemovedCarryGrants | undefined> {
  const { 'worker-context': context, 'account-namespace': namespace } = config;
  if (context === undefined) return undefined;
  const wish = {
    namespace,
    name: 'switchyard-manager-access',
    leaseNamespaces: leaseNamespaces(spec.leaseNamespace),
    servedNamespaces: spec.servedNamespaces ?? [],
    createNamespaces: false,
    carryNamespaces: [],
    kinds: [],
    liveLogs: false,
  };
  return withCluster(
    { kubeconfig: config['worker-kubeconfig'] ?? config.kubeconfig, context },
    async ({ client }) => {
      const grants = await removeCarryGrants(client, wish, context);
      const policy = accountPolicy({ ...wish, jobController: spec.jobController ?? WORKER_CONTROLLER_NAME, deniedNamespaces: [] });
      // An API server that has no such policies answers as one that has none of this name.
      for (const { resource, object } of [...policy.toReversed(), ...accessObjects(wish)])
        await removed(client, resource, { namespace: object.metadata.namespace ?? '', name: object.metadata.name });
      return grants;
    },
    `the cluster of context ${context}`,
  );
}

async function removed(client: KubeClient, resource: Resource, key: ObjectKey): Promise<void> {
  try {
    await client.delete(resource, key);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
