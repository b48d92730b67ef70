/** What the page is sent: small plain objects, with texts as they are to be read. Instants are epoch milliseconds, shares are parts of 1. */

/** `Resting`: it was admitted, is suspended, and something of it is still there. */
export type JobState = 'Waiting' | 'Held' | 'Dispatching' | 'Running' | 'Resting' | 'Complete' | 'Failed';

/** A Job as one line of a table. */
export type JobLine = {
  /** `NAMESPACE/NAME`. */
  readonly key: string;
  readonly uid: string;
  readonly state: JobState;
  /** A word for why it is so, for grouping. */
  readonly reason?: string;
  /** The same in words, cut off where they are many. */
  readonly why?: string;
  /** Its LocalQueue. */
  readonly queue?: string;
  /** Once it was admitted. */
  readonly clusterQueue?: string;
  readonly cluster?: string;
  /** Who created it, where that was noted. */
  readonly user?: string;
  readonly createdMs: number;
  readonly admittedMs?: number;
  readonly startedMs?: number;
  readonly endedMs?: number;
  /** Pods that it needs, and of these what is known. */
  readonly completions: number;
  readonly active: number;
  readonly succeeded: number;
  readonly failed: number;
};

/** One resource of something that can be full. */
export type Fill = {
  readonly resource: string;
  /** As quantities. */
  readonly used: string;
  readonly of: string;
  /** `used` of `of`; more than 1 where more is used. Absent where there is no limit. */
  readonly share?: number;
};

export type Health = 'Good' | 'Warning' | 'Bad' | 'Idle';

/** A cluster as a track on which Jobs run. */
export type ClusterTrack = {
  readonly kind: 'Cluster';
  readonly name: string;
  readonly health: Health;
  /** Such as `Ready`, `Cordoned`, `Lost`. */
  readonly state: string;
  /** What is wrong; absent where nothing is. */
  readonly problem?: string;
  readonly roundTripMs?: number;
  readonly version?: string;
  readonly fills: readonly Fill[];
  /** Of those that the viewer may see. */
  readonly jobs: number;
  /** The latest of them. */
  readonly running: readonly JobLine[];
};

export type QuotaFill = Fill & {
  readonly flavor: string;
  /** Beyond nominal. */
  readonly borrowed?: string;
  readonly borrowedShare?: number;
};

/** A ClusterQueue: a leaf of the tree of cohorts. */
export type QueueNode = {
  readonly kind: 'Queue';
  readonly name: string;
  readonly cohort?: string;
  readonly health: Health;
  readonly problem?: string;
  readonly strategy: string;
  /** Of all Jobs, as its status counts them. */
  readonly waiting: number;
  readonly admitted: number;
  readonly weightedShare?: number;
  readonly quota: readonly QuotaFill[];
  /** Those that wait and the viewer may see, the longest first. */
  readonly first: readonly JobLine[];
};

/** A cohort; one that queues name exists also without an object. */
export type CohortNode = { readonly kind: 'Cohort'; readonly name: string; readonly parent?: string; readonly quota: readonly Fill[] };

/** Of the Jobs that the viewer may see. */
export type Totals = { readonly kind: 'Totals'; readonly states: Readonly<Partial<Record<JobState, number>>>; readonly namespaces: number };

/** Those that ended last, the latest first. */
export type Ended = { readonly kind: 'Ended'; readonly jobs: readonly JobLine[] };

/** A LocalQueue that takes the viewer's Jobs to a ClusterQueue that he may not see. */
export type LocalQueueNode = {
  readonly kind: 'LocalQueue';
  readonly key: string;
  readonly clusterQueue: string;
  readonly waiting: number;
  readonly first: readonly JobLine[];
};

export type YardItem = ClusterTrack | QueueNode | CohortNode | Totals | Ended | LocalQueueNode;

/** An item as it is sent: instead of Jobs it lists their keys. */
export type SentItem = NamingJobs<YardItem>;
type NamingJobs<Item> = Item extends YardItem
  ? { readonly [Part in keyof Item]: Item[Part] extends readonly JobLine[] ? readonly string[] : Item[Part] }
  : never;

/** What the viewer may see; `actions`: whether anything can be done here at all. */
export type Viewer = {
  readonly name: string;
  readonly namespaces: readonly string[] | 'All';
  readonly queues: 'All' | 'Some' | 'None';
  readonly clusters: 'All' | 'Some' | 'None';
  readonly actions: boolean;
};

/** What has changed since the last one: whole items by id, null for one that is gone. */
export type YardChange = {
  readonly items: Readonly<Record<string, SentItem | null>>;
  /** Jobs that have changed, at most so many of them; `more` did, too. */
  readonly jobs: readonly JobLine[];
  /** Others that items list, and that have changed or were not listed before. */
  readonly lines: readonly JobLine[];
  readonly gone: readonly string[];
  readonly more: number;
  readonly atMs: number;
};

export type JobPage = {
  readonly total: number;
  /** The place of the first of these. */
  readonly offset: number;
  readonly jobs: readonly JobLine[];
  readonly groups?: readonly { readonly key: string; readonly count: number }[];
};

/** One stage of the way of a Job. */
export type Stage = {
  readonly name: string;
  readonly atMs?: number;
  readonly state: 'Done' | 'Now' | 'Ahead' | 'Bad';
  readonly about?: string;
};

export type IndexCell = 'Succeeded' | 'Failed' | 'Active' | 'Ahead';

export type PodView = {
  readonly pod: string;
  readonly cluster: string;
  readonly phase: string;
  readonly index?: number;
  readonly exitCode?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly lastLine?: string;
  readonly startedMs?: number;
  readonly endedMs?: number;
  readonly hasLog: boolean;
};

/** All about one Job. */
export type JobView = {
  readonly line: JobLine;
  readonly stages: readonly Stage[];
  readonly facts: readonly { readonly name: string; readonly value: string }[];
  readonly requests: Readonly<Record<string, string>>;
  /** Of an Indexed Job: runs of cells of one kind, in order. */
  readonly indexes?: readonly { readonly kind: IndexCell; readonly count: number }[];
  readonly conditions: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
    readonly message: string;
    readonly sinceMs?: number;
  }[];
  readonly pods: readonly PodView[];
  /** Clusters that it does not go to for the time being. */
  readonly avoided: readonly { readonly cluster: string; readonly reason: string; readonly untilMs?: number }[];
  /** What to type instead, by what it does. */
  readonly commands: readonly { readonly does: string; readonly line: string }[];
  /** Its trace, where one is exported, and where it is to be seen. */
  readonly trace?: { readonly id: string; readonly url?: string };
  /** It is over and gone; this is what was kept of it. */
  readonly fromHistory: boolean;
};

/** What Kubernetes' Events say of a Job, the latest first. */
export type EventsView = {
  readonly events: readonly {
    readonly isWarning: boolean;
    readonly reason: string;
    readonly message: string;
    /** Who says so. */
    readonly from: string;
    readonly atMs?: number;
    /** How often it was said. */
    readonly count: number;
  }[];
};

/** A LocalQueue that leads to a ClusterQueue, and what its Jobs have. */
export type LocalQueueUse = {
  /** `NAMESPACE/NAME`. */
  readonly key: string;
  readonly waiting: number;
  readonly admitted: number;
  /** What its admitted Jobs hold, as quantities. */
  readonly holds: Readonly<Record<string, string>>;
};

/** What a ClusterQueue uses beyond its own quota of a flavor and resource, and whose it may be. */
export type Loan = {
  readonly flavor: string;
  readonly resource: string;
  /** As a quantity. */
  readonly borrowed: string;
  /** ClusterQueues and cohorts of the same tree that have more than they use, with how much; only those that the viewer may see. */
  readonly lenders: readonly { readonly kind: 'Queue' | 'Cohort'; readonly name: string; readonly unused: string }[];
};

/** One that waits, in the order of its ClusterQueue. */
export type Place = {
  /** From 1, among all that wait there, those that the viewer may not see included. */
  readonly place: number;
  readonly priority: number;
  readonly job: JobLine;
};

/** All about one ClusterQueue. */
export type QueueView = {
  readonly node: QueueNode;
  /** Those of namespaces that the viewer may see. */
  readonly localQueues: readonly LocalQueueUse[];
  /** How many others lead to it; told to who may see all queues. */
  readonly otherLocalQueues?: number;
  /** With fair sharing, as it is written. */
  readonly weight: string;
  readonly loans: readonly Loan[];
  /** Of those that wait the first that the viewer may see, among the first of all. */
  readonly order: readonly Place[];
  /** How many wait in all; those that are in no queue (held, or wrong) do not count. */
  readonly waiting: number;
  /** Why there is no order; absent where there is. */
  readonly orderProblem?: string;
  readonly conditions: readonly ConditionView[];
};

/** What would become of Jobs if something of a ClusterQueue or cluster were otherwise. Nothing is changed by asking. */
export type WhatIfView = {
  /** How many of each queue that the viewer may see fare otherwise, by what happens to them (`Admitted`, `Evicted`, ...); the one asked about first. */
  readonly queues: readonly { readonly name: string; readonly effects: Readonly<Record<string, number>> }[];
  /** Those of his namespaces, the first hundred, with what becomes of each without and with the change. */
  readonly jobs: readonly { readonly key: string; readonly kind: string; readonly without?: string; readonly with: string }[];
  /** How many more of his there are. */
  readonly more: number;
  /** False: what follows was given up after many rounds, and this is how far it went. */
  readonly isSettled: boolean;
  /** What to type to make the change. */
  readonly commands: readonly string[];
};

export type ConditionView = {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly sinceMs?: number;
};

/** All about one worker cluster. */
export type ClusterView = {
  readonly track: ClusterTrack;
  readonly conditions: readonly ConditionView[];
  /** Name and value, to be read. */
  readonly facts: readonly { readonly name: string; readonly value: string }[];
  readonly labels: Readonly<Record<string, string>>;
  /** Jobs that are kept from it for now, of those that the viewer may see, the first hundred. */
  readonly avoidedBy: readonly { readonly job: string; readonly reason: string; readonly untilMs?: number }[];
  /** What keeps Jobs from being run twice when contact is lost. */
  readonly fence: {
    /** Seconds after which its worker stops copies that hear nothing; 0: it never does. Absent: it has not said. */
    readonly afterSeconds?: number;
    /** In words: what happens to its Jobs when it is out of reach. */
    readonly about: string;
    /** Namespace there of the Leases of manager and worker. */
    readonly leaseNamespace: string;
  };
  /** What to type instead, by what it does. */
  readonly commands: readonly { readonly does: string; readonly line: string }[];
};

/** One queue of submissions. */
export type SubmissionView = {
  /** `NAMESPACE/NAME`. */
  readonly key: string;
  readonly health: Health;
  readonly problem?: string;
  /** Absent where its leader has not told. */
  readonly backlog?: number;
  readonly parked?: number;
  readonly accepted?: number;
  readonly refused?: number;
  readonly account?: string;
  readonly weight: number;
  readonly conditions: readonly ConditionView[];
};

export type SubmissionsView = { readonly queues: readonly SubmissionView[] };

/** What happened within one stretch of time, of Jobs that the viewer may see. */
export type TimeBucket = {
  readonly fromMs: number;
  readonly created: number;
  readonly admitted: number;
  readonly complete: number;
  readonly failed: number;
  /** Jobs that waited for admission at its end. */
  readonly waiting: number;
  /** Jobs that were admitted and not over at its end. */
  readonly running: number;
};

export type TimeLine = {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly bucketMs: number;
  readonly buckets: readonly TimeBucket[];
  /** What it is made of and what it therefore lacks, to be read; absent where it lacks nothing. */
  readonly note?: string;
};

/** The yard at one moment, of Jobs that the viewer may see. */
export type PastYard = {
  readonly atMs: number;
  /** By ClusterQueue, or by LocalQueue (`NAMESPACE/NAME`) where he may not see that. */
  readonly waiting: readonly {
    readonly name: string;
    readonly isLocal: boolean;
    readonly count: number;
    readonly first: readonly JobLine[];
  }[];
  /** By cluster; without a name where it is not known any more. */
  readonly running: readonly { readonly name: string; readonly count: number; readonly first: readonly JobLine[] }[];
  /** What it is made of and what it therefore lacks, to be read; absent where it lacks nothing. */
  readonly note?: string;
};

/** What a ClusterQueue had admitted and let wait in the last hours. */
export type QueueTimeLine = TimeLine & {
  /** What its admitted Jobs held at the end of each bucket, and its nominal quota of today, in base units (cores, bytes). */
  readonly held: readonly { readonly resource: string; readonly levels: readonly number[]; readonly nominal: number }[];
  /** Its part of all that was admitted anywhere at the end of each bucket, of 1. */
  readonly share: readonly number[];
};

/** A pod of a copy that is there now, read from its cluster. */
export type LivePod = { readonly pod: string; readonly phase: string; readonly index?: number; readonly startedMs?: number };
export type LivePods = { readonly cluster: string; readonly pods: readonly LivePod[] };

/** What somebody wants to have done. All of `jobs`, `NAMESPACE/NAME`; `count` is how many he has been shown, and must be their number. */
export type ActionRequest =
  | { readonly action: JobAction; readonly jobs: readonly string[]; readonly count: number }
  | { readonly action: ClusterAction; readonly cluster: string };
export type JobAction = 'Cancel' | 'Hold' | 'Release';
export type ClusterAction = 'Cordon' | 'Uncordon' | 'Drain';

/** A view, and what its viewer may do here with what it shows; whoever does it is judged once more. */
export type WithActions<View, Action> = View & { readonly may: readonly Action[] };

/** What became of it, one by one. */
export type ActionResult = {
  readonly done: number;
  readonly results: readonly {
    readonly name: string;
    readonly outcome: 'Done' | 'Refused' | 'Missing' | 'Failed';
    readonly message?: string;
  }[];
};
