import { createHash } from 'node:crypto';
import type { DeepReadonly } from '../../../shared/api/kubernetes.ts';
import type { ReadClient } from '../../../shared/kube/client.ts';
import { KubeconfigError } from '../../../shared/kube/kubeconfig/kubeconfig-error.ts';
import type { WorkerCluster } from '../../api/worker-cluster.ts';
import type { ConfigurationProblem } from '../cluster/cluster-status.ts';
import { nextLookMs } from '../token/token-expiry.ts';
import type { TokenRenewal } from '../token/token-renewal.ts';
import { accessOrProblem, type WorkerAccess } from '../token/worker-access.ts';
import { readWorkerSecret } from '../token/worker-secret.ts';

export type Access =
  /** `fingerprint` covers everything that requires a new connection; `worker` is undefined for the manager cluster itself. */
  | { readonly kind: 'Access'; readonly fingerprint: string; readonly worker: WorkerAccess | undefined }
  | { readonly kind: 'Problem'; readonly problem: ConfigurationProblem };

/** Reads how a worker cluster is reached from the Secret of its WorkerCluster. */
export interface AccessReader {
  read(workerCluster: DeepReadonly<WorkerCluster>, signal: AbortSignal): Promise<Access>;
  /** Milliseconds until the Secret is read again. */
  nextReadMs(access: Access, nowMs: number): number;
  forget(cluster: string): void;
}

/**
 * Secrets are read, not watched, so that the manager needs only `get` on the few that are referenced. A Secret is read sooner before its
 * token expires.
 */
const SECRET_CHECK_MS = 30_000;
/** Interval while the Secret has no usable access. */
const SECRET_MISSED_MS = 5_000;

/** `version` is that of the text. */
type Reading = { readonly version: string; readonly result: WorkerAccess | KubeconfigError };

/** `secretsNamespace`: the only namespace for Secrets of WorkerClusters; undefined: any. */
export function createAccessReader(
  home: Pick<ReadClient, 'get'>,
  secretsNamespace: string | undefined,
  tokens: Pick<TokenRenewal, 'newest'>,
): AccessReader {
  const lastRead = new Map<string, Reading>();

  /** Parses a kubeconfig, which may be costly, once for each version. */
  function readOnce(cluster: string, version: string, encoded: string): WorkerAccess | KubeconfigError {
    const last = lastRead.get(cluster);
    if (last?.version === version) return last.result;
    const result = accessOrProblem(Buffer.from(encoded, 'base64').toString('utf8'));
    lastRead.set(cluster, { version, result });
    return result;
  }

  return {
    async read({ metadata: { name, uid }, spec }, signal) {
      const accessTo = (worker: WorkerAccess | undefined): Access => {
        const { jobController, local, namespaces, namespaceLabels, servedNamespaces, leaseNamespace } = spec;
        const made = { jobController, local, namespaces, namespaceLabels, servedNamespaces, leaseNamespace };
        // A WorkerCluster that was recreated may mean another cluster at the same address.
        const connection = JSON.stringify([uid, worker?.endpoint, made]);
        return { kind: 'Access', fingerprint: createHash('sha256').update(connection).digest('hex'), worker };
      };
      if (spec.local === true) return accessTo(undefined);
      const found = await readWorkerSecret(home, spec, secretsNamespace, signal);
      if (found.kind === 'Problem') return found;
      const result = readOnce(name, found.version, found.kubeconfig);
      if (!(result instanceof KubeconfigError)) return accessTo(tokens.newest(name, result, found));
      return { kind: 'Problem', problem: { reason: 'KubeconfigInvalid', message: `${found.where}: ${result.message}` } };
    },
    nextReadMs(access, nowMs) {
      if (access.kind === 'Problem') return SECRET_MISSED_MS;
      const { token } = access.worker?.credentials ?? {};
      return nextLookMs(token, nowMs, { usualMs: SECRET_CHECK_MS, leastMs: SECRET_MISSED_MS });
    },
    forget: (cluster) => void lastRead.delete(cluster),
  };
}
