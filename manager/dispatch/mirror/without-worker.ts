import { isFinished } from '../../../shared/kube/conditions.ts';
import { isAtRest } from '../copy/copy-rest.ts';
import type { ClusterView, Copy } from './mirror-group.ts';

/**
 * What a Job says whose copy nobody runs, with the two ways out; undefined while its cluster has a worker, or nothing is missed of the
 * copy. The copy alone does not tell whether its pods run on: kubelets need no Job controller.
 */
export function withoutWorker(view: ClusterView | undefined, { cluster, job }: Copy): string | undefined {
  if (view?.withoutWorker === undefined || isFinished(job.status) || isAtRest(job)) return undefined;
  const { namespace, name } = job.metadata;
  return (
    `no worker runs it on cluster "${cluster}": ${view.withoutWorker}. It goes on once there is one; to give up what runs of it there: ` +
    `kubectl delete job -n ${namespace} ${name} --cascade=background`
  );
}
