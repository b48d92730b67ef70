import { connect, type ClusterChoice, type ClusterConnection } from './cluster-connection.ts';
import { troubleWith } from './trouble.ts';

/**
 * Does something with a connection to the cluster that the flags name, and closes it. Trouble with the cluster is thrown as CommandError.
 */
export async function withCluster<T>(
  choice: ClusterChoice,
  act: (connection: ClusterConnection) => Promise<T>,
  which = 'the manager cluster',
): Promise<T> {
  const connection = connect(choice);
  try {
    return await act(connection);
  } catch (error) {
    throw troubleWith(which, connection.server, error);
  } finally {
    await connection.client.close();
  }
}
