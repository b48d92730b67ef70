import { createHttpTransport } from '../../shared/kube/http-transport.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { accessFromKubeconfig, defaultKubeconfigSource } from '../../shared/kube/kubeconfig.ts';
import { KubeconfigError } from '../../shared/kube/kubeconfig/kubeconfig-error.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { FlagError } from '../../shared/runtime/flags.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';

export type ClusterChoice = { readonly kubeconfig: string | undefined; readonly context: string | undefined };

export type ClusterConnection = {
  readonly client: KubeClient;
  /** That of the context. */
  readonly namespace: string;
  readonly server: string;
};

/** A connection to the cluster that the flags name, or kubectl would take. Throws FlagError where no kubeconfig can be used. */
export function connect({ kubeconfig, context }: ClusterChoice): ClusterConnection {
  const access = accessTo({ kubeconfig, context });
  const client = createKubeClient(createHttpTransport(access, silentLogger), { userAgent: 'switchyard-cli', clock: systemClock });
  return { client, namespace: access.namespace, server: access.server };
}

function accessTo({ kubeconfig, context }: ClusterChoice) {
  try {
    const source = kubeconfig === undefined ? defaultKubeconfigSource(process.env) : { kind: 'file' as const, path: kubeconfig };
    const chosen = context === undefined || source.kind === 'in-cluster' ? source : { ...source, context };
    return accessFromKubeconfig(chosen, systemClock);
  } catch (error) {
    throw error instanceof KubeconfigError ? new FlagError(`--kubeconfig: ${error.message}`, { cause: error }) : error;
  }
}
