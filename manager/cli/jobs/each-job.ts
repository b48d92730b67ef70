/** A Job that was acted on, and the error that its write ended with; undefined where the write succeeded. */
export type JobResult<T> = { readonly job: T; readonly error: unknown };

/** Writes in flight at once. */
const CONCURRENCY = 8;

/**
 * Acts on each Job, some at once, in order. An error of one Job leaves the others alone, unless `isFatal`: then no further Job is begun.
 * Returns the Jobs that were acted on; those that are missing were not begun.
 */
export async function eachJob<T>(
  jobs: readonly T[],
  act: (job: T) => Promise<void>,
  { isFatal, onResult }: { readonly isFatal: (error: unknown) => boolean; readonly onResult: (result: JobResult<T>) => Promise<void> },
): Promise<readonly JobResult<T>[]> {
  const rest = [...jobs];
  const results: JobResult<T>[] = [];
  const work = async (): Promise<void> => {
    for (let job = rest.shift(); job !== undefined; job = rest.shift()) {
      const error: unknown = await act(job).then(
        () => undefined,
        (reason: unknown) => reason ?? new Error('rejected without a reason'),
      );
      if (error !== undefined && isFatal(error)) rest.length = 0;
      results.push({ job, error });
      await onResult({ job, error });
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return results;
}
