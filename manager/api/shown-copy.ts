import type { Requests } from './amount.ts';

/** What a worker cluster shows of one copy of a Job, as far as promises are about it. */
export type ShownCopy = {
  readonly cluster: string;
  /** The cluster answers, we hold its Lease, and all its copies are known: what it shows is so now. */
  readonly inSight: boolean;
  readonly uid: string;
  /** The UID of the Job that it is a copy of. */
  readonly originUid: string;
  readonly epoch: number;
  readonly suspended: boolean;
  /** It is on its way out. */
  readonly deleting: boolean;
  /** Pods that count as running, and those that are stopping. */
  readonly active: number;
  readonly terminating: number;
  /** How many pods it may have at once. */
  readonly podsAtOnce: number;
  /** What the active ones request together; undefined where that cannot be read. */
  readonly running: Requests | undefined;
};
