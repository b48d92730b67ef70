import type { DeepReadonly, Job } from '../../../shared/api/kubernetes.ts';
import { isFinished } from '../../../shared/kube/conditions.ts';

/** The copies on one cluster that have ended, by the keys of their Jobs, in the order in which that was seen: only so many may stay. */
export interface FinishedCopies {
  /** Whether it is news that this one has ended. */
  saw(localKey: string, copy: DeepReadonly<Job>): boolean;
  gone(localKey: string): void;
  /** Others have ended since, and there is no room for all: this one is to go. */
  isBeyond(localKey: string): boolean;
}

/** `onBeyond` is told which one is the first too many. */
export function createFinishedCopies(max: number, onBeyond: (localKey: string) => void): FinishedCopies {
  const within = new Set<string>();
  const beyond = new Set<string>();
  return {
    saw(localKey, { status }) {
      if (!isFinished(status) || within.has(localKey) || beyond.has(localKey)) return false;
      within.add(localKey);
      if (within.size <= max) return true;
      const [oldest = localKey] = within;
      within.delete(oldest);
      beyond.add(oldest);
      onBeyond(oldest);
      return true;
    },
    gone(localKey) {
      within.delete(localKey);
      beyond.delete(localKey);
    },
    isBeyond: (localKey) => beyond.has(localKey),
  };
}
