import type { Requests } from './amount.ts';

/** A copy of a Job as its worker cluster shows it, for the checks of invariants. */
export type ShownCopy = {
  readonly cluster: string;
  /** The cluster answers, its Lease is held, and all its copies are known: the copy is shown in its present state. */
  readonly inSight: boolean;
  readonly uid: string;
  /** The UID of the original. */
  readonly originUid: string;
  readonly epoch: number;
  readonly suspended: boolean;
  /** Its mark says that the ConfigMaps and Secrets of its Job are written. Absent: no, or its cluster has removed the mark. */
  readonly carried?: true;
  /** The fence of its worker has suspended it, and lets it go on once it has seen the manager again. Absent: no. */
  readonly fenced?: true;
  /** Its end is certain: it is left as it is until its worker has written the last condition. Absent: no. */
  readonly judged?: true;
  /** A write to it is under way, or its answer was lost: it may be in another state by now. Absent: no. */
  readonly isWritten?: true;
  /** The copy is being deleted. */
  readonly deleting: boolean;
  /** Pods that count as running, and pods that are terminating. */
  readonly active: number;
  readonly terminating: number;
  /** The most pods that the copy may have at once. */
  readonly podsAtOnce: number;
  /** The requests of its active pods; undefined where they are malformed. */
  readonly running: Requests | undefined;
};
