import type { DeepReadonly, Job } from '../../../shared/api/kubernetes.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import { isAtRest } from '../../work-kind/job/copy/copy-rest.ts';
import type { Copy } from './mirror-group.ts';
import { copyIdentity } from '../../work-kind/copy-marks.ts';
import { hasVerdict } from '../../work-kind/job/status-home/to-local-status.ts';

/**
 * The Job controller would create pods for this copy, though its Job may have been proven to rest meanwhile: fenced off, or before its
 * cluster was restored.
 */
const isToBeSuspended = ({ metadata, spec, status }: DeepReadonly<Job>): boolean =>
  spec.suspend !== true && metadata.deletionTimestamp === undefined && !hasVerdict(status);

/**
 * Whether this copy may run: the record of its Job names it, or the last valid record where the Job has none now. Any copy may rest,
 * because only this manager resumes it. A copy whose Job is suspended must be suspended first. A copy without an identity belongs to no Job
 * and is left alone. `place` is the WorkerCluster that the record names.
 */
export function isInPlace(
  { cluster, job }: Copy,
  local: DeepReadonly<Job> | undefined,
  record: AdmissionRecord | undefined,
  place: string | undefined,
): boolean {
  const identity = copyIdentity(job);
  if (identity === undefined || (job.spec.suspend === true && isAtRest(job))) return true;
  const isRecorded = identity.originUid === local?.metadata.uid && place === cluster && record?.epoch === identity.epoch;
  return isRecorded && !(local.spec.suspend === true && isToBeSuspended(job));
}
