import { toWireTime } from '../../../shared/api/wire-time.ts';
import type { AdmissionRecord, AvoidedCluster } from '../../api/records.ts';
import { backoffMs } from './avoidance.ts';

/** The number of consecutive failed placements in a record. */
export const failedPlacements = ({ avoid }: AdmissionRecord): number =>
  Object.values(avoid ?? {}).reduce((sum, { refusals }) => sum + refusals, 0);

/** The failed placements of a Job as text, if there are at least `maxMoves` in a row; otherwise undefined. */
export function cannotStartStory(record: AdmissionRecord, maxMoves: number): string | undefined {
  const count = failedPlacements(record);
  if (count < maxMoves) return undefined;
  const clusters = Object.entries(record.avoid ?? {}).toSorted(([, a], [, b]) => b.epoch - a.epoch);
  return `${count} placements in a row came to nothing: ${clusters.map(([cluster, avoided]) => `${cluster}: ${describeAttempt(avoided)}`).join('; ')}`;
}

function describeAttempt({ reason, refusals, until, level = refusals }: AvoidedCluster): string {
  const times = refusals === 1 ? '' : `, ${refusals} times, last`;
  return `${reason}${times} at ${toWireTime(Date.parse(until) - backoffMs(level))}`;
}
