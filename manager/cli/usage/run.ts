import { toWireTime } from '../../../shared/api/wire-time.ts';
import { FlagError } from '../../../shared/runtime/flags.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { usageReport, type UsageGroup, type UsagePeriod, type UsageReport } from '../../history/usage-report.ts';
import type { ClusterChoice } from '../cluster-connection.ts';
import { CommandError } from '../command-error.ts';
import { ExitCode } from '../exit-codes.ts';
import { contextNamespace } from '../history/run.ts';
import { withHistory } from '../history-store.ts';
import { report } from '../report.ts';
import type { ServerChoice } from '../server/flags.ts';
import { askManager } from '../server/with-manager.ts';
import type { Session } from '../session.ts';
import { formatTable } from '../text-table.ts';
import { withCluster } from '../with-cluster.ts';
import { reportCsv, reportTable, reportValue } from './report-table.ts';

export type ReportConfig = ClusterChoice &
  ServerChoice & {
    readonly by: UsageGroup;
    /** Epoch milliseconds. */
    readonly from: number | undefined;
    readonly to: number | undefined;
    /** Undefined: the manager is asked. */
    readonly store: string | undefined;
    readonly namespace: string | undefined;
    readonly 'all-namespaces': boolean;
    readonly output: 'table' | 'csv' | 'json' | 'yaml';
  };

const DAYS_MS = 30 * 24 * 3_600_000;
/** Bound of the records that are read from a store. */
const RECORDS_MAX = 200_000;

export async function runReport(config: ReportConfig, session: Session): Promise<number> {
  const untilMs = config.to ?? session.now();
  const fromMs = config.from ?? untilMs - DAYS_MS;
  if (fromMs >= untilMs) throw new FlagError('--from: must be earlier than now, or than --to');
  const namespace = config['all-namespaces'] ? undefined : (config.namespace ?? (await contextNamespace(config)));
  const { store, output } = config;
  const period = { fromMs, untilMs };
  const found =
    store === undefined ? await fromManager(config, namespace, period) : await fromStore(store, config, namespace, period, session);
  if (found.isPartial)
    await session.errors.write('More Jobs ended than could be read: the earliest are missing. Choose a shorter period.\n');
  if (output === 'csv') await session.output.write(reportCsv(found));
  else {
    const lines =
      found.rows.length === 0 ? ['No Job that has ended was admitted then.'] : formatTable(reportTable(found), session.output.width);
    await report(session, output === 'table' ? 'text' : output, { lines, value: reportValue(found) });
  }
  return ExitCode.Done;
}

const fromStore = (
  store: string,
  { by }: ReportConfig,
  namespace: string | undefined,
  period: UsagePeriod,
  session: Session,
): Promise<UsageReport> =>
  withHistory(store, session, async (history) => {
    const records = await history.query({ limit: RECORDS_MAX, sinceMs: period.fromMs, ...omitUndefined({ namespace }) });
    return usageReport(records, by, period, records.length >= RECORDS_MAX);
  });

/** With the user's token. */
const fromManager = (config: ReportConfig, namespace: string | undefined, { fromMs, untilMs }: UsagePeriod): Promise<UsageReport> =>
  withCluster(config, async (connection) => {
    if (namespace === undefined || config.by === 'namespace')
      throw new CommandError(
        `${namespace === undefined ? '--all-namespaces' : '--by namespace'}: the manager shows one namespace; name it, or write --history-store`,
        ExitCode.Usage,
      );
    const query = { by: config.by, from: toWireTime(fromMs), to: toWireTime(untilMs) };
    const answer = await askManager(config, connection, async (manager) => {
      const { body } = await manager.answerTo('GET', `/apis/history/v1/namespaces/${encodeURIComponent(namespace)}/usage`, { query });
      return body as UsageReport;
    });
    if (answer.kind === 'Answer') return answer.value;
    throw new CommandError(`--history-store: is missing; write what the manager was given there. ${answer.why}`, ExitCode.Usage);
  });
