import type { DeepReadonly, WorkObject } from '../../shared/api/kubernetes.ts';
import { CREATED_BY_ANNOTATION, SUBMITTED_BY_ANNOTATION } from '../../shared/api/names.ts';
import { sanitizeText } from './sanitize-text.ts';

const NAME_LENGTH_MAX = 256;

/**
 * The creator of a Job, as one line of text; undefined where it was not recorded: the webhook was not called, or is not installed.
 * Trustworthy as far as the policies of Jobs keep users from writing another name.
 */
export const creatorOf = (job: DeepReadonly<Pick<WorkObject, 'metadata'>>): string | undefined => nameIn(job, CREATED_BY_ANNOTATION);

/**
 * The user who submitted a Job over HTTP, as one line of text; undefined for every other Job. The creator of such a Job is the
 * ServiceAccount of its queue, or the manager.
 */
export const submitterOf = (job: DeepReadonly<Pick<WorkObject, 'metadata'>>): string | undefined => nameIn(job, SUBMITTED_BY_ANNOTATION);

/** The user responsible for a Job: its submitter, or else its creator. */
export const userOf = (job: DeepReadonly<Pick<WorkObject, 'metadata'>>): string | undefined => submitterOf(job) ?? creatorOf(job);

function nameIn({ metadata }: DeepReadonly<Pick<WorkObject, 'metadata'>>, annotation: string): string | undefined {
  const name = metadata.annotations?.[annotation];
  return name === undefined || name === '' ? undefined : sanitizeText(name, NAME_LENGTH_MAX);
}
