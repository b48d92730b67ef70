import type { DeepReadonly, Unsaved, WorkObject } from '../../../shared/api/kubernetes.ts';
import { CARRY_PENDING_ANNOTATION } from '../../../shared/api/names.ts';

/** The copy with the mark that its objects are still to be written: a later leader, too, writes them before it resumes the copy. */
export const carryPending = (copy: Unsaved<WorkObject>): Unsaved<WorkObject> => ({
  ...copy,
  metadata: { ...copy.metadata, annotations: { ...copy.metadata.annotations, [CARRY_PENDING_ANNOTATION]: 'true' } },
});

export const isCarryPending = ({ metadata }: DeepReadonly<WorkObject>): boolean =>
  metadata.annotations?.[CARRY_PENDING_ANNOTATION] !== undefined;

/** Removes the mark. */
export const CARRY_DONE = { [CARRY_PENDING_ANNOTATION]: null } as const;
