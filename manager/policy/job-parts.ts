import {
  ACTS_ANNOTATION,
  ADMISSION_ANNOTATION,
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
  POD_SELECTOR_ANNOTATION,
  RESUMED_FROM_ANNOTATION,
  ORIGIN_UID_ANNOTATION,
  PRIORITY_ANNOTATION,
  PRIORITY_CLASS_LABEL,
  QUEUE_NAME_LABEL,
  RECOVERY_TIMEOUT_ANNOTATION,
  REQUESTS_ANNOTATION,
  START_TIMEOUT_ANNOTATION,
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
  COPY_FOLLOWS_ITS_ORIGINAL,
  CREATOR_IS_WHO_CREATES,
  WORKER_REPORTS_ENDS,
  GROWS_ONLY_SUSPENDED,
  QUEUE_IS_NOT_ADDED_LATER,
  QUEUE_IS_NOT_REMOVED,
  QUEUE_STAYS_WHILE_ADMITTED,
  RELEASED_BY_ADMISSION,
  MANAGER_WRITES_STATUS,
} from './conditional-rules.ts';
import { ofSubmissions, reservedName, type Place, type WriteRule } from './write-rule.ts';

/**
 * A part of a Job and its owner. Every field that Switchyard reads or writes of Jobs on the manager cluster has a row in {@link JOB_PARTS}.
 */
export type JobPart = {
  /** The name of a field is Markdown, for people. */
  readonly part: { readonly place: Place | 'field'; readonly name: string };
  readonly owner: 'Switchyard' | 'user' | 'both';
  /** The allowed writes, for people; in Markdown. */
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
const wish = (place: Place, name: string, says: string): JobPart => ({ part: { place, name }, owner: 'user', says, rules: [] });
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
  own(
    'finalizers',
    COPIES_FINALIZER,
    'The manager puts it on with the record, and takes it off when the copies of the Job are known to be gone.',
  ),
  own('labels', CLUSTER_LABEL, 'The cluster of the record, for lists: where the Job runs, rests or has ended. Written with each record.'),
  own('annotations', TRACE_ID_ANNOTATION, 'The trace that the manager exports of the Job, where it exports one. Written with the record.'),
  {
    ...own(
      'annotations',
      CREATED_BY_ANNOTATION,
      'The user who created the Job, as the API server knew them. The webhook writes it into a new Job with a queue, and replaces any other value.',
    ),
    rules: [CREATOR_IS_WHO_CREATES],
  },
  own(
    'annotations',
    ACTS_ANNOTATION,
    'Which users held, released or cancelled the Job in the dashboard, or cancelled its submission over HTTP, and who passed by these rules in an emergency. The manager writes it with what it does for them, and the webhook into a write that passes by.',
  ),
  own(
    'annotations',
    CARRIED_CONTENT_ANNOTATION,
    'Digests of the ConfigMaps and Secrets that the first copy of the Job took along, where its queue holds it to them (carryContent). The manager writes it.',
  ),
  ofSubmission(SUBMISSION_ANNOTATION, 'Which submission the Job came from. The manager writes it when it creates the Job.'),
  ofSubmission(SUBMITTED_AT_ANNOTATION, 'When that was submitted; likewise.'),
  ofSubmission(SUBMISSION_TENANT_ANNOTATION, 'The SubmissionQueue that it came through; likewise.'),
  ofSubmission(SUBMISSION_PAYLOAD_ANNOTATION, 'Hash of what was submitted; likewise.'),
  ofSubmission(SUBMISSION_ATTEMPT_ANNOTATION, 'Which attempt of the submission the Job is; likewise.'),
  ofSubmission(SUBMITTED_BY_ANNOTATION, 'The user who submitted it over HTTP, as the API server knew them by their token; likewise.'),
  ofSubmission(SUBMISSION_SEAL_ANNOTATION, 'That the manager has written these, and for this Job.'),
  ofSubmission(
    SUBMISSION_FINALIZER,
    'The manager creates the Job of a submission with it, and takes it off once it is noted for good that the Job was made.',
    'finalizers',
  ),
  own('labels', ORIGIN_LABEL, 'Marks a copy. Only a manager makes copies.'),
  own('annotations', ORIGIN_UID_ANNOTATION, 'Which Job a copy is of; likewise.'),
  own('annotations', ORIGIN_NAME_ANNOTATION, 'The name of that Job, where the copy has another; likewise.'),
  own('annotations', DISPATCH_EPOCH_ANNOTATION, 'Which placement a copy belongs to; likewise.'),
  own('annotations', JOB_CONTROLLER_ANNOTATION, 'Which Job controller a copy was made for; likewise.'),
  own('annotations', CARRY_PENDING_ANNOTATION, 'Whether ConfigMaps and Secrets of a copy are still to be written; likewise.'),
  own('annotations', RESUMED_FROM_ANNOTATION, 'What a copy said of its suspension when it was resumed; likewise.'),
  own('annotations', FENCED_ANNOTATION, 'Since when a worker keeps a copy of another kind suspended, because its manager is out of reach.'),
  own('annotations', POD_SELECTOR_ANNOTATION, 'The label selector of the pods of a copy of another kind.'),
  own('annotations', LAST_FAILURE_ANNOTATION, 'What its last pod ended with that failed. The manager writes it with the status.'),
  {
    ...own('annotations', ENDED_PODS_ANNOTATION, 'What the pods of a copy ended with. The worker that runs it writes it with the status.'),
    rules: [WORKER_REPORTS_ENDS],
  },
  field(
    `\`spec.managedBy: ${MANAGER_CONTROLLER_NAME}\``,
    'both',
    'The webhook sets it on a new Job with a queue. A user may set it, with a queue and `spec.suspend: true`; it is immutable.',
    BORN_WITH_A_QUEUE,
    BORN_SUSPENDED,
  ),
  field(
    '`spec.suspend`',
    'both',
    'Users may set it to true at any time: that holds an admitted Job. The manager sets it to false, by admitting the Job.',
    RELEASED_BY_ADMISSION,
  ),
  field(
    '`spec.parallelism`, `spec.completions`',
    'both',
    'Users may change them. An admitted Job does not grow beyond the pods that it may have at once, unless it is suspended by the same write; it is admitted again when it is not held.',
    GROWS_ONLY_SUSPENDED,
  ),
  {
    ...field(
      '`spec.template`',
      'user',
      'Immutable but for what the API server lets users change while the Job is suspended and at rest; it is charged again when it is admitted.',
    ),
    seenWhen: 'oldObject != null && !variables.ofStatus && variables.managed && object.spec.template != oldObject.spec.template',
  },
  field(
    '`status` (`jobs/status`)',
    'Switchyard',
    'The manager alone writes the status of its Jobs, and the worker that of copies on the manager’s own cluster. Controllers of [admission checks](admission-checks.md) say by it what they have to say: who may `update` `admissionchecks.switchyard.dev` in the namespace, and writes as field manager `switchyard-check`. Metadata in a write of the status is judged as in any other.',
    MANAGER_WRITES_STATUS,
  ),
  field('`spec` of a copy', 'Switchyard', 'Follows the Job that it is a copy of.', COPY_FOLLOWS_ITS_ORIGINAL),
  queue(
    QUEUE_NAME_LABEL,
    'Users give it to a new Job, and may change it until the Job is admitted; it is neither removed nor added later.',
  ),
  {
    ...wish(
      'labels',
      KUEUE_QUEUE_NAME_LABEL,
      `Of a new Job without \`${QUEUE_NAME_LABEL}\` that label is made from it where the manager runs with \`--kueue-queue-label\`; otherwise, and later, it means nothing here.`,
    ),
    unseen: true,
  },
  wish('annotations', PRIORITY_ANNOTATION, 'A wish. It must be readable.'),
  wish(
    'labels',
    CANARY_LABEL,
    'Marks a canary, as the manager and `switchyard canary` make them. The manager counts and deletes those alone that have the name that it gives a canary, in the namespace of `--canary-queue`.',
  ),
  wish('labels', PRIORITY_CLASS_LABEL, 'Kept for a wish.'),
  wish('labels', MAX_EXEC_TIME_LABEL, 'A wish, which may be changed at any time. It must be readable.'),
  {
    ...wish(
      'labels',
      KUEUE_MAX_EXEC_TIME_LABEL,
      `Of a new Job that gets its queue from Kueue’s label \`${MAX_EXEC_TIME_LABEL}\` is made from it; otherwise, and later, it means nothing here.`,
    ),
    unseen: true,
  },
  {
    ...wish('labels', KEEP_LOGS_LABEL, 'A wish: `Failed`, `All` or `None`; other words mean nothing. Its copy carries it, too.'),
    travels: true,
  },
  wish('annotations', MIN_PARALLELISM_ANNOTATION, 'A wish. It must be readable, and less than the pods that the Job may have at once.'),
  {
    ...wish(
      'annotations',
      KUEUE_MIN_PARALLELISM_ANNOTATION,
      `Of a new Job that gets its queue from Kueue’s label \`${MIN_PARALLELISM_ANNOTATION}\` is made from it; otherwise, and later, it means nothing here.`,
    ),
    unseen: true,
  },
  wish(
    'annotations',
    TRACEPARENT_ANNOTATION,
    'The trace of the submitter (W3C); any other text has no effect. Its copy carries what its pods get.',
  ),
  wish('annotations', TRACE_PODS_ANNOTATION, 'A wish: `on` or `off`; other words mean nothing.'),
  wish('annotations', CLUSTERS_ANNOTATION, 'A wish. It must be readable.'),
  wish('annotations', START_TIMEOUT_ANNOTATION, 'A wish. It must be readable.'),
  wish('annotations', RECOVERY_TIMEOUT_ANNOTATION, 'A wish. It must be readable.'),
  wish('annotations', MIN_READY_PODS_ANNOTATION, 'A wish. It must be readable.'),
  wish('annotations', REQUESTS_ANNOTATION, 'A wish. It must be readable; what it adds is charged to quota.'),
  wish(
    'annotations',
    FENCING_ANNOTATION,
    'A wish, `on` or `off`; the ClusterQueue’s word counts where it is absent. Its copy carries `off`, from either of them.',
  ),
  wish(
    'annotations',
    POD_FENCE_ANNOTATION,
    'A wish, `on` or `off`; the ClusterQueue’s word counts where it is absent. `on` is refused where the pods cannot have [a pod fence](fencing.md#the-pod-fence).',
  ),
  wish(
    'annotations',
    CARRY_ANNOTATION,
    'A wish: `ConfigMaps`, `Secrets`, both with a comma, or `None`; the LocalQueue’s or ClusterQueue’s word counts where it is absent.',
  ),
  wish('annotations', DATA_ANNOTATION, 'A wish. It must be readable.'),
  {
    ...wish(
      'annotations',
      HOLD_ANNOTATION,
      'Users may set it to `true` or `false` and remove it at any time. The manager sets it to `true` when a user suspends an admitted Job, and removes it when it admits the Job.',
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
