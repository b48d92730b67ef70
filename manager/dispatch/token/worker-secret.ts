import type { DeepReadonly, Secret } from '../../../shared/api/kubernetes.ts';
import { SECRETS } from '../../../shared/api/resources.ts';
import { isForbidden, isNotFound } from '../../../shared/kube/api-error.ts';
import type { ReadClient } from '../../../shared/kube/client.ts';
import type { WorkerClusterSpec } from '../../api/worker-cluster.ts';
import type { ConfigurationProblem } from '../cluster/cluster-status.ts';

/** The Secret with the kubeconfig of a worker cluster, as read. */
export type WorkerSecret =
  | {
      readonly kind: 'Secret';
      readonly secret: DeepReadonly<Secret>;
      readonly key: string;
      /** The base64 text of the Secret. */
      readonly kubeconfig: string;
      /** The version of the text: equal for the same Secret, resourceVersion and key. */
      readonly version: string;
      /** Names Secret and key, for messages. */
      readonly where: string;
    }
  | { readonly kind: 'Problem'; readonly problem: ConfigurationProblem };

/** Reads the Secret that the spec names. It must be in `secretsNamespace`, where that is set. */
export async function readWorkerSecret(
  home: Pick<ReadClient, 'get'>,
  { kubeconfigSecretRef: reference }: DeepReadonly<Pick<WorkerClusterSpec, 'kubeconfigSecretRef'>>,
  secretsNamespace: string | undefined,
  signal: AbortSignal,
): Promise<WorkerSecret> {
  if (reference === undefined) return missing('spec.kubeconfigSecretRef is not set; name the Secret with its kubeconfig');
  const { namespace, name, key = 'kubeconfig' } = reference;
  if (namespace !== (secretsNamespace ?? namespace))
    return missing(`spec.kubeconfigSecretRef names namespace ${namespace}; put the Secret into ${secretsNamespace}`);
  const where = `key "${key}" of Secret ${namespace}/${name}`;
  try {
    const secret = await home.get(SECRETS, { namespace, name }, { signal });
    const kubeconfig = secret.data?.[key];
    if (kubeconfig === undefined) return missing(`${where} does not exist`);
    const version = JSON.stringify([secret.metadata.uid, secret.metadata.resourceVersion, key]);
    return { kind: 'Secret', secret, key, kubeconfig, version, where };
  } catch (error) {
    if (isNotFound(error)) return missing(`Secret ${namespace}/${name} does not exist`);
    if (isForbidden(error)) return missing(`Secret ${namespace}/${name} may not be read: ${error.message}`);
    throw error;
  }
}

const missing = (message: string): WorkerSecret => ({ kind: 'Problem', problem: { reason: 'KubeconfigMissing', message } });
