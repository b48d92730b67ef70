import { parseWireTime } from '../../../shared/api/wire-time.ts';
import { failureMessage } from '../../api/last-failure.ts';
import { keptPastOf, waitingMs } from '../../api/past-admissions.ts';
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
        waitedText(record),
        ranText(record),
        `${formatAge(Math.max(0, nowMs - (parseWireTime(record.ended) ?? nowMs)))} ago`,
      ],
      note:
        record.reason === undefined
          ? ''
          : sanitizeText(`${record.reason}${record.message === undefined ? '' : `: ${record.message}`}`, 200),
    })),
  };
}

/** In no place: until the start of its last placement, or its end where it had none any more. */
function waitedText(record: HistoryRecord): string {
  const past = keptPastOf(record);
  const isOver = record.evicted === true;
  const [fromMs, untilMs] = [record.created, isOver ? record.ended : (record.started ?? record.admitted)].map(parseWireTime);
  if (fromMs === undefined || untilMs === undefined) return '';
  // The time that the last placement needed to start counts.
  const admissions = isOver ? past.admissions : past.admissions.slice(0, -1);
  const waited = waitingMs({ ...past, admissions }, fromMs, Math.max(fromMs, untilMs));
  return waited === undefined ? '' : formatDuration(waited);
}

/** In its last placement. */
function ranText(record: HistoryRecord): string {
  const fromMs = parseWireTime(record.started);
  const untilMs = record.evicted === true ? keptPastOf(record).admissions.at(-1)?.untilMs : parseWireTime(record.ended);
  return fromMs === undefined || untilMs === undefined ? '' : formatDuration(Math.max(0, untilMs - fromMs));
}

/** What pods ended with, a line each. */
export const podLines = (copies: readonly HistoryPods[]): string[] =>
  copies.flatMap(({ cluster, pods }) =>
    pods.map((pod) =>
      plain(pod.phase === 'Succeeded' ? `pod ${pod.pod} on cluster "${cluster}" succeeded` : failureMessage({ ...pod, cluster })),
    ),
  );
