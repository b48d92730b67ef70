import type { CopyEndings } from '../dispatch/controller/mirror-controller-deps.ts';

/** All who want to know of copies that are about to go: the ends of logs are read once, for the first of them who asks. Undefined: nobody does. */
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
