import { CLUSTER_QUEUES } from '../../api/cluster-queue.ts';
import type { ClusterChoice } from '../cluster-connection.ts';
import type { Form } from '../cluster-flags.ts';
import { CommandError } from '../command-error.ts';
import { ExitCode } from '../exit-codes.ts';
import { plain } from '../plain-text.ts';
import { report } from '../report.ts';
import type { ServerChoice } from '../server/flags.ts';
import { sharedQueues } from '../server/shared-queues.ts';
import { ownOrManager } from '../server/with-manager.ts';
import type { Session } from '../session.ts';
import { formatTable } from '../text-table.ts';
import { withCluster } from '../with-cluster.ts';
import { queueSummary, queueTable, type QueueSummary } from './queue-summary.ts';

export type QueuesConfig = ClusterChoice & ServerChoice & { readonly names: readonly string[]; readonly output: Form };

export const runQueues = (config: QueuesConfig, session: Session): Promise<number> =>
  withCluster(config, async (connection) => {
    const { names, output } = config;
    const { client } = connection;
    const summaries = await ownOrManager<readonly QueueSummary[]>(config, connection, {
      own: async () =>
        (names.length === 0
          ? (await client.list(CLUSTER_QUEUES)).items
          : await Promise.all(names.map((name) => client.get(CLUSTER_QUEUES, { namespace: '', name })))
        ).map(queueSummary),
      async manager(manager) {
        const queues = await sharedQueues(manager);
        const missing = names.find((name) => queues.every((each) => each.name !== name));
        if (missing !== undefined) throw new CommandError(`there is no ClusterQueue ${plain(missing)} that you may see or use`);
        return names.length === 0 ? queues : queues.filter(({ name }) => names.includes(name));
      },
    });
    const lines = summaries.length === 0 ? ['There are no ClusterQueues.'] : formatTable(queueTable(summaries), session.output.width);
    await report(session, output, { lines, value: { queues: summaries } });
    return ExitCode.Done;
  });
