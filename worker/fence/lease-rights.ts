import type { Logger } from '../../shared/runtime/logger.ts';

/**
 * Whether the fence can work at all. Pending: that is not known yet. Armed: the worker's Lease is written and the Leases of managers are
 * watched; what fails from then on is no reason to let copies run. Refused: a right is missing, and was from the start.
 */
export type Arming = 'Pending' | 'Armed' | 'Refused';

export interface LeaseRights {
  arming(): Arming;
  /** Resolves when a right was found missing. */
  readonly refusedOnce: Promise<void>;
  /** The server has let us do this. */
  granted(action: LeaseAction): void;
  /** It has not. The log tells, once, what follows. */
  refused(action: LeaseAction, error: Error): void;
}

export type LeaseAction = 'get' | 'list' | 'watch' | 'write';

/** `isFormer`: only managers of earlier releases look there. */
export function createLeaseRights(log: Logger, namespace: string, fenceAfterMs: number, isFormer = false): LeaseRights {
  const missing = new Set<LeaseAction>();
  const has = new Set<LeaseAction>();
  const first = Promise.withResolvers<void>();
  let armed = false;
  return {
    arming: (): Arming => (armed ? 'Armed' : missing.size > 0 ? 'Refused' : 'Pending'),
    refusedOnce: first.promise,
    granted(action) {
      missing.delete(action);
      has.add(action);
      armed ||= has.has('write') && has.has('watch');
    },
    refused(action, error) {
      first.resolve();
      if (missing.has(action)) return;
      missing.add(action);
      const verbs = action === 'write' ? 'get, create and update' : action;
      log.error(
        `this worker may not ${verbs} leases.coordination.k8s.io in namespace ${namespace}: ${consequence()}; grant it (chart switchyard-worker: rbac.create)`,
        { error },
      );
    },
  };

  function consequence(): string {
    if (fenceAfterMs === 0) return 'managers do not see that it is alive';
    if (isFormer) return 'copies of a manager of an earlier release, which looks there alone, are stopped';
    if (armed) return 'once it cannot see managers, or they cannot see it, their copies are stopped';
    return 'copies are not stopped when their manager is out of reach, and managers are told so';
  }
}
