import type { ClusterChoice } from '../cluster-connection.ts';
import { CommandError } from '../command-error.ts';
import { ExitCode } from '../exit-codes.ts';
import { withCluster } from '../with-cluster.ts';
import type { WayChoice } from './flags.ts';
import type { SubmissionWay } from './way.ts';

/** Does something with a queue of submissions, and closes what was opened. The kubeconfig is looked at where the way needs it. */
export async function withTransport<T>(
  choice: WayChoice,
  cluster: ClusterChoice & { readonly namespace: string | undefined },
  act: (way: SubmissionWay) => Promise<T>,
): Promise<T> {
  if (choice.via === 'redis') {
    // BullMQ takes a while to load.
    const { connectByRedis } = await import('./redis-transport.ts');
    return closing(connectByRedis(choice), act);
  }
  const [{ submitByHttp }, { managerOf }] = await Promise.all([import('./http-transport.ts'), import('../server/with-manager.ts')]);
  const { queue, server, caFile, tokenFile } = choice;
  return withCluster(cluster, async (connection) => {
    const http = await managerOf({ server, 'server-ca': caFile, 'token-file': tokenFile }, connection);
    if ('why' in http) throw new CommandError(`--server: ${http.why}`, ExitCode.Usage);
    return closing(submitByHttp(http, { namespace: cluster.namespace ?? connection.namespace, queue }), act);
  });
}

async function closing<T>(way: SubmissionWay, act: (way: SubmissionWay) => Promise<T>): Promise<T> {
  try {
    return await act(way);
  } finally {
    await way.close();
  }
}
