import { QuotaReservedReason } from '../../api/reasons.ts';
import type { InadmissibleReason } from './snapshot.ts';
import type { Workload } from '../workload/workload.ts';

/**
 * Jobs that were admitted once, and whose admission record was removed or replaced by a user while no manager ran. Their pods cannot be
 * charged. Until it is proven that none run, or the Job is deleted, no Job of the namespace is admitted: the namespace may use too much
 * already.
 */
export interface UnaccountedJobs {
  /** True if that changes whether Jobs of the namespace may be admitted. */
  observe(workload: Pick<Workload, 'key' | 'namespace' | 'unaccounted'>): boolean;
  /** The Job is deleted. True as above. */
  forget(key: string, namespace: string): boolean;
  /** Why no Job of the namespace is admitted; undefined if Jobs may be admitted. */
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
