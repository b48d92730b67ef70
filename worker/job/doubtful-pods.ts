/**
 * Names of pods that were asked for without an answer: nobody knows whether there are such pods, or will be. Whoever needs another pod asks
 * for the same name again, so that there is never one more than was wanted (UPSTREAM.md D10).
 */
export interface DoubtfulPods {
  /**
   * A name that was asked for, of this index of the Job, and which is in doubt no more until it is added again; undefined where there is
   * none.
   */
  take(jobUid: string, index: number | undefined): string | undefined;
  add(jobUid: string, index: number | undefined, name: string): void;
  /** There is a pod of this name. */
  seen(jobUid: string, name: string): void;
  forget(jobUid: string): void;
}

export function createDoubtfulPods(): DoubtfulPods {
  /** The index of each name, by the Job's UID. */
  const jobs = new Map<string, Map<string, number | undefined>>();
  const drop = (jobUid: string, name: string): void => {
    const names = jobs.get(jobUid);
    names?.delete(name);
    if (names?.size === 0) jobs.delete(jobUid);
  };
  return {
    take(jobUid, index) {
      for (const [name, of] of jobs.get(jobUid) ?? []) {
        if (of !== index) continue;
        drop(jobUid, name);
        return name;
      }
      return undefined;
    },
    add(jobUid, index, name) {
      const names = jobs.get(jobUid) ?? new Map<string, number | undefined>();
      jobs.set(jobUid, names.set(name, index));
    },
    seen: drop,
    forget: (jobUid) => void jobs.delete(jobUid),
  };
}
