import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import { isFinished } from '../../../shared/kube/conditions.ts';

/** The finished copies of one cluster by the keys of their Jobs, in the order in which their end was seen. Their number is bounded. */
export interface FinishedCopies {
  /** Records a copy; true when its end is seen for the first time. */
  saw(localKey: string, copy: DeepReadonly<WorkObject>): boolean;
  gone(localKey: string): void;
  /** The copy exceeds the bound, because others have finished since: it is to be deleted. */
  isBeyond(localKey: string): boolean;
}

/** `onBeyond` is called with the oldest copy that exceeds the bound. */
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
