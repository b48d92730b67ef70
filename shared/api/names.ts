/**
 * Every name Switchyard puts on the wire, and the upstream names it must spell exactly.
 * A name that another program can read is written here and nowhere else.
 */

/** API group and version of Switchyard's own kinds. */
export const SWITCHYARD_GROUP = 'switchyard.dev';
export const SWITCHYARD_VERSION = 'v1alpha1';

/** `spec.managedBy` of a Job on the manager cluster: the manager owns its status (KEP-4368). */
export const MANAGER_CONTROLLER_NAME = 'switchyard.dev/manager';
/** `spec.managedBy` of a mirrored copy: Switchyard's worker runs it, the built-in controller does not. */
export const WORKER_CONTROLLER_NAME = 'switchyard.dev/worker';
/** The reserved name of the built-in Job controller; an absent `managedBy` means the same (KEP-4368). */
export const BUILT_IN_JOB_CONTROLLER_NAME = 'kubernetes.io/job-controller';

/** Label on a user's Job: the LocalQueue it is submitted to. */
export const QUEUE_NAME_LABEL = 'switchyard.dev/queue-name';
/** The LocalQueue of a Job that names none, in a namespace whose Jobs are managed all the same. Kueue's name for it. */
export const DEFAULT_LOCAL_QUEUE = 'default';
/** Kueue's spelling of the queue label, accepted as an alias. */
export const KUEUE_QUEUE_NAME_LABEL = 'kueue.x-k8s.io/queue-name';

/** Label on a remote copy: which manager made it. */
export const ORIGIN_LABEL = 'switchyard.dev/origin';
/** Annotation on a remote copy: UID of the Job on the manager cluster. */
export const ORIGIN_UID_ANNOTATION = 'switchyard.dev/origin-uid';
/** Annotation on a remote copy: how often the Job had been dispatched when this copy was made. */
export const DISPATCH_EPOCH_ANNOTATION = 'switchyard.dev/dispatch-epoch';
/** Annotation on a remote copy that could not keep its name, beside its original: name of the Job on the manager cluster. */
export const ORIGIN_NAME_ANNOTATION = 'switchyard.dev/origin-name';
/**
 * Annotation on a remote copy that was sent with `managedBy`: its value, so that a copy from which an older API server took the field shows
 * that.
 */
export const JOB_CONTROLLER_ANNOTATION = 'switchyard.dev/job-controller';

/** Annotation on the manager's Lease on a worker cluster: the fence token of the worker for which that cluster has been put in order. */
export const RECONCILED_ANNOTATION = 'switchyard.dev/reconciled';
/** Annotation beside it: the highest resourceVersion of the home cluster that was seen, and its seal. */
export const HOME_VERSION_ANNOTATION = 'switchyard.dev/home-version';
/** Annotation on the Lease of an election: how often its holder has found it put back to what it was earlier. */
export const RESTORES_SEEN_ANNOTATION = 'switchyard.dev/restores-seen';
/** Label on the Lease by which a worker tells that it is alive: `true`. */
export const WORKER_LABEL = 'switchyard.dev/worker';
/** Annotations beside it: `spec.managedBy` of the Jobs that it runs, ... */
export const CONTROLLER_NAME_ANNOTATION = 'switchyard.dev/controller-name';
/** ... its version, ... */
export const VERSION_ANNOTATION = 'switchyard.dev/version';
/** ... after how many seconds without its manager it stops copies, 0 for never, ... */
export const FENCE_AFTER_ANNOTATION = 'switchyard.dev/fence-after';
/** ... what a manager has to answer before copies go on, ... */
export const FENCE_TOKEN_ANNOTATION = 'switchyard.dev/fence-token';
/** ... and for how long each manager had been out of sight: JSON. */
export const RENEWALS_SEEN_ANNOTATION = 'switchyard.dev/renewals-seen';
/** On the Lease of an origin: the kinds of work beside Jobs of which it makes copies, for the worker to stop. */
export const KINDS_ANNOTATION = 'switchyard.dev/kinds';
/** On the Lease of a worker: the kinds beside Jobs of which it stops the copies of a manager that is out of reach. */
export const FENCED_KINDS_ANNOTATION = 'switchyard.dev/fenced-kinds';

/** Where those Leases are on a worker cluster, unless worker and WorkerCluster say something else. */
export const DEFAULT_LEASE_NAMESPACE = 'switchyard-system';
/** Where they were by default in earlier releases. */
export const FORMER_LEASE_NAMESPACE = 'kube-system';

/** Label on the ends of logs of a copy: the worker that keeps them, by the name of its Lease; ... */
export const LOG_TAILS_LABEL = 'switchyard.dev/log-tails';
/** ... and, for people, of which copy they are. */
export const LOG_TAILS_JOB_NAMESPACE_LABEL = 'switchyard.dev/job-namespace';
export const LOG_TAILS_JOB_NAME_LABEL = 'switchyard.dev/job-name';
/** Annotation beside them where the copy is no Job: its apiVersion and kind, such as `jobset.x-k8s.io/v1alpha2 JobSet`. */
export const LOG_TAILS_KIND_ANNOTATION = 'switchyard.dev/log-tails-kind';

/** Annotation on the local Job: the admission record, one JSON document with one writer. */
export const ADMISSION_ANNOTATION = 'switchyard.dev/admission';
/** On the Secret with the keys that seal admission records: the id of the manager that seals with them. */
export const MANAGER_ID_ANNOTATION = 'switchyard.dev/manager-id';
/**
 * Label on the local Job, for people: the WorkerCluster that it is placed on, also while it rests there and once it has ended. Written with
 * the record.
 */
export const CLUSTER_LABEL = 'switchyard.dev/cluster';
/** Finalizer on the local Job from its admission on: what it holds is held until its copies are known to be gone. */
export const COPIES_FINALIZER = 'switchyard.dev/copies';
/**
 * Finalizer on the Job of a submission from its creation on: it does not vanish before it is noted that it was made, or it would be made
 * again.
 */
export const SUBMISSION_FINALIZER = 'switchyard.dev/submission';
/** Finalizer on a WorkerCluster from its first use on: it stays until no Job's record names it. */
export const WORKER_CLUSTER_FINALIZER = 'switchyard.dev/jobs';
/** Label on Jobs that only try out the way to a cluster, and on their pods. */
export const CANARY_LABEL = 'switchyard.dev/canary';
/** Annotation on the local Job: the user who created it, as the API server knew him then. Written by the mutating webhook. */
export const CREATED_BY_ANNOTATION = 'switchyard.dev/created-by';
/** Annotation on the Job of a submission that came over HTTP: the user who submitted it, as the API server knew them by their token. */
export const SUBMITTED_BY_ANNOTATION = 'switchyard.dev/submitted-by';
/** Annotation on the local Job: what the manager did to it for users of the dashboard, as JSON. */
export const ACTS_ANNOTATION = 'switchyard.dev/acts';
/** Annotation by which a user restricts placement: cluster names or a label selector. */
export const CLUSTERS_ANNOTATION = 'switchyard.dev/clusters';
/**
 * Annotation by which a user has a Job rest (`true`) until it is taken off, or is `false`. The manager writes it for whoever suspends an
 * admitted Job.
 */
export const HOLD_ANNOTATION = 'switchyard.dev/hold';
/**
 * Annotation by which a user says whether the copy of a Job is stopped where its manager is out of reach: `off` or `on`. Copies carry it,
 * too.
 */
export const FENCING_ANNOTATION = 'switchyard.dev/fencing';
/** On a copy of a kind beside Jobs: the label selector of its pods, by which its worker finds those that do not say whose they are. */
export const POD_SELECTOR_ANNOTATION = 'switchyard.dev/pod-selector';
/** On a copy of a kind beside Jobs: a digest of the node labels that each of its pod sets was sent with. */
export const NODE_LABELS_ANNOTATION = 'switchyard.dev/node-labels';
/**
 * On a copy of a kind beside Jobs that its worker has suspended because the manager is out of reach: since when. The worker resumes it. On
 * a pod of a Job: it was stopped for the same reason.
 */
export const FENCED_ANNOTATION = 'switchyard.dev/fenced';
/** Annotation by which a user says whether the pods of a Job end by themselves where nobody renews them (pod-fence.ts): `on` or `off`. */
export const POD_FENCE_ANNOTATION = 'switchyard.dev/pod-fence';
/**
 * Annotation by which a user says which objects that its pods refer to travel to the worker cluster with a Job: `ConfigMaps`, `Secrets`, or
 * both with a comma; `None`.
 */
export const CARRY_ANNOTATION = 'switchyard.dev/carry';
/**
 * Annotation on a user's Job whose queue says carryContent Admitted: digests of the ConfigMaps and Secrets that its first copy took along.
 */
export const CARRIED_CONTENT_ANNOTATION = 'switchyard.dev/carried-content';
/**
 * Annotation by which a user names the data sets that a Job reads, with commas: clusters that have them are preferred; `!` before a name
 * requires it.
 */
export const DATA_ANNOTATION = 'switchyard.dev/data';
/** Annotation of a copy: `true` while its ConfigMaps and Secrets are still to be written, `false` after that. */
export const CARRY_PENDING_ANNOTATION = 'switchyard.dev/carry-pending';
/** Annotation on such a pod, by the worker that runs it: its last renewal. */
export const POD_FENCE_RENEWAL_ANNOTATION = 'switchyard.dev/pod-fence-renewal';
/**
 * Annotation of a copy that was resumed: since when (`lastTransitionTime`) its condition Suspended had held by then, or nothing. A
 * condition of that time says nothing of a suspension that came later.
 */
export const RESUMED_FROM_ANNOTATION = 'switchyard.dev/resumed-from';
/**
 * Annotation by which a user says how long a placement may take until the pods that the Job needs are ready (`5m`; `0s`: for ever), before
 * the Job goes elsewhere.
 */
export const START_TIMEOUT_ANNOTATION = 'switchyard.dev/start-timeout';
/** Annotation: how long a Job that has started may have fewer ready pods than it needs, before it is queued again (`0s`: for ever). */
export const RECOVERY_TIMEOUT_ANNOTATION = 'switchyard.dev/recovery-timeout';
/** Annotation: how many pods must be ready for the Job to have started, and from then on; its own rule is in start-proof.ts. */
export const MIN_READY_PODS_ANNOTATION = 'switchyard.dev/min-ready-pods';
/** Annotation: floating resources that each pod uses beside what its containers request, such as `matlab=1`; no node offers these. */
export const REQUESTS_ANNOTATION = 'switchyard.dev/requests';
/** The prefix of floating resources in quotas. */
export const FLOATING_PREFIX = 'floating.switchyard.dev/';
/** Label on a user's Job: for how many seconds in all, over all its admissions, it may hold what it was admitted with. */
export const MAX_EXEC_TIME_LABEL = 'switchyard.dev/max-exec-time-seconds';
/** Kueue's spelling of it. */
export const KUEUE_MAX_EXEC_TIME_LABEL = 'kueue.x-k8s.io/max-exec-time-seconds';
/** Annotation by which a user lets a Job be admitted with fewer pods at once than it asks for, and no fewer than this. */
export const MIN_PARALLELISM_ANNOTATION = 'switchyard.dev/min-parallelism';
/** Kueue's spelling of it. */
export const KUEUE_MIN_PARALLELISM_ANNOTATION = 'kueue.x-k8s.io/job-min-parallelism';
/** Annotation by which whoever submits a Job says which trace it belongs to (W3C `traceparent`). A copy carries what its pods are told. */
export const TRACEPARENT_ANNOTATION = 'switchyard.dev/traceparent';
/** Annotation by which the manager says which trace it exports of a Job. Written with each record. */
export const TRACE_ID_ANNOTATION = 'switchyard.dev/trace-id';
/** Annotation by which a user has the containers of a Job told that, as their variable TRACEPARENT: `on` or `off`. */
export const TRACE_PODS_ANNOTATION = 'switchyard.dev/trace-pods';
/** Label on a user's Job: of which of its pods the end of the log is kept, `Failed`, `All` or `None`. Copies carry it, too. */
export const KEEP_LOGS_LABEL = 'switchyard.dev/keep-logs';
/** Annotation on a remote copy, by the worker that runs it: what its pods ended with, JSON (ended-pods.ts). */
export const ENDED_PODS_ANNOTATION = 'switchyard.dev/ended-pods';
/**
 * Annotation on the local Job, once it has failed: what the last of its pods that failed ended with, JSON. Written with the final status.
 */
export const LAST_FAILURE_ANNOTATION = 'switchyard.dev/last-failure';
/** Annotation on the local Job while it waits: the resources of which too little is free, with commas. Written with its condition. */
export const SHORT_OF_ANNOTATION = 'switchyard.dev/short-of';
/** Annotation on an object at home of a kind whose status has no conditions: those that Switchyard sets, a JSON list. */
export const STATUS_ANNOTATION = 'switchyard.dev/conditions';
/** Label on a user's Job: the WorkloadPriorityClass that orders it within its ClusterQueue. */
export const PRIORITY_CLASS_LABEL = 'switchyard.dev/priority-class';
/** Annotation by which a user orders Jobs of one queue: an integer, higher first, as far as the LocalQueue lets it. */
export const PRIORITY_ANNOTATION = 'switchyard.dev/priority';
/** Annotation on a Job that came through BullMQ: id of the submission, so that its outcome finds the way back. */
export const SUBMISSION_ANNOTATION = 'switchyard.dev/submission';
/** Annotation beside it: when it was submitted, in epoch milliseconds. A queue that was wiped hands out its ids once more. */
export const SUBMITTED_AT_ANNOTATION = 'switchyard.dev/submitted-at';
/** Annotation beside them: a keyed digest, by which the manager knows that it made the Job of that submission. */
export const SUBMISSION_SEAL_ANNOTATION = 'switchyard.dev/submission-seal';
/** Annotation beside them: UID of the SubmissionQueue that it came through; absent: the shared queue of the manager's flags. */
export const SUBMISSION_TENANT_ANNOTATION = 'switchyard.dev/submission-tenant';
/**
 * Key of the extra that a request carries which the manager makes as a tenant's ServiceAccount. Nobody has it but those who may impersonate
 * with it, so that admission knows the Jobs of submissions.
 */
export const SUBMISSION_USER_EXTRA = 'submission-queue.switchyard.dev';
/** Annotations beside them: hash of what was submitted, and which attempt of the submission the Job is. */
export const SUBMISSION_PAYLOAD_ANNOTATION = 'switchyard.dev/submission-payload';
export const SUBMISSION_ATTEMPT_ANNOTATION = 'switchyard.dev/submission-attempt';
/**
 * Annotation on a Job whose submission brought ConfigMaps along: their names and digests of their content, as JSON. They travel to its
 * worker cluster.
 */
export const ATTACHMENTS_ANNOTATION = 'switchyard.dev/attachments';
/** Label on a ConfigMap of the ledger of submissions: whose they are, as in the annotation of a tenant. */
export const LEDGER_LABEL = 'switchyard.dev/ledger';
/** What stands in place of that UID for the shared queue. */
export const SHARED_TENANT = 'shared';

/** The BullMQ queue on which users put submissions, and BullMQ's key prefix, unless the manager is told otherwise. */
export const SUBMISSION_QUEUE = 'switchyard-submissions';
export const SUBMISSION_QUEUE_PREFIX = 'bull';

/** Annotations of a pod on an embedded control plane whose containers are not run but imagined: for how long, ... */
export const SIMULATE_DURATION_ANNOTATION = 'switchyard.dev/simulate-duration';
/** ... with which exit code they end, ... */
export const SIMULATE_EXIT_CODE_ANNOTATION = 'switchyard.dev/simulate-exit-code';
/** ... and, a number from 0 to 1, how likely a container is to fail (with the exit code above, or 1). */
export const SIMULATE_FAILURE_RATE_ANNOTATION = 'switchyard.dev/simulate-failure-rate';
/** Annotation of a node of an embedded control plane that is without power: `true`, or the time after which that is noticed (`10s`). */
export const SIMULATE_NODE_LOSS_ANNOTATION = 'switchyard.dev/simulate-node-loss';

/** Finalizer that keeps a pod until the Job controller has counted it (KEP-2307). */
export const JOB_TRACKING_FINALIZER = 'batch.kubernetes.io/job-tracking';
/** Label and annotation key of a pod's completion index. */
export const JOB_COMPLETION_INDEX = 'batch.kubernetes.io/job-completion-index';
export const JOB_INDEX_FAILURE_COUNT_ANNOTATION = 'batch.kubernetes.io/job-index-failure-count';
export const JOB_INDEX_IGNORED_FAILURE_COUNT_ANNOTATION = 'batch.kubernetes.io/job-index-ignored-failure-count';
export const JOB_NAME_LABEL = 'batch.kubernetes.io/job-name';
export const CONTROLLER_UID_LABEL = 'batch.kubernetes.io/controller-uid';
export const LEGACY_JOB_NAME_LABEL = 'job-name';
export const LEGACY_CONTROLLER_UID_LABEL = 'controller-uid';
/** Environment variable of the containers of an Indexed Job. */
export const JOB_COMPLETION_INDEX_ENV = 'JOB_COMPLETION_INDEX';
/** Environment variables of every container of a copy: number of the placement, which rises when the Job moves, ... */
export const EPOCH_VARIABLE = 'SWITCHYARD_EPOCH';
/** ... `namespace/name` of the Job on the manager cluster, ... */
export const JOB_VARIABLE = 'SWITCHYARD_JOB';
/** ... its UID there, ... */
export const JOB_UID_VARIABLE = 'SWITCHYARD_JOB_UID';
/** ... and the id of the manager. */
export const MANAGER_VARIABLE = 'SWITCHYARD_MANAGER';
/** Environment variable of the containers of a copy where it is asked for: the trace of the Job, for their spans to go on with. */
export const TRACEPARENT_VARIABLE = 'TRACEPARENT';

/** Field manager names under which our writes appear in managedFields. */
export const MANAGER_FIELD_MANAGER = 'switchyard-manager';
/** The manager's, where it creates a canary: a Job like anybody's, which is judged as such. */
export const CANARY_FIELD_MANAGER = 'switchyard-canary';
export const WORKER_FIELD_MANAGER = 'switchyard-worker';
/**
 * Field manager by which the controller of an admission check says what it says of a Job; needs the verb `update` on
 * `admissionchecks.switchyard.dev`.
 */
export const CHECK_FIELD_MANAGER = 'switchyard-check';
/**
 * Field manager by which an administrator says that a write passes by the rules of Jobs; needs the verb `override` on
 * `jobs.switchyard.dev`.
 */
export const OVERRIDE_FIELD_MANAGER = 'switchyard-override';
