import { isForbidden } from '../../shared/kube/api-error.ts';
import type { ReadClient } from '../../shared/kube/client.ts';
import { LOCAL_QUEUES } from '../api/local-queue.ts';
import { CommandError } from './command-error.ts';
import { ExitCode } from './exit-codes.ts';
import { plain } from './plain-text.ts';

/** The LocalQueue of a namespace. Throws CommandError where the namespace has none, or several. */
export async function onlyQueue(client: ReadClient, namespace: string): Promise<string> {
  const [queue, ...others] = await queuesIn(client, namespace).catch((error: unknown) => {
    if (!isForbidden(error)) throw error;
    throw new CommandError(
      `--queue: you may not list the LocalQueues of namespace ${plain(namespace)}; write the name of the one that you were given`,
      ExitCode.Usage,
      { cause: error },
    );
  });
  if (queue === undefined)
    throw new CommandError(`--queue: namespace ${namespace} has no LocalQueue; choose another with --namespace, or ask for a queue`);
  if (others.length > 0)
    throw new CommandError(
      `--queue: namespace ${namespace} has several: ${[queue, ...others].join(', ')}; write --queue with one of them`,
      ExitCode.Usage,
    );
  return queue;
}

/** Throws CommandError where the namespace has no LocalQueue of that name: a Job would wait for it for ever. */
export async function checkQueue(client: ReadClient, namespace: string, queue: string): Promise<void> {
  const all = await queuesIn(client, namespace).catch((error: unknown) => {
    // Users who may create Jobs need no right to list queues.
    if (isForbidden(error)) return undefined;
    throw error;
  });
  if (all === undefined || all.includes(queue)) return;
  const there = all.length === 0 ? 'it has none' : `it has ${all.join(', ')}`;
  throw new CommandError(`--queue: namespace ${plain(namespace)} has no LocalQueue ${JSON.stringify(queue)}; ${there}`, ExitCode.Usage);
}

const queuesIn = async (client: ReadClient, namespace: string): Promise<string[]> =>
  (await client.list(LOCAL_QUEUES, { namespace })).items.map(({ metadata }) => metadata.name);
