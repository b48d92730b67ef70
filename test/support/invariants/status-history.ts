/** What a status once said it does not take back, and a Job that somebody else runs is left alone. */
import type { JobChange } from '../cluster-history.ts';
import { describeJob, hasCondition, type Invariant, isOver } from './invariant.ts';

export function createStatusHistory(): Invariant {
  return {
    observe: (change) => (change.kind === 'Job' ? problems(change).map((problem) => `${describeJob(change.object)}: ${problem}`) : []),
    atRest: () => [],
  };
}

function problems({ object: job, previous, gone }: JobChange): string[] {
  if (job.spec.managedBy !== undefined && job.spec.managedBy !== null && Object.keys(job.status ?? {}).length > 0) {
    return ['a Job that is not ours has a status'];
  }
  if (previous === undefined || gone) return [];
  const found: string[] = [];
  const { status = {} } = job;
  const before = previous.status ?? {};
  if ((status.failed ?? 0) < (before.failed ?? 0)) found.push('failed has fallen');
  const mayShrink = job.spec.completionMode === 'Indexed';
  if (!mayShrink && (status.succeeded ?? 0) < (before.succeeded ?? 0)) found.push('succeeded has fallen');
  for (const type of ['Complete', 'Failed', 'SuccessCriteriaMet', 'FailureTarget']) {
    if (hasCondition(previous, type) && !hasCondition(job, type)) found.push(`${type} was taken back`);
  }
  if (hasCondition(job, 'Complete') && hasCondition(job, 'Failed')) found.push('Complete and Failed');
  if (isOver(previous) && JSON.stringify(status) !== JSON.stringify(before)) found.push('the status of a finished Job has changed');
  return found;
}
