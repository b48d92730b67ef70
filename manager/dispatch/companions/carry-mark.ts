import type { DeepReadonly, Unsaved, WorkObject } from '../../../shared/api/kubernetes.ts';
import { CARRY_PENDING_ANNOTATION } from '../../../shared/api/names.ts';

/** The copy with the mark that its objects are still to be written: a later leader, too, writes them before it resumes the copy. */
export const carryPending = (copy: Unsaved<WorkObject>): Unsaved<WorkObject> => ({
  ...copy,
  metadata: { ...copy.metadata, annotations: { ...copy.metadata.annotations, [CARRY_PENDING_ANNOTATION]: 'true' } },
});

/**
 * Whether the mark says that the objects of the copy are written. Users and webhooks of its cluster can remove the mark: without it nothing
 * is known, and they are written again.
 */
export const isCarried = ({ metadata }: DeepReadonly<Pick<WorkObject, 'metadata'>>): boolean =>
  metadata.annotations?.[CARRY_PENDING_ANNOTATION] === CARRY_DONE[CARRY_PENDING_ANNOTATION];

/** Says that they are written. */
export const CARRY_DONE = { [CARRY_PENDING_ANNOTATION]: 'false' } as const;
