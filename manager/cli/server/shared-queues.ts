import type { QueueSummary } from '../queues/queue-summary.ts';
import type { ManagerHttp } from './manager-http.ts';

/** A ClusterQueue that the user may see or use, with the use of the user's LocalQueues of it. */
export type SharedQueue = QueueSummary & {
  readonly localQueues: readonly {
    /** `NAMESPACE/NAME`. */
    readonly key: string;
    readonly waiting: number;
    readonly admitted: number;
    readonly holds: Readonly<Record<string, string>>;
  }[];
};

/** As the manager shows them to the user. */
export async function sharedQueues(manager: ManagerHttp): Promise<readonly SharedQueue[]> {
  const { body } = await manager.answerTo('GET', '/api/v1/queues');
  return (body as { readonly queues: readonly SharedQueue[] }).queues;
}
