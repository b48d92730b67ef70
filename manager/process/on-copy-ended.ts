import type { CopyEndings } from '../dispatch/controller/mirror-controller-deps.ts';

/**
 * Combines listeners for copies that are about to be deleted: log tails are read once, for the first listener that needs them. Undefined
 * without listeners.
 */
export function onCopyEnded(listeners: readonly (CopyEndings | undefined)[]): CopyEndings | undefined {
  const all = listeners.filter((each) => each !== undefined);
  if (all.length === 0) return undefined;
  return {
    async keep(ending) {
      let read: ReturnType<typeof ending.tails> | undefined;
      const tails = (): ReturnType<typeof ending.tails> => (read ??= ending.tails());
      await Promise.all(all.map((each) => each.keep({ ...ending, tails })));
    },
  };
}
