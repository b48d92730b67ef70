import { connect, type ClusterChoice } from '../cluster-connection.ts';
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
  const { connectByHttp } = await import('./http-transport.ts');
  const { client, namespace, credentials } = connect(cluster);
  try {
    return await closing(connectByHttp({ ...choice, namespace: cluster.namespace ?? namespace, credentials }), act);
  } finally {
    await client.close();
  }
}

async function closing<T>(way: SubmissionWay, act: (way: SubmissionWay) => Promise<T>): Promise<T> {
  try {
    return await act(way);
  } finally {
    await way.close();
  }
}
