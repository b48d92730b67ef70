import { threadCpuMs } from './cpu-time.ts';

/**
 * Watches the event loop from now on, until it is asked: for how long it did something else at once at most, in processor time of its
 * thread.
 */
export function watchTurns(): { longestMs(): Promise<number> } {
  let [over, longest, last] = [false, 0, threadCpuMs()];
  const done = (async () => {
    while (!over) {
      await new Promise(setImmediate);
      const now = threadCpuMs();
      longest = Math.max(longest, now - last);
      last = now;
    }
  })();
  return {
    async longestMs() {
      over = true;
      await done;
      return longest;
    },
  };
}
