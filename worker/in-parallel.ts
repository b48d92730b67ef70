/**
 * Runs `work` on every item, at most `limit` at once, and waits for all. `work` must not throw: a failure is a result.
 * The limit keeps a Job with very many pods from holding as many requests open.
 */
export async function inParallel<T, R>(items: readonly T[], limit: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const runLane = async (): Promise<void> => {
    for (let position = next++; position < items.length; position = next++) {
      const item = items[position] as T;
      results[position] = await work(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, runLane));
  return results;
}
