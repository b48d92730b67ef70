import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import type { Copy } from './mirror-group.ts';
import { copyIdentity } from '../../work-kind/copy-marks.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';

/**
 * The controller of this copy would create pods for it, at the latest once its worker has resumed it, though its Job may have been proven
 * to rest meanwhile: fenced off, or before its cluster was restored.
 */
export const isToBeSuspended = (kind: WorkKind, job: DeepReadonly<WorkObject>): boolean =>
  (!kind.isSuspended(job) || kind.copies.isFenced(job)) && job.metadata.deletionTimestamp === undefined && !kind.home.hasVerdict(job);

/**
 * Whether this copy may run: the record of its Job names it, or the last valid record where the Job has none now. Any copy may rest,
 * because only this manager resumes it. A copy whose Job is suspended must be suspended first. A copy without an identity belongs to no Job
 * and is left alone. `place` is the WorkerCluster that the record names.
 */
export function isInPlace(
  kind: WorkKind,
  { cluster, job }: Copy,
  local: DeepReadonly<WorkObject> | undefined,
  record: AdmissionRecord | undefined,
  place: string | undefined,
): boolean {
  const identity = copyIdentity(job);
  if (identity === undefined || (kind.isSuspended(job) && kind.copies.isAtRest(job))) return true;
  const isRecorded = identity.originUid === local?.metadata.uid && place === cluster && record?.epoch === identity.epoch;
  return isRecorded && !(kind.isSuspended(local) && isToBeSuspended(kind, job));
}
