import { parseWireTime } from '../../../shared/api/wire-time.ts';
import { failureMessage } from '../../api/last-failure.ts';
import { sanitizeText } from '../../api/sanitize-text.ts';
import type { HistoryPods, HistoryRecord } from '../../history/history-record.ts';
import { wordOf } from '../../work-kind/qualified-name.ts';
import { plain } from '../plain-text.ts';
import type { Table } from '../text-table.ts';
import { formatAge, formatDuration } from '../time-text.ts';

/** A line for each Job that is over. */
export function historyTable(records: readonly HistoryRecord[], withNamespace: boolean, nowMs: number): Table {
  const withKind = records.some(({ kind }) => kind !== undefined);
  return {
    heads: ['JOB', ...(withKind ? ['KIND'] : []), 'OUTCOME', 'QUEUE', 'CLUSTER', 'OK', 'FAILED', 'MOVES', 'WAITED', 'RAN', 'ENDED'],
    spare: ['MOVES', 'WAITED', 'QUEUE', 'OK'],
    rows: records.map((record) => ({
      cells: [
        withNamespace ? `${record.namespace}/${record.name}` : record.name,
        ...(withKind ? [record.resource === undefined ? 'Job' : wordOf(record.resource, record.kind)] : []),
        record.outcome,
        record.localQueue ?? '',
        record.cluster ?? '',
        String(record.succeeded),
        String(record.failed),
        String(Math.max(0, (record.placements ?? 1) - 1)),
        spanText(record.created, record.started ?? record.admitted),
        spanText(record.started, record.ended),
        `${formatAge(Math.max(0, nowMs - (parseWireTime(record.ended) ?? nowMs)))} ago`,
      ],
      note:
        record.reason === undefined
          ? ''
          : sanitizeText(`${record.reason}${record.message === undefined ? '' : `: ${record.message}`}`, 200),
    })),
  };
}

function spanText(from: string | undefined, to: string | undefined): string {
  const [fromMs, toMs] = [parseWireTime(from), parseWireTime(to)];
  return fromMs === undefined || toMs === undefined ? '' : formatDuration(Math.max(0, toMs - fromMs));
}

/** What pods ended with, a line each. */
export const podLines = (copies: readonly HistoryPods[]): string[] =>
  copies.flatMap(({ cluster, pods }) =>
    pods.map((pod) =>
      plain(pod.phase === 'Succeeded' ? `pod ${pod.pod} on cluster "${cluster}" succeeded` : failureMessage({ ...pod, cluster })),
    ),
  );
