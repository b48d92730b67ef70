import { isFinished } from '../../../shared/kube/conditions.ts';
import type { ClusterView, Copy } from './mirror-group.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';

/**
 * What a Job reports when no worker runs its copy, with both remedies. Undefined while its cluster has a worker, or the copy has ended or
 * rests. The copy does not show whether its pods go on: kubelets need no Job controller.
 */
export function withoutWorker(kind: WorkKind, view: ClusterView | undefined, { cluster, job }: Copy): string | undefined {
  if (view?.withoutWorker === undefined || isFinished(job.status) || kind.copies.isAtRest(job)) return undefined;
  const { namespace, name } = job.metadata;
  return (
    `no worker runs it on cluster "${cluster}": ${view.withoutWorker}. It goes on once there is one; to give up what runs of it there: ` +
    `kubectl delete job -n ${namespace} ${name} --cascade=background`
  );
}
