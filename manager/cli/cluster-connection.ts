import type { Job } from '../../shared/api/kubernetes.ts';
import { createHttpTransport } from '../../shared/kube/http-transport.ts';
import type { ClusterAccess, Credentials } from '../../shared/kube/cluster-access.ts';
import type { KubeClient, StreamClient } from '../../shared/kube/client.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { accessFromKubeconfig, defaultKubeconfigSource, type KubeconfigSource } from '../../shared/kube/kubeconfig.ts';
import { KubeconfigError } from '../../shared/kube/kubeconfig/kubeconfig-error.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { FlagError } from '../../shared/runtime/flags.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { JOB_KIND } from '../work-kind/job/job-kind.ts';
import { createKinds } from '../work-kind/kinds.ts';
import { createKindsClient } from '../work-kind/kinds-client.ts';
import type { SingleKind, WorkKind } from '../work-kind/work-kind.ts';
import { readWorkKinds } from './work-kinds.ts';

const USER_AGENT = 'switchyard-cli';

export type ClusterChoice = { readonly kubeconfig: string | undefined; readonly context: string | undefined };

export type ClusterConnection = {
  readonly client: KubeClient & StreamClient;
  /** The kind of work that the commands list, create and read there. */
  readonly kind: WorkKind<Job>;
  /**
   * The same with every kind that the manager takes: objects of other kinds are known by qualified names. The first call lists WorkKinds.
   * Throws as {@link readWorkKinds}.
   */
  readonly kinds: () => Promise<JobClient>;
  /** That of the context. */
  readonly namespace: string;
  readonly server: string;
  /** Who we are there, and whom we trust. */
  readonly credentials: () => Promise<Credentials>;
};

/** A client of the manager cluster, and the kind of work that commands read and write with it. */
export type JobClient = Pick<ClusterConnection, 'client' | 'kind'>;

/** A connection to the cluster that the flags name, or kubectl would take. Throws FlagError where no kubeconfig can be used. */
export function connect({ kubeconfig, context }: ClusterChoice): ClusterConnection {
  return connectBy(accessTo({ kubeconfig, context }));
}

/** The same by a kubeconfig of another kind. */
export const connectWith = (source: KubeconfigSource): ClusterConnection => connectBy(accessFromKubeconfig(source, systemClock));

function connectBy(access: ClusterAccess): ClusterConnection {
  const transport = createHttpTransport(access, silentLogger);
  const client = createKubeClient(transport, { userAgent: USER_AGENT, clock: systemClock });
  let kinds: Promise<JobClient> | undefined;
  return {
    client,
    kind: JOB_KIND,
    kinds: () => (kinds ??= readWorkKinds(client).then((others) => ofKinds(client, others))),
    namespace: access.namespace,
    server: access.server,
    credentials: () => access.credentials(),
  };
}

function ofKinds(client: ClusterConnection['client'], others: readonly SingleKind[]): JobClient {
  if (others.length === 0) return { client, kind: JOB_KIND };
  const ofAll = createKindsClient(client, others);
  return { client: { ...ofAll, stream: (path, options) => client.stream(path, options) }, kind: createKinds(JOB_KIND, others) };
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
