import { BUILT_IN_JOB_CONTROLLER_NAME } from '../../../shared/api/names.ts';
import type { WorkerClusterStatus } from '../../api/worker-cluster.ts';

/** A finding about the worker of a cluster. */
export type WorkerFinding =
  /** The built-in Job controller runs the copies: no worker has a Lease of this controller name. */
  | { readonly kind: 'BuiltIn' }
  /** The cluster is out of reach, or not probed yet: the last finding stays. */
  | { readonly kind: 'OutOfSight' }
  /** No worker has a Lease there. `mayStart`: a worker that was just installed may still announce itself. */
  | { readonly kind: 'None'; readonly where: string; readonly mayStart: boolean }
  /** The only worker with a Lease runs the Jobs of another controller name: no worker runs the copies, or follows their fence. */
  | { readonly kind: 'Other'; readonly jobController: string; readonly worker: AnnouncedWorker }
  | { readonly kind: 'Announced'; readonly where: string; readonly pulse: Pulse; readonly worker: AnnouncedWorker };
export type AnnouncedWorker = NonNullable<WorkerClusterStatus['worker']>;
/**
 * Unproven: no renewal of the Lease was seen yet, and it has not expired. Silent: the Lease has expired. Stopped: the Lease was released.
 */
export type Pulse = 'Beating' | 'Unproven' | 'Silent' | 'Stopped';

/** As far as known, no worker runs the copies there. */
export const isWithoutWorker = (finding: WorkerFinding): boolean =>
  finding.kind === 'None' || finding.kind === 'Other' || (finding.kind === 'Announced' && isGone(finding.pulse));
export const isGone = (pulse: Pulse): boolean => pulse === 'Silent' || pulse === 'Stopped';

/** Why no worker runs the copies, with the remedy; undefined where a worker does, or when that is unknown. */
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
