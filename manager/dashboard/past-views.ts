/** The views of the past that the page receives, as those of views.ts. */
import type { JobLine } from './views.ts';

/** Counts of one time bucket, of Jobs that the viewer may see. */
export type TimeBucket = {
  readonly fromMs: number;
  readonly created: number;
  readonly admitted: number;
  readonly complete: number;
  readonly failed: number;
  /** Jobs that waited for admission at the end of the bucket. */
  readonly waiting: number;
  /** Jobs that were admitted and unfinished at the end of the bucket. */
  readonly running: number;
};

export type TimeLine = {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly bucketMs: number;
  readonly buckets: readonly TimeBucket[];
  /** The sources of the data and what is missing, as display text; absent where nothing is missing. */
  readonly note?: string;
};

/** The overview at one moment, with Jobs that the viewer may see. */
export type PastOverview = {
  readonly atMs: number;
  /** By ClusterQueue, or by LocalQueue (`NAMESPACE/NAME`) where the viewer may not see the former. */
  readonly waiting: readonly {
    readonly name: string;
    readonly isLocal: boolean;
    readonly count: number;
    readonly first: readonly JobLine[];
  }[];
  /** By cluster; without a name where it is no longer known. */
  readonly running: readonly { readonly name: string; readonly count: number; readonly first: readonly JobLine[] }[];
  /** Jobs (`NAMESPACE/NAME`) of which it is not recorded whether they waited or were admitted then. Absent: there are none. */
  readonly unknown?: { readonly count: number; readonly first: readonly string[] };
  /** The sources of the data and what is missing, as display text; absent where nothing is missing. */
  readonly note?: string;
};

/** Admitted and waiting Jobs of a ClusterQueue in the last hours. */
export type QueueTimeLine = TimeLine & {
  /** The use of its admitted Jobs at the end of each bucket, and its present nominal quota, in base units (cores, bytes). */
  readonly held: readonly { readonly resource: string; readonly levels: readonly number[]; readonly nominal: number }[];
  /** The queue's share of all admitted Jobs at the end of each bucket, as a fraction of 1. */
  readonly share: readonly number[];
};

/** Counts of one time bucket of a cluster, of Jobs that the viewer may see. */
export type PlacementBucket = {
  readonly fromMs: number;
  /** Admissions to the cluster. */
  readonly placed: number;
  /** Jobs that ended there. */
  readonly complete: number;
  readonly failed: number;
  /** Admissions that ended before their Job did: it was suspended, preempted or moved, or the cluster was lost. */
  readonly left: number;
  /** Jobs that were admitted there at the end of the bucket. */
  readonly running: number;
};

/** The use of a worker cluster in the last hours. */
export type ClusterTimeLine = Omit<TimeLine, 'buckets'> & {
  readonly buckets: readonly PlacementBucket[];
  /**
   * The requests of all Jobs there at the end of each bucket, and its present capacity, in base units (cores, bytes); without a capacity
   * there is no limit.
   */
  readonly held: readonly { readonly resource: string; readonly levels: readonly number[]; readonly capacity?: number }[];
};
