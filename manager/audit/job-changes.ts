import type { DeepReadonly, WorkObject } from '../../shared/api/kubernetes.ts';
import { CLUSTERS_ANNOTATION, PRIORITY_ANNOTATION, PRIORITY_CLASS_LABEL, QUEUE_NAME_LABEL } from '../../shared/api/names.ts';
import { holdOf } from '../api/job-annotations.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';
import { sanitizeText } from '../api/sanitize-text.ts';

/** A change that a write makes to the way that a Job goes. */
export type JobChange = {
  readonly what: 'hold' | 'release' | 'suspend' | 'set-queue' | 'set-clusters' | 'set-priority' | 'set-priority-class';
  /** Value that was written; absent: it was removed, or the change has none. */
  readonly value?: string;
};

const VALUE_LENGTH_MAX = 256;
const VALUES = [
  { what: 'set-queue', place: 'labels', name: QUEUE_NAME_LABEL },
  { what: 'set-clusters', place: 'annotations', name: CLUSTERS_ANNOTATION },
  { what: 'set-priority', place: 'annotations', name: PRIORITY_ANNOTATION },
  { what: 'set-priority-class', place: 'labels', name: PRIORITY_CLASS_LABEL },
] as const;

/** Between two versions of one Job: nothing where it goes the same way as before. */
export function jobChanges(kind: WorkKind, before: DeepReadonly<WorkObject>, after: DeepReadonly<WorkObject>): JobChange[] {
  const [was, is] = [isHeld(before), isHeld(after)];
  return [
    ...(was === is ? [] : [{ what: is ? 'hold' : 'release' } as const]),
    ...(!kind.isSuspended(before) && kind.isSuspended(after) ? [{ what: 'suspend' } as const] : []),
    ...VALUES.flatMap(({ what, place, name }): JobChange[] => {
      const value = after.metadata[place]?.[name];
      if (value === before.metadata[place]?.[name]) return [];
      return [value === undefined ? { what } : { what, value: sanitizeText(value, VALUE_LENGTH_MAX) }];
    }),
  ];
}

/** In one text: `hold`, or `set-clusters=eu-1`. */
export const changeInWords = ({ what, value }: JobChange): string => (value === undefined ? what : `${what}=${value}`);

function isHeld(job: DeepReadonly<WorkObject>): boolean {
  const hold = holdOf(job);
  return hold.kind === 'Hold' && hold.held === true;
}
