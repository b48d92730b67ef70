import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { CREATED_BY_ANNOTATION } from '../../shared/api/names.ts';
import { toldText } from './told-text.ts';

const NAME_LENGTH_MAX = 256;

/**
 * Who created a Job, as one line of text; undefined where that was not noted: the webhook was not asked, or is not installed. Worth as much as the policies of Jobs that stand in the
 * way of writing another's name.
 */
export function creatorOf({ metadata }: DeepReadonly<Job>): string | undefined {
  const name = metadata.annotations?.[CREATED_BY_ANNOTATION];
  return name === undefined || name === '' ? undefined : toldText(name, NAME_LENGTH_MAX);
}
