import { BUILT_IN_JOB_CONTROLLER_NAME } from '../../../shared/api/names.ts';
import type { WorkerClusterStatus } from '../../api/worker-cluster.ts';

/** What is known of the worker on a cluster. */
export type WorkerFinding =
  /** The built-in Job controller runs the copies there: no worker has a Lease that says that it runs them in its place. */
  | { readonly kind: 'BuiltIn' }
  /** The cluster is out of reach, or not looked at yet: what was known stays. */
  | { readonly kind: 'OutOfSight' }
  /** No worker has a Lease there. `mayStart`: so far, and one that was just installed may be on its way. */
  | { readonly kind: 'None'; readonly where: string; readonly mayStart: boolean }
  /** The only worker that has one runs the Jobs of another controller name: nobody runs the copies, or answers its fence. */
  | { readonly kind: 'Other'; readonly jobController: string; readonly worker: AnnouncedWorker }
  | { readonly kind: 'Announced'; readonly where: string; readonly pulse: Pulse; readonly worker: AnnouncedWorker };
export type AnnouncedWorker = NonNullable<WorkerClusterStatus['worker']>;
/**
 * Unproven: its Lease has not been renewed before our eyes yet, and its time is not over. Silent: it is over. Stopped: it was let go of.
 */
export type Pulse = 'Beating' | 'Unproven' | 'Silent' | 'Stopped';

/** As far as is known nobody runs the copies there. */
export const isWithoutWorker = (finding: WorkerFinding): boolean =>
  finding.kind === 'None' || finding.kind === 'Other' || (finding.kind === 'Announced' && isGone(finding.pulse));
export const isGone = (pulse: Pulse): boolean => pulse === 'Silent' || pulse === 'Stopped';

/** Why nobody runs the copies, and what to do about it; undefined where a worker does, or nobody can tell. */
export function workerAbsence(finding: WorkerFinding): string | undefined {
  switch (finding.kind) {
    case 'BuiltIn':
    case 'OutOfSight':
      return undefined;
    case 'None':
      return (
        `no worker has announced itself in Lease ${finding.where}: install chart switchyard-worker there, or give worker and WorkerCluster the same ` +
        'Lease namespace (--lease-namespace, spec.leaseNamespace)'
      );
    case 'Other':
      return (
        `worker "${finding.worker.name}" runs the Jobs of ${finding.worker.controllerName}, and no copy, whose jobController is ${finding.jobController}: ` +
        'make spec.jobController and its --controller-name the same'
      );
    case 'Announced':
      return announcedAbsence(finding);
  }
}

function announcedAbsence({
  pulse,
  where,
  worker: { name = '', controllerName },
}: WorkerFinding & { readonly kind: 'Announced' }): string | undefined {
  const remedy =
    controllerName === BUILT_IN_JOB_CONTROLLER_NAME ? `; if the built-in Job controller runs the Jobs again, delete Lease ${where}` : '';
  if (pulse === 'Silent') return `worker "${name}" does not renew its Lease: is it running?${remedy}`;
  return pulse === 'Stopped' ? `the worker has stopped${remedy}` : undefined;
}
