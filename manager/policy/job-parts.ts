import {
  ACTS_ANNOTATION,
  ADMISSION_ANNOTATION,
  ATTACHMENTS_ANNOTATION,
  CANARY_LABEL,
  CARRY_ANNOTATION,
  CARRIED_CONTENT_ANNOTATION,
  DATA_ANNOTATION,
  CARRY_PENDING_ANNOTATION,
  CLUSTER_LABEL,
  CLUSTERS_ANNOTATION,
  COPIES_FINALIZER,
  CREATED_BY_ANNOTATION,
  DISPATCH_EPOCH_ANNOTATION,
  ENDED_PODS_ANNOTATION,
  FENCING_ANNOTATION,
  HOLD_ANNOTATION,
  JOB_CONTROLLER_ANNOTATION,
  KEEP_LOGS_LABEL,
  KUEUE_MAX_EXEC_TIME_LABEL,
  KUEUE_MIN_PARALLELISM_ANNOTATION,
  KUEUE_QUEUE_NAME_LABEL,
  LAST_FAILURE_ANNOTATION,
  MANAGER_CONTROLLER_NAME,
  MAX_EXEC_TIME_LABEL,
  MIN_PARALLELISM_ANNOTATION,
  MIN_READY_PODS_ANNOTATION,
  ORIGIN_LABEL,
  ORIGIN_NAME_ANNOTATION,
  FENCED_ANNOTATION,
  POD_FENCE_ANNOTATION,
  NODE_LABELS_ANNOTATION,
  POD_SELECTOR_ANNOTATION,
  RESUMED_FROM_ANNOTATION,
  ORIGIN_UID_ANNOTATION,
  PRIORITY_ANNOTATION,
  PRIORITY_CLASS_LABEL,
  QUEUE_NAME_LABEL,
  RECOVERY_TIMEOUT_ANNOTATION,
  REQUESTS_ANNOTATION,
  SHORT_OF_ANNOTATION,
  START_TIMEOUT_ANNOTATION,
  STATUS_ANNOTATION,
  SUBMISSION_ANNOTATION,
  SUBMISSION_ATTEMPT_ANNOTATION,
  SUBMISSION_PAYLOAD_ANNOTATION,
  SUBMISSION_FINALIZER,
  SUBMISSION_SEAL_ANNOTATION,
  SUBMISSION_TENANT_ANNOTATION,
  SUBMITTED_AT_ANNOTATION,
  SUBMITTED_BY_ANNOTATION,
  SWITCHYARD_GROUP,
  TRACE_PODS_ANNOTATION,
  TRACE_ID_ANNOTATION,
  TRACEPARENT_ANNOTATION,
} from '../../shared/api/names.ts';
import {
  BORN_SUSPENDED,
  BORN_WITH_A_QUEUE,
  CONTROLLER_STAYS,
  COPY_FOLLOWS_ITS_ORIGINAL,
  CREATOR_IS_WHO_CREATES,
  GROWS_ONLY_SUSPENDED,
  QUEUE_IS_NOT_ADDED_LATER,
  QUEUE_IS_NOT_REMOVED,
  QUEUE_STAYS_WHILE_ADMITTED,
  RELEASED_BY_ADMISSION,
  MANAGER_WRITES_STATUS,
} from './conditional-rules.ts';
import { ofCopies, ofSubmissions, reservedName, type Place, type WriteRule } from './write-rule.ts';

/**
 * A part of a Job and its owner. Every field that Switchyard reads or writes of Jobs on the manager cluster has a row in {@link JOB_PARTS}.
 */
export type JobPart = {
  /** The name of a field is Markdown, for people. */
  readonly part: { readonly place: Place | 'field'; readonly name: string };
  readonly owner: 'Switchyard' | 'user' | 'both';
  /** The allowed writes, for people; in Markdown. Empty where docs/jobs.md says what the part means, and users may write it at any time. */
  readonly says: string;
  readonly rules: readonly WriteRule[];
  /** Further writes that the webhook must see, in CEL, because it judges them by more than the rules. */
  readonly seenWhen?: string;
  /** Changes of this name are not judged: it is also on Jobs of other controllers. */
  readonly unseen?: true;
  /** For a name: whether dispatch carries it to the copy on a worker cluster. */
  readonly travels?: true;
};

const own = (place: Place, name: string, says: string): JobPart => ({
  part: { place, name },
  owner: 'Switchyard',
  says,
  rules: [reservedName(place, name)],
});
/** The manager may also write it on a new Job as the ServiceAccount of a tenant. */
const ofSubmission = (name: string, says: string, place: Place = 'annotations'): JobPart => ({
  ...own(place, name, says),
  rules: [ofSubmissions(place, name)],
});
/** The worker on this cluster may also write it, on copies. */
const ofWorker = (name: string, says: string): JobPart => ({ ...own('annotations', name, says), rules: [ofCopies('annotations', name)] });
const wish = (place: Place, name: string, says = ''): JobPart => ({ part: { place, name }, owner: 'user', says, rules: [] });
const field = (name: string, owner: JobPart['owner'], says: string, ...rules: WriteRule[]): JobPart => ({
  part: { place: 'field', name },
  owner,
  says,
  rules,
});
const queue = (name: string, says: string): JobPart => ({
  part: { place: 'labels', name },
  owner: 'both',
  says,
  rules: [QUEUE_STAYS_WHILE_ADMITTED, QUEUE_IS_NOT_REMOVED, QUEUE_IS_NOT_ADDED_LATER],
});

/** The allowed writes by part. A user may always suspend and delete, and owns every part without a row. */
export const JOB_PARTS: readonly JobPart[] = [
  own('annotations', ADMISSION_ANNOTATION, 'The admission record. The manager writes it when it admits the Job.'),
  own('finalizers', COPIES_FINALIZER, 'From the record on, until the copies of the Job are gone.'),
  own('labels', CLUSTER_LABEL, 'The cluster of the record, for lists.'),
  own('annotations', TRACE_ID_ANNOTATION, 'The trace of the Job, where one is exported.'),
  {
    ...own('annotations', CREATED_BY_ANNOTATION, 'The user who created the Job, by the webhook.'),
    rules: [CREATOR_IS_WHO_CREATES],
  },
  own(
    'annotations',
    ACTS_ANNOTATION,
    'Which users held, released or cancelled the Job in the dashboard or over HTTP, or passed by these rules.',
  ),
  own('annotations', CARRIED_CONTENT_ANNOTATION, 'Digests of the ConfigMaps and Secrets of the first copy (carryContent).'),
  ofSubmission(SUBMISSION_ANNOTATION, 'The submission that the Job came from.'),
  ofSubmission(SUBMITTED_AT_ANNOTATION, 'When that was submitted.'),
  ofSubmission(SUBMISSION_TENANT_ANNOTATION, 'Its SubmissionQueue.'),
  ofSubmission(SUBMISSION_PAYLOAD_ANNOTATION, 'Hash of what was submitted.'),
  ofSubmission(SUBMISSION_ATTEMPT_ANNOTATION, 'Which attempt the Job is.'),
  ofSubmission(ATTACHMENTS_ANNOTATION, 'The ConfigMaps that it brought along, with digests.'),
  ofSubmission(SUBMITTED_BY_ANNOTATION, 'The user who submitted it over HTTP.'),
  ofSubmission(SUBMISSION_SEAL_ANNOTATION, 'Seals these, for this Job.'),
  ofSubmission(SUBMISSION_FINALIZER, 'Of a Job of a submission, until it is noted that it was made.', 'finalizers'),
  own('labels', ORIGIN_LABEL, 'Marks a copy. Only a manager makes copies.'),
  own('annotations', ORIGIN_UID_ANNOTATION, 'The Job that a copy is of.'),
  own('annotations', ORIGIN_NAME_ANNOTATION, 'Its name, where the copy has another.'),
  own('annotations', DISPATCH_EPOCH_ANNOTATION, 'The placement of a copy.'),
  own('annotations', JOB_CONTROLLER_ANNOTATION, 'The Job controller that a copy was made for.'),
  own('annotations', CARRY_PENDING_ANNOTATION, 'Whether ConfigMaps and Secrets of a copy are still to be written.'),
  ofWorker(RESUMED_FROM_ANNOTATION, 'What a copy said of its suspension when it was resumed.'),
  ofWorker(FENCED_ANNOTATION, 'Since when a worker keeps a copy suspended.'),
  own('annotations', POD_SELECTOR_ANNOTATION, 'The label selector of the pods of a copy of another kind.'),
  own('annotations', NODE_LABELS_ANNOTATION, 'A digest of the node labels of its pods.'),
  own('annotations', STATUS_ANNOTATION, 'The conditions of an object whose status has none.'),
  own('annotations', SHORT_OF_ANNOTATION, 'The resources of which a waiting Job is short.'),
  own('annotations', LAST_FAILURE_ANNOTATION, 'What its last failed pod ended with.'),
  ofWorker(ENDED_PODS_ANNOTATION, 'What the pods of a copy ended with. Its worker writes it.'),
  field(
    `\`spec.managedBy: ${MANAGER_CONTROLLER_NAME}\``,
    'both',
    'Set by the webhook on a new Job with a queue, or by a user, with a queue and `spec.suspend: true`; immutable.',
    BORN_WITH_A_QUEUE,
    BORN_SUSPENDED,
    CONTROLLER_STAYS,
  ),
  field(
    '`spec.suspend`',
    'both',
    'Users may set it to true, which holds an admitted Job. Only the manager sets it to false.',
    RELEASED_BY_ADMISSION,
  ),
  field(
    '`spec.parallelism`, `spec.completions`',
    'both',
    'Users may change them. An admitted Job does not grow, unless it is suspended by the same write.',
    GROWS_ONLY_SUSPENDED,
  ),
  {
    ...field('`spec.template`', 'user', 'Immutable, except for what the API server allows while the Job is suspended and at rest.'),
    seenWhen: 'oldObject != null && !variables.ofStatus && variables.managed && object.spec.template != oldObject.spec.template',
  },
  field(
    '`status` (`jobs/status`)',
    'Switchyard',
    'The manager writes that of its Jobs, the worker that of copies on the manager’s own cluster, and controllers of [admission checks](admission-checks.md#who-may-answer) their conditions.',
    MANAGER_WRITES_STATUS,
  ),
  field('`spec` of a copy', 'Switchyard', 'Follows the Job that it is a copy of.', COPY_FOLLOWS_ITS_ORIGINAL),
  queue(QUEUE_NAME_LABEL, 'Users give it to a new Job, and may change it until admission; never removed or added later.'),
  {
    ...wish('labels', KUEUE_QUEUE_NAME_LABEL, `With \`--kueue-queue-label\`, \`${QUEUE_NAME_LABEL}\` of a new Job is made from it.`),
    unseen: true,
  },
  wish('annotations', PRIORITY_ANNOTATION),
  wish('labels', CANARY_LABEL, 'Marks a canary, in the namespace of `--canary-queue` alone.'),
  wish('labels', PRIORITY_CLASS_LABEL),
  wish('labels', MAX_EXEC_TIME_LABEL),
  {
    ...wish('labels', KUEUE_MAX_EXEC_TIME_LABEL, `\`${MAX_EXEC_TIME_LABEL}\` is made from it with the queue.`),
    unseen: true,
  },
  {
    ...wish('labels', KEEP_LOGS_LABEL),
    travels: true,
  },
  wish('annotations', MIN_PARALLELISM_ANNOTATION),
  {
    ...wish('annotations', KUEUE_MIN_PARALLELISM_ANNOTATION, `\`${MIN_PARALLELISM_ANNOTATION}\` is made from it with the queue.`),
    unseen: true,
  },
  wish('annotations', TRACEPARENT_ANNOTATION),
  wish('annotations', TRACE_PODS_ANNOTATION),
  wish('annotations', CLUSTERS_ANNOTATION),
  wish('annotations', START_TIMEOUT_ANNOTATION),
  wish('annotations', RECOVERY_TIMEOUT_ANNOTATION),
  wish('annotations', MIN_READY_PODS_ANNOTATION),
  wish('annotations', REQUESTS_ANNOTATION),
  wish('annotations', FENCING_ANNOTATION),
  wish('annotations', POD_FENCE_ANNOTATION),
  wish('annotations', CARRY_ANNOTATION),
  wish('annotations', DATA_ANNOTATION),
  {
    ...wish(
      'annotations',
      HOLD_ANNOTATION,
      'Users may set or remove it at any time. The manager sets it when a user suspends an admitted Job, and removes it at admission.',
    ),
    owner: 'both',
  },
  {
    ...field('other labels and annotations', 'user', 'Users may change them at any time.'),
    seenWhen:
      'oldObject != null && !variables.ofStatus && variables.managed && (variables.labels != variables.oldLabels || variables.annotations != variables.oldAnnotations)',
  },
];

/** The rules of the table, each once. */
export const WRITE_RULES: readonly WriteRule[] = [...new Set(JOB_PARTS.flatMap(({ rules }) => rules))];

/** Labels, annotations and finalizers whose changes are all judged. */
export const SEEN_PARTS = JOB_PARTS.flatMap(({ part: { place, name }, unseen }) =>
  place === 'field' || unseen === true ? [] : [{ place, name }],
);

/** Labels, annotations and finalizers that only Switchyard may ever write, also when an expression cannot be evaluated. */
export const OWN_PARTS = JOB_PARTS.flatMap(({ part: { place, name }, rules }) =>
  place !== 'field' && rules.some(({ policy }) => policy === 'Fail') ? [{ place, name }] : [],
);

/** Labels, annotations and finalizers of the table. */
export const NAMED_PARTS = JOB_PARTS.flatMap(({ part: { place, name } }) => (place === 'field' ? [] : [{ place, name }]));

/** Names that only Switchyard sets on a Job: a manifest must not have them. */
export const SWITCHYARDS_NAMES = JOB_PARTS.flatMap(({ part: { place, name }, owner }) =>
  owner !== 'Switchyard' || place === 'field' ? [] : [{ place, name }],
);

/** Whether a label or annotation of a Job is carried to its copies: those of Switchyard only where the table says so. */
export const travelsToCopy = (name: string): boolean =>
  !(name.startsWith(`${SWITCHYARD_GROUP}/`) || NAMED_PARTS.some((part) => part.name === name)) ||
  JOB_PARTS.some(({ part, travels }) => part.place !== 'field' && part.name === name && travels === true);
