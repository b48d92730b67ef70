import type { DeepReadonly, Job } from '../../../shared/api/kubernetes.ts';
import { isFinished } from '../../../shared/kube/conditions.ts';
import { requestsOfJob } from '../../api/job-requests.ts';
import { podsAtOnce } from '../../work-kind/job/pod-count.ts';
import type { ShownCopy } from '../../api/shown-copy.ts';
import type { Copy } from './mirror-group.ts';
import { copyIdentity } from '../../work-kind/copy-marks.ts';

/** A copy as its cluster shows it; undefined for a copy without an identity, which is left alone. */
export function shownCopy({ cluster, job, deleting }: Copy, inSight: boolean): ShownCopy | undefined {
  const identity = copyIdentity(job);
  if (identity === undefined) return undefined;
  const ended = isFinished(job.status);
  const active = ended ? 0 : (job.status?.active ?? 0);
  return {
    cluster,
    inSight,
    uid: job.metadata.uid,
    originUid: identity.originUid,
    epoch: identity.epoch,
    suspended: job.spec.suspend === true,
    deleting,
    active,
    terminating: ended ? 0 : (job.status?.terminating ?? 0),
    podsAtOnce: podsAtOnce(job),
    running: runningOf(job, active),
  };
}

function runningOf({ spec }: DeepReadonly<Job>, active: number): ShownCopy['running'] {
  const { requests, problem } = requestsOfJob({ spec: { parallelism: active, template: spec.template } });
  return problem === undefined ? requests : undefined;
}
