import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { actInWords } from '../../api/job-acts.ts';
import type { HistoryPods, HistoryRecord } from '../../history/history-record.ts';
import { connect, type ClusterChoice } from '../cluster-connection.ts';
import { ExitCode } from '../exit-codes.ts';
import { withHistory } from '../history-store.ts';
import type { NamedJob } from '../jobs/operands.ts';
import { plain } from '../plain-text.ts';
import { asJson, asYaml } from '../rendering.ts';
import type { Session } from '../session.ts';
import { formatTable } from '../text-table.ts';
import { historyTable, podLines } from './history-table.ts';

export type HistoryConfig = ClusterChoice & {
  readonly store: string;
  readonly job: NamedJob | undefined;
  readonly namespace: string | undefined;
  readonly 'all-namespaces': boolean;
  readonly outcome: HistoryRecord['outcome'] | undefined;
  readonly 'created-by': string | undefined;
  /** Milliseconds. */
  readonly since: number | undefined;
  readonly limit: number;
  readonly output: 'table' | 'json' | 'yaml';
};

export const runHistory = (config: HistoryConfig, session: Session): Promise<number> =>
  withHistory(config.store, session, async (history) => {
    const { job, outcome, 'created-by': user, since, limit, output } = config;
    const namespace = config['all-namespaces'] ? undefined : (job?.namespace ?? config.namespace ?? (await contextNamespace(config)));
    const sinceMs = since === undefined ? undefined : session.now() - since;
    const records = await history.query({ limit, ...omitUndefined({ namespace, name: job?.name, outcome, user, sinceMs }) });
    if (records.length === 0 && output === 'table') {
      await session.errors.write('There is no such history.\n');
      return ExitCode.Done;
    }
    const pods = new Map<string, readonly HistoryPods[]>();
    if (job !== undefined || output !== 'table') for (const { uid } of records) pods.set(uid, await history.podsOf(uid));
    const items = records.map((record) => ({ ...record, copies: pods.get(record.uid) ?? [] }));
    if (output === 'json') await session.output.write(asJson({ items }));
    else if (output === 'yaml') await session.output.write(asYaml({ items }));
    else {
      const { width } = session.output;
      const lines = formatTable(historyTable(records, namespace === undefined, session.now()), width);
      const ofPods = job === undefined ? [] : [...pods.values()].flatMap((copies) => podLines(copies));
      const ofUsers = job === undefined ? [] : records.flatMap(usersIn);
      await session.output.write([...lines, ...ofUsers, ...ofPods].map((line) => `${line}\n`).join(''));
    }
    return ExitCode.Done;
  });

const usersIn = ({ submittedBy, acts = [] }: HistoryRecord): string[] => [
  ...(submittedBy === undefined ? [] : [`submitted over HTTP by ${plain(submittedBy)}`]),
  ...acts.map((act) => plain(actInWords(act))),
];

/** That of the kubeconfig, if there is one. */
export async function contextNamespace(choice: ClusterChoice): Promise<string> {
  const { namespace, client } = connect(choice);
  await client.close();
  return namespace;
}
