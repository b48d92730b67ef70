import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import type { AdmissionRecord } from '../api/records.ts';
import { isAtRest } from './copy-rest.ts';
import type { Copy } from './mirror-group.ts';
import { copyIdentity } from './copy-marks.ts';

/**
 * Whether this copy may run: it is the one that the record of its Job names, the last good record where the Job has none now. What rests may be
 * any: only we resume it. One that does not say whose it is is nobody's, and left alone. `place` is the WorkerCluster that the record leads to.
 */
export function isInPlace(
  { cluster, job }: Copy,
  local: DeepReadonly<Job> | undefined,
  record: AdmissionRecord | undefined,
  place: string | undefined,
): boolean {
  const identity = copyIdentity(job);
  if (identity === undefined || (job.spec.suspend === true && isAtRest(job))) return true;
  return identity.originUid === local?.metadata.uid && place === cluster && record?.epoch === identity.epoch;
}
