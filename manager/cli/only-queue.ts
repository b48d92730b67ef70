import type { ReadClient } from '../../shared/kube/client.ts';
import { LOCAL_QUEUES } from '../api/local-queue.ts';
import { CommandError } from './command-error.ts';
import { ExitCode } from './exit-codes.ts';

/** The LocalQueue of a namespace. Throws CommandError where the namespace has none, or several. */
export async function onlyQueue(client: ReadClient, namespace: string): Promise<string> {
  const { items } = await client.list(LOCAL_QUEUES, { namespace });
  const [queue, ...others] = items.map(({ metadata }) => metadata.name);
  if (queue === undefined)
    throw new CommandError(`--queue: namespace ${namespace} has no LocalQueue; choose another with --namespace, or ask for a queue`);
  if (others.length > 0)
    throw new CommandError(
      `--queue: namespace ${namespace} has several: ${[queue, ...others].join(', ')}; write one of them`,
      ExitCode.Usage,
    );
  return queue;
}
