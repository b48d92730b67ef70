import type { DeepReadonly, Job } from '../../../shared/api/kubernetes.ts';
import { PRIORITY_CLASS_LABEL } from '../../../shared/api/names.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { priorityOf, type Priority } from '../../api/job-annotations.ts';
import type { PriorityBounds } from '../../api/local-queue.ts';
import type { PriorityClass } from '../../api/priority-class.ts';
import { QuotaReservedReason } from '../../api/reasons.ts';
import type { WorkloadPriorityClass } from '../../api/workload-priority-class.ts';

/** What a Job says about its priority. What that is worth the classes say that administrators have made, and its queue. */
export type PriorityWish = {
  /** Name of a WorkloadPriorityClass. */
  readonly workloadClass?: string;
  /** A bare number. */
  readonly annotated?: number;
  /** Name of the PriorityClass of its pods. */
  readonly podClass?: string;
};

export function priorityWishOf(job: DeepReadonly<Job>, priority: Priority = priorityOf(job)): PriorityWish {
  const workloadClass = job.metadata.labels?.[PRIORITY_CLASS_LABEL];
  const annotated = priority.kind === 'Priority' ? priority.value : undefined;
  const podClass = job.spec.template.spec?.priorityClassName;
  const wish = omitUndefined({ workloadClass: workloadClass || undefined, annotated, podClass: podClass || undefined });
  return Object.keys(wish).length === 0 ? NO_WISH : wish;
}

/** One for all: most Jobs have none. */
const NO_WISH: PriorityWish = {};

export type PriorityClasses = {
  readonly workload: ReadonlyMap<string, number>;
  readonly pod: ReadonlyMap<string, number>;
  /** Of a Job that says nothing. */
  readonly fallback: number;
};

export const NO_PRIORITY_CLASSES: PriorityClasses = { workload: new Map(), pod: new Map(), fallback: 0 };

export function priorityClassesOf(
  workloadClasses: readonly DeepReadonly<WorkloadPriorityClass>[],
  podClasses: readonly DeepReadonly<PriorityClass>[],
): PriorityClasses {
  return {
    workload: new Map(workloadClasses.map(({ metadata, value }) => [metadata.name, value])),
    pod: new Map(podClasses.map(({ metadata, value }) => [metadata.name, value])),
    // Of several, which an API server may hold after a race, upstream takes the least.
    fallback:
      podClasses
        .filter(({ globalDefault }) => globalDefault === true)
        .reduce<number | undefined>((least, { value }) => Math.min(least ?? value, value), undefined) ?? 0,
  };
}

export type ResolvedPriority =
  | { readonly kind: 'Priority'; readonly value: number }
  /** The Job waits until it says something else, or until there is the class, or room in the bounds. */
  | { readonly kind: 'Waits'; readonly reason: QuotaReservedReason; readonly message: string };

/**
 * The priority of a Job in its queue, higher first. In order:
 *
 * 1. The WorkloadPriorityClass that its label names.
 * 2. The bare number of its annotation, within the bounds of the queue; where that sets none, at most 0.
 * 3. The PriorityClass of its pods. Classes of the system are for the system, and anybody may name them: they raise nobody.
 * 4. The default of the cluster, or 0.
 */
export function resolvePriority(
  { workloadClass, annotated, podClass }: PriorityWish,
  { workload, pod, fallback }: PriorityClasses,
  bounds: DeepReadonly<PriorityBounds> | undefined,
): ResolvedPriority {
  if (workloadClass !== undefined) return ofClass('workload priority class', workloadClass, workload); // 1
  if (annotated !== undefined) return withinBounds(annotated, bounds); // 2
  if (podClass !== undefined && !podClass.startsWith('system-')) return ofClass('priority class', podClass, pod); // 3
  return { kind: 'Priority', value: fallback }; // 4
}

function ofClass(kind: string, name: string, classes: ReadonlyMap<string, number>): ResolvedPriority {
  const value = classes.get(name);
  if (value !== undefined) return { kind: 'Priority', value };
  return { kind: 'Waits', reason: QuotaReservedReason.PriorityClassNotFound, message: `${kind} ${name} does not exist` };
}

function withinBounds(value: number, bounds: DeepReadonly<PriorityBounds> | undefined): ResolvedPriority {
  const { min, max = 0 } = bounds ?? {};
  if (value <= max && (min === undefined || value >= min)) return { kind: 'Priority', value };
  const range = min === undefined ? `at most ${max}` : `from ${min} to ${max}`;
  return {
    kind: 'Waits',
    reason: QuotaReservedReason.PriorityNotAllowed,
    message: `priority ${value} is not among those that the local queue lets Jobs choose (${range}); choose one of them, or label the Job with ${PRIORITY_CLASS_LABEL}`,
  };
}
