/**
 * Every condition type and reason that Switchyard sets on a Job of the manager cluster. The message beside a reason is for people; the
 * reason is for programs, and never changes its meaning.
 */

/**
 * Condition types of Switchyard. Admission writes QuotaReserved, Preempted and CannotStart, dispatch the others. Dispatch resets Preempted
 * when the Job is dispatched again, and CannotStart when it starts.
 */
export const SwitchyardCondition = {
  /** True: the Job holds quota and has a cluster. False: the Job waits, and the reason says for what. */
  QuotaReserved: 'QuotaReserved',
  /** True: the copy exists on the recorded cluster. False: the copy could not be created (yet), and the reason says why. */
  Dispatched: 'Dispatched',
  /** True: since the admission that the message names, as many pods as the Job needs were ready or had ended. */
  Started: 'Started',
  /** False: fewer pods than the Job needs are ready, after it had started. True: as many as it needs are ready again. */
  PodsReady: 'PodsReady',
  /** True: the Job was suspended for another Job, which the message names; the reason is the rule. False: the Job is admitted again. */
  Preempted: 'Preempted',
  /** True: as many placements in a row as its queue allows have failed; the message lists each cluster. */
  CannotStart: 'CannotStart',
} as const;
export type SwitchyardCondition = (typeof SwitchyardCondition)[keyof typeof SwitchyardCondition];

export const QuotaReservedReason = {
  /** True: admitted. */
  QuotaReserved: 'QuotaReserved',
  /** The Job fits into no flavor's free quota now. */
  InsufficientQuota: 'InsufficientQuota',
  /** The Job requests more than its ClusterQueue could ever give. */
  ExceedsQuota: 'ExceedsQuota',
  /** No flavor of its ClusterQueue has nodes on which its pods could run; the message names their labels and taints. */
  NoMatchingFlavor: 'NoMatchingFlavor',
  /** Quota is free, but no cluster can take the Job now. */
  NoClusterFits: 'NoClusterFits',
  /** On no cluster all pods of the Job fit on the nodes, even when these are empty; the message says how many fit. */
  ExceedsNodes: 'ExceedsNodes',
  /** StrictFIFO: an earlier Job of the queue waits. */
  BehindEarlierJob: 'BehindEarlierJob',
  /** The free quota is reserved for Jobs of other queues that go first. */
  BehindOtherQueues: 'BehindOtherQueues',
  /** Other Jobs are being suspended for this Job; it starts when they have stopped. */
  Preempting: 'Preempting',
  /** blockAdmission: the pods of a Job that the ClusterQueue has admitted are not all ready. */
  WaitingForPodsReady: 'WaitingForPodsReady',
  /** The LocalQueue of the Job does not exist. */
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
  /** The WorkloadPriorityClass or PriorityClass of the Job does not exist. */
  PriorityClassNotFound: 'PriorityClassNotFound',
  /** The Job sets a priority that its LocalQueue does not allow. */
  PriorityNotAllowed: 'PriorityNotAllowed',
  /** The resourceGroups of its ClusterQueue contradict one another. */
  InvalidClusterQueue: 'InvalidClusterQueue',
  /** A field of the Job is malformed, such as an annotation. */
  InvalidJob: 'InvalidJob',
  /** A LimitRange of its namespace forbids its pods; the message names the LimitRange and the reason. */
  ForbiddenByLimitRange: 'ForbiddenByLimitRange',
  /** A ConfigMap or Secret that is to travel with the Job does not exist, or may not be carried; the message names it. */
  MissingReference: 'MissingReference',
  /** Clusters have not answered yet whether they have what the Job needs, such as a PersistentVolumeClaim; the message names it. */
  ClustersAsked: 'ClustersAsked',
  /** Quota is reserved for the Job, and the admission checks of its ClusterQueue are not all ready; the message names them. */
  AdmissionChecksPending: 'AdmissionChecksPending',
  /** An admission check of its ClusterQueue has rejected the Job; the message names the check and has its message. */
  AdmissionCheckRejected: 'AdmissionCheckRejected',
  /** The API server has refused to store the admission, or keeps failing to. */
  AdmissionRefused: 'AdmissionRefused',
  /** The Job was released, or has a record, without admission having done so; the message says what is wrong. */
  RecordNotTrusted: 'RecordNotTrusted',
  /** The record of another Job of its namespace is lost, so that the use of that Job counts nowhere; the message names it. */
  NamespaceUnaccounted: 'NamespaceUnaccounted',
  /** A user holds the Job; it is in no queue until it is released. */
  Held: 'Held',
  /** The Job has used up its maximum execution time; it is in no queue until that is raised. */
  MaximumExecutionTimeExceeded: 'MaximumExecutionTimeExceeded',
  /** The Job was suspended again after its admission. */
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
  /** The WorkerCluster of the recorded name is another cluster now, and no WorkerCluster is the recorded one. */
  ClusterChanged: 'ClusterChanged',
  /** Queue, namespace, flavors or cluster of its admission no longer fit together. */
  AdmissionUnresolved: 'AdmissionUnresolved',
  /** A ResourceFlavor of its admission does not exist, so that its pods could land on the wrong nodes. */
  ResourceFlavorNotFound: 'ResourceFlavorNotFound',
  /** A ConfigMap or Secret that travels with the Job does not exist any more, or cannot be carried; the message names it. */
  MissingReference: 'MissingReference',
  /** A ConfigMap or Secret that travels with the Job has other content than its first copy had; the message names it. */
  ContentChanged: 'ContentChanged',
  /** The Job requests more than it was admitted with; it is admitted again. */
  ExceedsReservation: 'ExceedsReservation',
  /** A Job of the same name that is no copy is on the cluster; it is left alone. */
  NameTaken: 'NameTaken',
  /** The namespace of the Job does not exist on the cluster, and is not to be created there. */
  NamespaceMissing: 'NamespaceMissing',
  /** The cluster refused the copy. */
  Refused: 'Refused',
  /** The cluster does not know fields of the Job; the message names them. */
  FieldsUnknown: 'FieldsUnknown',
  /** The cluster has dropped fields of the copy, which the message names; the copy was deleted. */
  FieldsDropped: 'FieldsDropped',
  /** Writes to the cluster fail and are retried: its API server, its storage or a webhook fails. */
  ClusterError: 'ClusterError',
  /** The cluster does not allow the manager's writes now. */
  NotAllowed: 'NotAllowed',
  /** The cluster has been too busy for a while. */
  Throttled: 'Throttled',
  /** Writes to the cluster get no answer. */
  NoAnswer: 'NoAnswer',
  /** Another client keeps changing the copy while it is written. */
  WriteConflict: 'WriteConflict',
  /** The copy vanished before it had finished. */
  CopyLost: 'CopyLost',
  /** The Job is to end, and no worker runs its copy, or reports that its pods have ended. */
  WorkerAbsent: 'WorkerAbsent',
  /** The copy is gone, and pods of it still exist. */
  PodsRemain: 'PodsRemain',
  /** The manager cluster was restored from an older backup, and not every worker cluster has shown its copies yet. */
  HomeRestored: 'HomeRestored',
  /** The Job is suspended, and its cluster has been out of reach for so long that its worker has stopped it: the Job counts as at rest. */
  FencedOff: 'FencedOff',
  /** The Job is suspended, and no pod of it runs: its copy rests, or there is none. Only now is its quota free. */
  AtRest: 'AtRest',
  /** The Job is not admitted, and so not dispatched. */
  NotAdmitted: 'NotAdmitted',
} as const;
export type DispatchedReason = (typeof DispatchedReason)[keyof typeof DispatchedReason];

/** Why an admitted Job has to leave its cluster, besides refusals: reasons in its record. */
export const AvoidedReason = {
  /** None of its pods was ready in time. */
  NotStarted: 'NotStarted',
  /** Its pods were stopped again and again, because the worker lost contact with the manager. */
  Fenced: 'Fenced',
} as const;

export const StartedReason = {
  /** As many pods as the Job needs were ready, or have ended. */
  Started: 'Started',
} as const;

export const PodsReadyReason = {
  /** Fewer pods are ready than the Job needs: some have failed, or are gone, and others are not ready in their place. */
  PodsLost: 'PodsLost',
  /** As many pods as the Job needs are ready again. */
  PodsReady: 'PodsReady',
} as const;

export const CannotStartReason = {
  /** `maxMoves` of its ClusterQueue is reached. */
  TooManyMoves: 'TooManyMoves',
  /** The Job has started after all. */
  Started: 'Started',
} as const;

/** Why a Job has ended as Failed without a failure of its pods: the reason of its conditions FailureTarget and Failed. */
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
  /** The Job waits for admission. */
  Queued: 'Queued',
  /** The Job holds quota and has a cluster; the message names queue, flavors, cluster, and the time that it waited. */
  Admitted: 'Admitted',
  /** The Job is admitted to another cluster than before; the message says why. */
  Moved: 'Moved',
  /** The copy of the Job exists. */
  Dispatched: 'Dispatched',
  /** ConfigMaps and Secrets of its pods were written to the cluster of its copy; the message names them. */
  Carried: 'Carried',
  /** As many of its pods as it needs were ready. */
  Started: 'Started',
  /** Pods of the Job have failed. */
  PodFailed: 'PodFailed',
  /** The Job is complete, or has failed; the message says how long it took. */
  Finished: 'Finished',
  /** The manager held, released or cancelled the Job for a user; the message names the user. */
  ActedOn: 'ActedOn',
  /** A user bypassed the policies of Jobs as field manager `switchyard-override`; the message names the user. */
  Overridden: 'Overridden',
  /** The Job waits; the message says for what. */
  Pending: 'Pending',
  /** The Job was suspended, because admission has not released it. */
  RecordNotTrusted: 'RecordNotTrusted',
  /** A user resumed the Job, and it was suspended again, because its annotation holds it; the message says how to release it. */
  Held: 'Held',
  /** The API server keeps failing to store the admission; the message has its error. */
  AdmissionRefused: 'AdmissionRefused',
  /** A write to the copy failed, or was refused; the message says why. */
  DispatchFailed: 'DispatchFailed',
  /** Placement after placement has failed; the message lists each cluster. */
  CannotStart: 'CannotStart',
  /** The Job was suspended, and queues again; the message says why. */
  Evicted: 'Evicted',
  /** The Job was suspended for another Job, and queues again; the message names that Job, its queue and the rule. */
  Preempted: 'Preempted',
  /** The Job was suspended, because it has used up its maximum execution time. */
  MaximumExecutionTimeExceeded: 'MaximumExecutionTimeExceeded',
  /** An invariant of the Job does not hold; the message says what was observed. Also on the WorkerCluster where the Job is gone. */
  InvariantViolated: 'InvariantViolated',
} as const;
export type JobEventReason = (typeof JobEventReason)[keyof typeof JobEventReason];

/** Event reasons on WorkerClusters. */
export const ClusterEventReason = {
  /** The cluster went back in time, as after a restore from an older backup. */
  Restored: 'Restored',
} as const;
export type ClusterEventReason = (typeof ClusterEventReason)[keyof typeof ClusterEventReason];
