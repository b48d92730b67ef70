import { FENCING_ANNOTATION, POD_FENCE_ANNOTATION } from '../../shared/api/names.ts';
import type { FieldProblem } from './field-problem.ts';
import type { UnreadableWish, Wishes } from './job-annotations.ts';

/**
 * The problem of a Job that asks for a pod fence which its pods cannot have, or whose pods would get no renewals. `found` is why its pods
 * cannot have one.
 */
export function unmetPodFence(found: FieldProblem | undefined, { podFence, fencing }: Wishes): UnreadableWish[] {
  if (podFence.kind === 'Invalid' || podFence.fenced !== true) return [];
  const unmet = (problem: string): UnreadableWish[] => [{ place: 'annotations', name: POD_FENCE_ANNOTATION, problem }];
  if (fencing.kind === 'Fencing' && fencing.fenced === false)
    return unmet(
      `is "on", and annotation ${FENCING_ANNOTATION} is "off": pods are renewed only where they are fenced; remove one of the two`,
    );
  return found === undefined ? [] : unmet(`is "on", and cannot be met: ${found.field} ${found.problem}`);
}
