/**
 * Every condition type and reason that Switchyard puts on a Job of the manager cluster. The message beside a reason is for people; the
 * reason is for programs, and never changes its meaning.
 */

/**
 * Condition types of ours. Admission writes QuotaReserved, Preempted and CannotStart, dispatch the others, and takes Preempted back when
 * the Job is dispatched again, CannotStart when it starts.
 */
export const SwitchyardCondition = {
  /** True: the Job holds quota and has a cluster. False: it waits, and the reason says for what. */
  QuotaReserved: 'QuotaReserved',
  /** True: the copy exists on the recorded cluster. False: it could not be made (yet), and the reason says why. */
  Dispatched: 'Dispatched',
  /** True: since the admission that the message names, a pod was ready or has ended. */
  Started: 'Started',
  /** True: it was suspended for the sake of another Job, which the message names; the reason is the rule. False: it is admitted again. */
  Preempted: 'Preempted',
  /** True: as many placements in a row as its queue allows have come to nothing; the message tells of each cluster. */
  CannotStart: 'CannotStart',
} as const;
export type SwitchyardCondition = (typeof SwitchyardCondition)[keyof typeof SwitchyardCondition];

export const QuotaReservedReason = {
  /** True: admitted. */
  QuotaReserved: 'QuotaReserved',
  /** It fits into no flavor's free quota now. */
  InsufficientQuota: 'InsufficientQuota',
  /** It asks for more than its ClusterQueue could ever give. */
  ExceedsQuota: 'ExceedsQuota',
  /** No flavor of its ClusterQueue is for nodes on which its pods could run; the message names their labels and taints. */
  NoMatchingFlavor: 'NoMatchingFlavor',
  /** Quota is there, but no cluster can take it now. */
  NoClusterFits: 'NoClusterFits',
  /** StrictFIFO: an earlier Job of the queue waits. */
  BehindEarlierJob: 'BehindEarlierJob',
  /** What is free is kept for Jobs of other queues that go first. */
  BehindOtherQueues: 'BehindOtherQueues',
  /** Other Jobs are suspended for its sake; it starts when they have stopped. */
  Preempting: 'Preempting',
  /** The LocalQueue it names does not exist. */
  LocalQueueNotFound: 'LocalQueueNotFound',
  /** The ClusterQueue of its LocalQueue does not exist. */
  ClusterQueueNotFound: 'ClusterQueueNotFound',
  /** A ResourceFlavor of its ClusterQueue does not exist. */
  ResourceFlavorNotFound: 'ResourceFlavorNotFound',
  /** stopPolicy of its LocalQueue or ClusterQueue. */
  QueueStopped: 'QueueStopped',
  /** The cohort tree above its ClusterQueue is a cycle. */
  CohortCycle: 'CohortCycle',
  /** The namespaceSelector of its ClusterQueue does not match its namespace. */
  NamespaceNotAllowed: 'NamespaceNotAllowed',
  /** The WorkloadPriorityClass or PriorityClass that it names does not exist. */
  PriorityClassNotFound: 'PriorityClassNotFound',
  /** It gives itself a priority that its LocalQueue does not let Jobs choose. */
  PriorityNotAllowed: 'PriorityNotAllowed',
  /** The resourceGroups of its ClusterQueue contradict one another. */
  InvalidClusterQueue: 'InvalidClusterQueue',
  /** The Job says something that cannot be understood, such as a malformed annotation. */
  InvalidJob: 'InvalidJob',
  /** A LimitRange of its namespace forbids its pods; the message says which, and what. */
  ForbiddenByLimitRange: 'ForbiddenByLimitRange',
  /** Quota is reserved for it, and the admission checks of its ClusterQueue have not all said yes; the message names them. */
  AdmissionChecksPending: 'AdmissionChecksPending',
  /** An admission check of its ClusterQueue has rejected it; the message says which, and in which words. */
  AdmissionCheckRejected: 'AdmissionCheckRejected',
  /** The API server refused to store the admission, or goes on failing to. */
  AdmissionRefused: 'AdmissionRefused',
  /** It was released, or carries a record, without admission having done so; the message says what is wrong. */
  RecordNotTrusted: 'RecordNotTrusted',
  /** The record of another Job of its namespace is lost, and what that runs counts nowhere; the message names it. */
  NamespaceUnaccounted: 'NamespaceUnaccounted',
  /** Somebody has it rest; it waits in no queue until it is released. */
  Held: 'Held',
  /** It has been admitted for as long in all as it says that it may be; it waits in no queue until it says more. */
  MaximumExecutionTimeExceeded: 'MaximumExecutionTimeExceeded',
  /** Suspended again after it had been admitted. */
  Evicted: 'Evicted',
} as const;
export type QuotaReservedReason = (typeof QuotaReservedReason)[keyof typeof QuotaReservedReason];

export const DispatchedReason = {
  /** True: the copy exists. */
  Dispatched: 'Dispatched',
  /** The recorded cluster cannot be reached. */
  ClusterUnreachable: 'ClusterUnreachable',
  /** The recorded cluster is no longer known to the manager. */
  ClusterNotFound: 'ClusterNotFound',
  /** The WorkerCluster of the recorded name leads to another cluster now, and none to the recorded one. */
  ClusterChanged: 'ClusterChanged',
  /** Queue, namespace, flavors or cluster of its admission no longer fit together. */
  AdmissionUnresolved: 'AdmissionUnresolved',
  /** A ResourceFlavor of its admission does not exist, so that its pods could land on the wrong nodes. */
  ResourceFlavorNotFound: 'ResourceFlavorNotFound',
  /** The Job asks for more than it was admitted with; it is admitted anew. */
  ExceedsReservation: 'ExceedsReservation',
  /** A Job of the same name that is not ours is on the cluster; it is left alone. */
  NameTaken: 'NameTaken',
  /** The namespace of the Job is not on the cluster, and is not to be made there. */
  NamespaceMissing: 'NamespaceMissing',
  /** The cluster refused the copy. */
  Refused: 'Refused',
  /** The cluster does not know fields of the Job; the message names them. */
  FieldsUnknown: 'FieldsUnknown',
  /** The cluster made the copy without fields of the Job, which the message names; that copy was deleted. */
  FieldsDropped: 'FieldsDropped',
  /** Writes to the cluster fail there, and are tried again: its API server, its storage or a webhook is in trouble. */
  ClusterError: 'ClusterError',
  /** The cluster does not let the manager write now. */
  NotAllowed: 'NotAllowed',
  /** The cluster has been too busy for a while. */
  Throttled: 'Throttled',
  /** Writes to the cluster get no answer. */
  NoAnswer: 'NoAnswer',
  /** Somebody else goes on changing the copy while it is written. */
  WriteConflict: 'WriteConflict',
  /** The copy vanished before it had finished. */
  CopyLost: 'CopyLost',
  /** The Job is to end, and no worker runs its copy, or says that nothing of it runs. */
  WorkerAbsent: 'WorkerAbsent',
  /** The copy is gone, and pods of it are still there. */
  PodsRemain: 'PodsRemain',
  /** The manager cluster was restored from an older backup, and not every worker cluster has shown yet what runs there. */
  HomeRestored: 'HomeRestored',
  /** The Job is suspended, and its cluster out of reach for so long that the worker there has stopped it: it counts as at rest. */
  FencedOff: 'FencedOff',
  /** The Job is suspended, and nothing of it runs: its copy rests, or there is none. Only now is what it holds given back. */
  AtRest: 'AtRest',
  /** Nothing is dispatched: the Job is not admitted. */
  NotAdmitted: 'NotAdmitted',
} as const;
export type DispatchedReason = (typeof DispatchedReason)[keyof typeof DispatchedReason];

/** Why a Job that was admitted has to leave its cluster, beside what a cluster refuses Jobs for: reasons in its record. */
export const AvoidedReason = {
  /** None of its pods was ready in time. */
  NotStarted: 'NotStarted',
  /** Its pods were stopped again and again, because the worker there did not hear of the manager. */
  Fenced: 'Fenced',
} as const;

export const StartedReason = {
  /** A pod was ready, or has ended. */
  Started: 'Started',
} as const;

export const CannotStartReason = {
  /** `maxMoves` of its ClusterQueue is reached. */
  TooManyMoves: 'TooManyMoves',
  /** It has started after all. */
  Started: 'Started',
} as const;

/** Why a Job has ended as Failed without its pods' doing: the reason of its conditions FailureTarget and Failed. */
export const FailReason = {
  /** The policy of its ClusterQueue for Jobs that do not start anywhere (`onCannotStart: Fail`). */
  CannotStart: 'CannotStart',
  /** The policy of its ClusterQueue for Jobs whose cluster is lost (`onClusterLost: Fail`). */
  ClusterLost: 'ClusterLost',
} as const;
export type FailReason = (typeof FailReason)[keyof typeof FailReason];

/** Event reasons on Jobs of the manager cluster. */
export const JobEventReason = {
  /** The Job was submitted over HTTP; the message names the user. */
  Submitted: 'Submitted',
  /** It waits to be admitted. */
  Queued: 'Queued',
  /** It holds quota and has a cluster; the message names queue, flavors, cluster, and how long it waited. */
  Admitted: 'Admitted',
  /** It is admitted to another cluster than before; the message says why. */
  Moved: 'Moved',
  /** Its copy exists. */
  Dispatched: 'Dispatched',
  /** The first of its pods was ready. */
  Started: 'Started',
  /** Pods of it have failed. */
  PodFailed: 'PodFailed',
  /** It is complete, or has failed; the message says how long it took. */
  Finished: 'Finished',
  /** The manager held, released or cancelled it for a user; the message names the user. */
  ActedOn: 'ActedOn',
  /** A user passed by the rules of who may write what, as field manager `switchyard-override`; the message names the user. */
  Overridden: 'Overridden',
  /** It waits; the message says for what. */
  Pending: 'Pending',
  /** It was suspended, because admission has not released it. */
  RecordNotTrusted: 'RecordNotTrusted',
  /** Somebody has resumed it, and it was suspended again, because its annotation holds it; the message says how to release it. */
  Held: 'Held',
  /** The API server goes on failing to store its admission; the message says in which words. */
  AdmissionRefused: 'AdmissionRefused',
  /** A write of its copy failed, or was refused; the message says why. */
  DispatchFailed: 'DispatchFailed',
  /** Placement after placement has come to nothing; the message tells of each cluster. */
  CannotStart: 'CannotStart',
  /** It was suspended, and queues again; the message says why. */
  Evicted: 'Evicted',
  /** It was suspended for the sake of another Job, and queues again; the message names that, its queue and the rule. */
  Preempted: 'Preempted',
  /** It was suspended, because it has been admitted for as long in all as it says that it may be. */
  MaximumExecutionTimeExceeded: 'MaximumExecutionTimeExceeded',
  /** Something that is promised of it does not hold; the message says what was seen. Also on the WorkerCluster where the Job is gone. */
  InvariantViolated: 'InvariantViolated',
} as const;
export type JobEventReason = (typeof JobEventReason)[keyof typeof JobEventReason];

/** Event reasons on WorkerClusters. */
export const ClusterEventReason = {
  /** It went back in time, as one that is restored from an older backup. */
  Restored: 'Restored',
} as const;
export type ClusterEventReason = (typeof ClusterEventReason)[keyof typeof ClusterEventReason];
