import type { ClusterEntry, UserEntry } from '../../shared/kube/kubeconfig/kubeconfig.ts';
import { KubeconfigError } from '../../shared/kube/kubeconfig/kubeconfig-error.ts';
import { parseKubeconfig } from '../../shared/kube/kubeconfig/parse.ts';

/** What a kubeconfig from a Secret may not contain: it must not make this program run commands or read files of its own host. */
const FORBIDDEN_OF_USERS: readonly (readonly [keyof UserEntry, string])[] = [
  ['exec', 'exec'],
  ['authProvider', 'auth-provider'],
  ['tokenFile', 'tokenFile'],
  ['certificateFile', 'client-certificate'],
  ['keyFile', 'client-key'],
];
const FORBIDDEN_OF_CLUSTERS: readonly (readonly [keyof ClusterEntry, string])[] = [['caFile', 'certificate-authority']];

/** Why the kubeconfig of a worker cluster is not accepted, and what to do about it; undefined when it is. */
export function kubeconfigProblem(text: string): string | undefined {
  try {
    const { users, clusters } = parseKubeconfig(text, { name: 'the kubeconfig', directory: '/' });
    return (
      forbidden([...users.values()], FORBIDDEN_OF_USERS, 'users[].user') ??
      forbidden([...clusters.values()], FORBIDDEN_OF_CLUSTERS, 'clusters[].cluster')
    );
  } catch (error) {
    if (!(error instanceof KubeconfigError)) throw error;
    return error.message;
  }
}

function forbidden<Entry>(
  entries: readonly Entry[],
  fields: readonly (readonly [keyof Entry, string])[],
  where: string,
): string | undefined {
  const found = fields.find(([field]) => entries.some((entry) => entry[field] !== undefined));
  return found && `${where}.${found[1]} is not allowed; put the credentials themselves into the kubeconfig`;
}
