/** The views that the page receives: small plain objects with display texts. Times are epoch milliseconds, shares are fractions of 1. */

/**
 * `NeverFits`: a waiting Job that no quota and no node of its queue could hold, also with nothing else there. `Resting`: an admitted Job
 * that is suspended and whose pods have not all stopped.
 */
export type JobState = 'Waiting' | 'NeverFits' | 'Held' | 'Dispatching' | 'Running' | 'Resting' | 'Complete' | 'Failed';

/** A Job as one line of a table. */
export type JobLine = {
  /** `NAMESPACE/NAME` of a Job, `NAMESPACE/RESOURCE.GROUP/NAME` of an object of another kind. */
  readonly key: string;
  /** Its kind, such as `JobSet`; absent: Job. */
  readonly kind?: string;
  readonly uid: string;
  readonly state: JobState;
  /** The reason of the state in one word, for grouping. */
  readonly reason?: string;
  /** The message of the state, truncated when long. */
  readonly why?: string;
  /** The cause for which a queued Job waits, in a few words, equal for Jobs that wait for the same, such as `short of cpu`. */
  readonly cause?: string;
  /** A canary of the manager; absent: it is none. */
  readonly canary?: true;
  /** Its LocalQueue. */
  readonly queue?: string;
  /** The ClusterQueue; absent before the admission. */
  readonly clusterQueue?: string;
  readonly cluster?: string;
  /** The creator, where it was recorded. */
  readonly user?: string;
  readonly createdMs: number;
  readonly admittedMs?: number;
  readonly startedMs?: number;
  readonly endedMs?: number;
  /** The completions that the Job needs, of other kinds the number of its pods; the counts of pods follow. */
  readonly completions: number;
  readonly active: number;
  readonly succeeded: number;
  readonly failed: number;
};

/** The use of one resource. */
export type Fill = {
  readonly resource: string;
  /** A quantity. */
  readonly used: string;
  readonly of: string;
  /** `used` divided by `of`; more than 1 where more is used. Absent without a limit. */
  readonly share?: number;
};

export type Health = 'Good' | 'Warning' | 'Bad' | 'Idle';

/** A cluster as a row of the overview, with its running Jobs. */
export type ClusterItem = {
  readonly kind: 'Cluster';
  readonly name: string;
  readonly health: Health;
  /** Such as `Ready`, `Cordoned`, `Lost`. */
  readonly state: string;
  /** The problem of the cluster; absent where there is none. */
  readonly problem?: string;
  readonly roundTripMs?: number;
  readonly version?: string;
  readonly fills: readonly Fill[];
  /** The number of running Jobs that the viewer may see. */
  readonly jobs: number;
  /** The latest of these Jobs. */
  readonly running: readonly JobLine[];
};

export type QuotaFill = Fill & {
  readonly flavor: string;
  /** Use beyond the nominal quota. */
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
  /** The number of all waiting Jobs, by the status of the queue. */
  readonly waiting: number;
  readonly admitted: number;
  readonly weightedShare?: number;
  readonly quota: readonly QuotaFill[];
  readonly causes: readonly CauseCount[];
  /** Waiting Jobs that the viewer may see, the longest waiting first. */
  readonly first: readonly JobLine[];
};

/** The number of queued Jobs with this cause, of those that the viewer may see. */
export type CauseCount = { readonly cause: string; readonly count: number };

/** A cohort; a cohort that queues name exists also without an object. */
export type CohortNode = { readonly kind: 'Cohort'; readonly name: string; readonly parent?: string; readonly quota: readonly Fill[] };

/** Counts of the Jobs that the viewer may see. */
export type Totals = { readonly kind: 'Totals'; readonly states: Readonly<Partial<Record<JobState, number>>>; readonly namespaces: number };

/** Jobs that ended last, the latest first. */
export type Ended = { readonly kind: 'Ended'; readonly jobs: readonly JobLine[] };

/** A LocalQueue whose ClusterQueue the viewer may not see. */
export type LocalQueueNode = {
  readonly kind: 'LocalQueue';
  readonly key: string;
  readonly clusterQueue: string;
  readonly waiting: number;
  readonly causes: readonly CauseCount[];
  readonly first: readonly JobLine[];
};

export type OverviewItem = ClusterItem | QueueNode | CohortNode | Totals | Ended | LocalQueueNode;

/** An item as sent: with keys in place of Jobs. */
export type SentItem = NamingJobs<OverviewItem>;
type NamingJobs<Item> = Item extends OverviewItem
  ? { readonly [Part in keyof Item]: Item[Part] extends readonly JobLine[] ? readonly string[] : Item[Part] }
  : never;

/** The extent of the viewer's rights; `actions`: whether this manager accepts actions. */
export type Viewer = {
  readonly name: string;
  readonly namespaces: readonly string[] | 'All';
  readonly queues: 'All' | 'Some' | 'None';
  readonly clusters: 'All' | 'Some' | 'None';
  readonly actions: boolean;
  /** For how long the session goes on; absent: there is none, as the viewer has a token or comes through a proxy. */
  readonly sessionMs?: number;
};

/** The change since the last event: whole items by id, null for a deleted one. */
export type OverviewChange = {
  readonly items: Readonly<Record<string, SentItem | null>>;
  /** Changed Jobs, up to a bound; `more` is the number of further ones. */
  readonly jobs: readonly JobLine[];
  /** Further Jobs that items list, and that have changed or were not listed before. */
  readonly lines: readonly JobLine[];
  readonly gone: readonly string[];
  readonly more: number;
  readonly atMs: number;
};

export type JobPage = {
  readonly total: number;
  /** The position of the first of these Jobs. */
  readonly offset: number;
  readonly jobs: readonly JobLine[];
  readonly groups?: readonly { readonly key: string; readonly count: number }[];
};

/** One stage in the life of a Job. */
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
  /** For an Indexed Job: runs of cells of one kind, in order. */
  readonly indexes?: readonly { readonly kind: IndexCell; readonly count: number }[];
  readonly conditions: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
    readonly message: string;
    readonly sinceMs?: number;
  }[];
  readonly pods: readonly PodView[];
  /** Its admissions, the oldest first, as far as they are recorded; without an end while it lasts. */
  readonly placements: readonly { readonly cluster?: string; readonly fromMs: number; readonly untilMs?: number }[];
  /** Clusters that the Job avoids for now. */
  readonly avoided: readonly { readonly cluster: string; readonly reason: string; readonly untilMs?: number }[];
  /** Equivalent commands, by what they do. */
  readonly commands: readonly { readonly does: string; readonly line: string }[];
  /** The trace id, where a trace is exported, and the URL of its view. */
  readonly trace?: { readonly id: string; readonly url?: string };
  /** The Job is gone; the view shows its stored history. */
  readonly fromHistory: boolean;
};

/** Kubernetes Events of a Job, the latest first. */
export type EventsView = {
  readonly events: readonly {
    readonly isWarning: boolean;
    readonly reason: string;
    readonly message: string;
    /** The component that reported the Event. */
    readonly from: string;
    readonly atMs?: number;
    /** The number of occurrences. */
    readonly count: number;
  }[];
};

/** A LocalQueue of a ClusterQueue, with the use of its Jobs. */
export type LocalQueueUse = {
  /** `NAMESPACE/NAME`. */
  readonly key: string;
  readonly waiting: number;
  readonly admitted: number;
  /** The requests of its admitted Jobs, as quantities. */
  readonly holds: Readonly<Record<string, string>>;
};

/** ClusterQueues as a list: what is used in all, and by LocalQueues of namespaces that the viewer may see. */
export type QueuesView = {
  readonly queues: readonly {
    readonly name: string;
    readonly cohort?: string;
    /** Why it admits nothing; absent where it does. */
    readonly problem?: string;
    readonly waiting: number;
    readonly admitted: number;
    /** Quantities. */
    readonly quota: readonly { readonly flavor: string; readonly resource: string; readonly used: string; readonly nominal?: string }[];
    readonly localQueues: readonly LocalQueueUse[];
  }[];
};

/** WorkerClusters as a list; a viewer who may not get one sees its name and state alone. */
export type ClustersView = {
  readonly clusters: readonly {
    readonly name: string;
    readonly state: string;
    readonly health: Health;
    readonly problem?: string;
    readonly version?: string;
  }[];
};

/** The use of a ClusterQueue beyond its own quota of a flavor and resource, and where the quota may come from. */
export type Loan = {
  readonly flavor: string;
  readonly resource: string;
  /** A quantity. */
  readonly borrowed: string;
  /** ClusterQueues and cohorts of the same tree with unused quota, and its amount; only those that the viewer may see. */
  readonly lenders: readonly { readonly kind: 'Queue' | 'Cohort'; readonly name: string; readonly unused: string }[];
};

/** A waiting Job in the order of its ClusterQueue. */
export type Place = {
  /** The position from 1 among all waiting Jobs, including those that the viewer may not see. */
  readonly place: number;
  readonly priority: number;
  readonly job: JobLine;
};

/** All about one ClusterQueue. */
export type QueueView = {
  readonly node: QueueNode;
  /** LocalQueues of namespaces that the viewer may see. */
  readonly localQueues: readonly LocalQueueUse[];
  /** The number of other LocalQueues; only for a viewer who may see all queues. */
  readonly otherLocalQueues?: number;
  /** The weight for fair sharing, as written. */
  readonly weight: string;
  readonly loans: readonly Loan[];
  /** Waiting Jobs that the viewer may see, among the first of all. */
  readonly order: readonly Place[];
  /** The number of all waiting Jobs, without Jobs in no queue (held or invalid). */
  readonly waiting: number;
  /** Why the order is unknown; absent where it is known. */
  readonly orderProblem?: string;
  readonly conditions: readonly ConditionView[];
};

/** The effects of edits to a ClusterQueue or cluster on Jobs. The question changes nothing. */
export type WhatIfView = {
  /**
   * The number of affected Jobs of each queue that the viewer may see, by effect (`Admitted`, `Evicted`, ...); the queue in question comes
   * first.
   */
  readonly queues: readonly { readonly name: string; readonly effects: Readonly<Record<string, number>> }[];
  /** Affected Jobs of the viewer's namespaces, the first hundred, with their state without and with the edits. */
  readonly jobs: readonly { readonly key: string; readonly kind: string; readonly without?: string; readonly with: string }[];
  /** The number of further affected Jobs of the viewer's namespaces. */
  readonly more: number;
  /** False: the simulation was stopped after many rounds, and this is its last state. */
  readonly isSettled: boolean;
  /** Commands that make the edits. */
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
  readonly track: ClusterItem;
  readonly conditions: readonly ConditionView[];
  /** Names and display texts. */
  readonly facts: readonly { readonly name: string; readonly value: string }[];
  readonly labels: Readonly<Record<string, string>>;
  /** Jobs that avoid the cluster for now, of those that the viewer may see, the first hundred. */
  readonly avoidedBy: readonly { readonly job: string; readonly reason: string; readonly untilMs?: number }[];
  /** The fence that keeps Jobs from running twice when contact is lost. */
  readonly fence: {
    /** Seconds without contact after which the worker stops copies; 0: never. Absent: the worker has not announced it. */
    readonly afterSeconds?: number;
    /** What happens to Jobs of the cluster when it is out of reach. */
    readonly about: string;
    /** Namespace on the cluster with the Leases of manager and worker. */
    readonly leaseNamespace: string;
  };
  /** Equivalent commands, by what they do. */
  readonly commands: readonly { readonly does: string; readonly line: string }[];
};

/** By what usage is summed up. */
export type UsageGroup = 'user' | 'namespace' | 'queue' | 'cluster';

/** Usage of ended Jobs of the viewer's namespaces, the largest first. */
export type UsageView = {
  readonly by: UsageGroup;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly rows: readonly {
    /** Empty where it is not recorded. */
    readonly name: string;
    readonly jobs: number;
    readonly failed: number;
    readonly admittedHours: number;
    /** By resource, the hours for which one unit of it was held: a core, a GiB, a pod, a device. */
    readonly hours: Readonly<Record<string, number>>;
  }[];
  /** More Jobs ended than were read. */
  readonly isPartial: boolean;
};

/** A present pod of a copy, read from its cluster. */
export type LivePod = { readonly pod: string; readonly phase: string; readonly index?: number; readonly startedMs?: number };
export type LivePods = { readonly cluster: string; readonly pods: readonly LivePod[] };

/**
 * An action on all of `jobs`, by the keys of their lines, or on a cluster. `count` is the number of Jobs that the user has confirmed, and
 * must be that of `jobs`.
 */
export type ActionRequest =
  | { readonly action: JobAction; readonly jobs: readonly string[]; readonly count: number }
  | { readonly action: ClusterAction; readonly cluster: string };
export type JobAction = 'Cancel' | 'Hold' | 'Release';
export type ClusterAction = 'Cordon' | 'Uncordon' | 'Drain';

/** A view with the actions that the viewer has the rights for; an action is reviewed once more. */
export type WithActions<View, Action> = View & { readonly may: readonly Action[] };

/** The outcomes of an action, for each object. */
export type ActionResult = {
  readonly done: number;
  readonly results: readonly {
    readonly name: string;
    readonly outcome: 'Done' | 'Refused' | 'Missing' | 'Failed';
    readonly message?: string;
  }[];
};
