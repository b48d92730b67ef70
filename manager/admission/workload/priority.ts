import type { DeepReadonly, PodSpec, WorkObject } from '../../../shared/api/kubernetes.ts';
import { PRIORITY_CLASS_LABEL } from '../../../shared/api/names.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { priorityOf, type Priority } from '../../api/job-annotations.ts';
import type { PriorityBounds } from '../../api/local-queue.ts';
import type { PriorityClass } from '../../api/priority-class.ts';
import { QuotaReservedReason } from '../../api/reasons.ts';
import type { WorkloadPriorityClass } from '../../api/workload-priority-class.ts';

/** What a Job states about its priority. Priority classes and the queue's bounds decide its value. */
export type PriorityWish = {
  /** Name of a WorkloadPriorityClass. */
  readonly workloadClass?: string;
  /** A number from the annotation. */
  readonly annotated?: number;
  /** Name of the PriorityClass of its pods. */
  readonly podClass?: string;
};

/** `pod`: of its pods, the one whose class counts. */
export function priorityWishOf(
  job: DeepReadonly<Pick<WorkObject, 'metadata'>>,
  pod: DeepReadonly<PodSpec> | undefined,
  priority: Priority = priorityOf(job),
): PriorityWish {
  const workloadClass = job.metadata.labels?.[PRIORITY_CLASS_LABEL];
  const annotated = priority.kind === 'Priority' ? priority.value : undefined;
  const podClass = pod?.priorityClassName;
  const wish = omitUndefined({ workloadClass: workloadClass || undefined, annotated, podClass: podClass || undefined });
  return Object.keys(wish).length === 0 ? NO_WISH : wish;
}

/** One shared value, because most Jobs state nothing. */
const NO_WISH: PriorityWish = {};

export type PriorityClasses = {
  readonly workload: ReadonlyMap<string, number>;
  readonly pod: ReadonlyMap<string, number>;
  /** The priority of a Job that states nothing. */
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
    // If a race has left several default classes, upstream takes the smallest value.
    fallback:
      podClasses
        .filter(({ globalDefault }) => globalDefault === true)
        .reduce<number | undefined>((least, { value }) => Math.min(least ?? value, value), undefined) ?? 0,
  };
}

export type ResolvedPriority =
  | { readonly kind: 'Priority'; readonly value: number }
  /** The Job waits until it changes, or until the class exists or the bounds allow the value. */
  | { readonly kind: 'Waits'; readonly reason: QuotaReservedReason; readonly message: string };

/**
 * The priority of a Job in its queue, higher first. In order:
 *
 * 1. The WorkloadPriorityClass that its label names.
 * 2. The number of its annotation, within the bounds of the LocalQueue; without bounds at most 0.
 * 3. The WorkloadPriorityClass {@link DEFAULT_CLASS}, if it exists. In Kueue, too, it goes before classes of pods (KEP-10765).
 * 4. The PriorityClass of its pods. Any user may name a system class, so system classes do not count.
 * 5. The cluster's default, or 0.
 */
export function resolvePriority(
  { workloadClass, annotated, podClass }: PriorityWish,
  { workload, pod, fallback }: PriorityClasses,
  bounds: DeepReadonly<PriorityBounds> | undefined,
): ResolvedPriority {
  if (workloadClass !== undefined) return ofClass('workload priority class', workloadClass, workload); // 1
  if (annotated !== undefined) return withinBounds(annotated, bounds); // 2
  const byDefault = workload.get(DEFAULT_CLASS);
  if (byDefault !== undefined) return { kind: 'Priority', value: byDefault }; // 3
  if (podClass !== undefined && !podClass.startsWith('system-')) return ofClass('priority class', podClass, pod); // 4
  return { kind: 'Priority', value: fallback }; // 5
}

/** The WorkloadPriorityClass of Jobs that state no priority. There is one at most, because it is known by its name. */
const DEFAULT_CLASS = 'default';

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
