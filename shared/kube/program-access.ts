import type { Clock } from '../runtime/clock.ts';
import { FlagError } from '../runtime/flags.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { accessFromKubeconfig, defaultKubeconfigSource, type KubeconfigEnvironment } from './kubeconfig.ts';
import { KubeconfigError } from './kubeconfig/kubeconfig-error.ts';

/** Flags by which a program finds its cluster; without `kubeconfig` it is where kubectl would look, then the service account of the pod. */
export type AccessFlags = { readonly kubeconfig: string | undefined; readonly context?: string | undefined };

/** Access of a program to its cluster. Throws FlagError when the kubeconfig cannot be used, and KubeconfigError where there is none. */
export function programAccess({ kubeconfig, context }: AccessFlags, environment: KubeconfigEnvironment, clock: Clock): ClusterAccess {
  const source = kubeconfig === undefined ? defaultKubeconfigSource(environment) : ({ kind: 'file', path: kubeconfig } as const);
  try {
    return accessFromKubeconfig(source.kind === 'file' && context !== undefined ? { ...source, context } : source, clock);
  } catch (error) {
    throw error instanceof KubeconfigError ? new FlagError(`--kubeconfig: ${error.message}`, { cause: error }) : error;
  }
}
