import { SUBMISSION_FINALIZER } from '../../../shared/api/names.ts';

/** What `finalizers` is to be where a Job is written to for the last time: that of the intake goes with ours once the intake is done with the Job, and costs no call of its own. */
export const finalizersLeft = (finalizers: readonly string[], isNoted: () => boolean): readonly string[] =>
  finalizers.includes(SUBMISSION_FINALIZER) && isNoted() ? finalizers.filter((each) => each !== SUBMISSION_FINALIZER) : finalizers;
