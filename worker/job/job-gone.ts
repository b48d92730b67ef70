/**
 * A Job that goes while it is synced. Whoever deletes a Job wants its sync to end: that is no error, and nothing to be tried again.
 * What is left of its pods is for the orphan queue, once the cache has seen the deletion.
 */
import { isConflict, isNotFound } from '../../shared/kube/api-error.ts';

/** The server has told that the Job is gone, or that another one has its name. */
export class JobGoneError extends Error {
  override readonly name = 'JobGoneError';
}

/** The server has told that the Job is being deleted; the cache will show it. */
export class JobDeletingError extends Error {
  override readonly name = 'JobDeletingError';
}

/**
 * Whether this refusal of a write of the Job means that the Job is gone. The UID is written along with every object: to the server it
 * is a precondition, and only its words tell this conflict from the one that a later version makes.
 */
export const tellsJobIsGone = (error: unknown): error is Error =>
  isNotFound(error) || (isConflict(error) && error.message.includes('Precondition failed: UID in precondition'));

/** Whether a creation has failed because there is no such namespace: then there is hardly a Job in it. */
export const tellsNamespaceIsGone = (error: unknown): boolean => error instanceof Error && isNotFound(error.cause);
