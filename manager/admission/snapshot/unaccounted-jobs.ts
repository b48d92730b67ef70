import { QuotaReservedReason } from '../../api/reasons.ts';
import type { InadmissibleReason } from './snapshot.ts';
import type { Workload } from '../workload/workload.ts';

/**
 * Jobs that were admitted once, and of whose admission nothing is known any more: whoever may write them has removed or replaced their records while no manager was there to remember these. What they
 * run nobody can charge, so until it is proven that nothing does, or they are gone, nobody of their namespace is admitted: its Jobs may be those that hold too much already.
 */
export interface UnaccountedJobs {
  /** True when it is another now whether Jobs of its namespace may be admitted. */
  observe(workload: Pick<Workload, 'key' | 'namespace' | 'unaccounted'>): boolean;
  /** The Job is gone. True as above. */
  forget(key: string, namespace: string): boolean;
  /** Why nobody of the namespace is admitted; undefined when they may be. */
  reasonIn(namespace: string): InadmissibleReason | undefined;
}

export function createUnaccountedJobs(): UnaccountedJobs {
  const byNamespace = new Map<string, Set<string>>();
  const forget = (key: string, namespace: string): boolean => {
    const keys = byNamespace.get(namespace);
    if (keys?.delete(key) !== true || keys.size > 0) return false;
    return byNamespace.delete(namespace);
  };
  return {
    observe({ key, namespace, unaccounted }) {
      if (!unaccounted) return forget(key, namespace);
      const known = byNamespace.get(namespace);
      if (known === undefined) byNamespace.set(namespace, new Set([key]));
      else known.add(key);
      return known === undefined;
    },
    forget,
    reasonIn(namespace) {
      const [first, ...others] = byNamespace.get(namespace) ?? [];
      if (first === undefined) return undefined;
      const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
      return {
        reason: QuotaReservedReason.NamespaceUnaccounted,
        message: `the admission record of Job ${first}${more} was removed or replaced while no manager ran, and what runs of it is not charged; nobody of the namespace is admitted until it has stopped`,
      };
    },
  };
}
