import { SUBMISSION_FINALIZER } from '../../../shared/api/names.ts';

/**
 * The `finalizers` of the last write to a Job: once the intake is done with the Job, its finalizer is removed together with that of
 * dispatch, without a call of its own.
 */
export const finalizersLeft = (finalizers: readonly string[], isNoted: () => boolean): readonly string[] =>
  finalizers.includes(SUBMISSION_FINALIZER) && isNoted() ? finalizers.filter((each) => each !== SUBMISSION_FINALIZER) : finalizers;
