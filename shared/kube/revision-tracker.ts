import { isOlder, isResourceVersion } from './resource-version.ts';

/**
 * How far one API server is, as all caches of it have seen together. One that was restored from a backup may soon have made as many writes
 * again as were lost; a cache that comes back then finds its place there, and misses all that was written before. Another one that was
 * answered earlier has seen that the server was further before.
 */
export interface RevisionTracker {
  observed(resourceVersion: string): void;
  /** The highest version seen; '' where none is known. Ask for it before the server is asked. */
  highest(): string;
  /**
   * A consistent read has shown the server at this version after somebody had seen `before`. Where that is further, all who follow list
   * anew. No more than that: a server may keep resources in several stores, with versions of their own.
   */
  compared(resourceVersion: string, before: string): void;
  /** A write has shown that some cache is of another course of things: all who follow list anew. */
  invalidate(): void;
  /** `listAnew` is called when what is known may be of another course of things. */
  onRewind(listAnew: () => void): void;
}

export function createRevisionTracker(): RevisionTracker {
  const followers: (() => void)[] = [];
  let highest = '';
  const doubt = (): void => {
    for (const listAnew of followers) listAnew();
  };
  return {
    observed(resourceVersion) {
      if (isResourceVersion(resourceVersion) && (highest === '' || isOlder(highest, resourceVersion))) highest = resourceVersion;
    },
    highest: () => highest,
    compared(resourceVersion, before) {
      if (!isOlder(resourceVersion, before)) return;
      // Told once: what was seen counts no more.
      highest = resourceVersion;
      doubt();
    },
    invalidate: doubt,
    onRewind: (listAnew) => void followers.push(listAnew),
  };
}
