import { CLUSTER_QUEUES } from '../../api/cluster-queue.ts';
import type { ClusterChoice } from '../cluster-connection.ts';
import type { Form } from '../cluster-flags.ts';
import { ExitCode } from '../exit-codes.ts';
import { report } from '../report.ts';
import type { Session } from '../session.ts';
import { formatTable } from '../text-table.ts';
import { withCluster } from '../with-cluster.ts';
import { queueSummary, queueTable } from './queue-summary.ts';

export type QueuesConfig = ClusterChoice & { readonly names: readonly string[]; readonly output: Form };

export const runQueues = (config: QueuesConfig, session: Session): Promise<number> =>
  withCluster(config, async ({ client }) => {
    const { names, output } = config;
    const queues =
      names.length === 0
        ? (await client.list(CLUSTER_QUEUES)).items
        : await Promise.all(names.map((name) => client.get(CLUSTER_QUEUES, { namespace: '', name })));
    const summaries = queues.map(queueSummary);
    const lines = summaries.length === 0 ? ['There are no ClusterQueues.'] : formatTable(queueTable(summaries), session.output.width);
    await report(session, output, { lines, value: { queues: summaries } });
    return ExitCode.Done;
  });
