import {
  BUILT_IN_JOB_CONTROLLER_NAME,
  COPIES_FINALIZER,
  KUEUE_QUEUE_NAME_LABEL,
  MANAGER_CONTROLLER_NAME,
  ORIGIN_LABEL,
  OVERRIDE_FIELD_MANAGER,
  QUEUE_NAME_LABEL,
  SWITCHYARD_GROUP,
} from '../../shared/api/names.ts';
import type { Resource } from '../../shared/api/resources.ts';
import { describedForm, inlined, listed, type ObjectForm, quoted, specHas, withIdentities } from './cel-variables.ts';
import { JOB_PARTS, SEEN_PARTS } from './job-parts.ts';
import type { Identities } from './writer.ts';
import { anyChangedWhen, type Place } from './write-rule.ts';

export type MatchCondition = { readonly name: string; readonly expression: string };
export type WebhookKind = 'Mutating' | 'Validating';

/**
 * The webhook that records users who bypass the rules. It is called last and with a short timeout, and a failure of it lets the write pass.
 */
export const OVERRIDE_WEBHOOK = { name: 'overrides.switchyard.dev', failurePolicy: 'Ignore', timeoutSeconds: 5 } as const;

const JOB = { apiGroups: ['batch'], apiVersions: ['v1'], scope: 'Namespaced' } as const;

export type ResourceRule = {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly scope: 'Namespaced';
  readonly resources: readonly string[];
  readonly operations: readonly string[];
};

/** The requests that an API server reviews at all: `rules` of the webhooks, and `resourceRules` of the policies. */
export const RESOURCE_RULES = {
  Mutating: [{ ...JOB, resources: ['jobs'], operations: ['CREATE'] }],
  Validating: [
    { ...JOB, resources: ['jobs'], operations: ['CREATE', 'UPDATE'] },
    { ...JOB, resources: ['jobs/status'], operations: ['UPDATE'] },
  ],
} as const;

/** The same, and those that the policies about the manager's account judge, with deletions. */
export const REQUESTS = {
  ...RESOURCE_RULES,
  OwnAccount: [
    { ...JOB, resources: ['jobs'], operations: ['CREATE', 'UPDATE', 'DELETE'] },
    { ...JOB, resources: ['jobs/status'], operations: ['UPDATE'] },
  ],
} as const satisfies Readonly<Record<string, readonly ResourceRule[]>>;
export type RequestKind = keyof typeof REQUESTS;

/** The requests for objects of a described kind: those for Jobs, as the chart has them (`switchyard.kindRules`). */
export const resourceRulesOf = (requests: RequestKind, { group, plural }: Pick<Resource, 'group' | 'plural'>): readonly ResourceRule[] =>
  REQUESTS[requests].map((rule) => ({
    ...rule,
    apiGroups: [group],
    apiVersions: ['*'],
    resources: rule.resources.map((each) => each.replace('jobs', plural)),
  }));

/** Jobs with the queue label before or after a write. API servers match it without an expression. */
export const HAS_QUEUE_LABEL = { matchExpressions: [{ key: QUEUE_NAME_LABEL, operator: 'Exists' }] } as const;
export type ObjectSelector = typeof HAS_QUEUE_LABEL;

/**
 * The selector before the conditions of a webhook. The validating webhook has none: a reserved name may be an annotation or a finalizer,
 * which selectors do not see.
 */
export const objectSelectorOf = (kind: WebhookKind, kueueQueueLabel = false): ObjectSelector | undefined =>
  kind === 'Mutating' && !kueueQueueLabel ? HAS_QUEUE_LABEL : undefined;

/**
 * The webhook that gives Jobs without a queue the default one, in namespaces that the administrator selects. Kueue's Jobs and copies are
 * left alone, and so are Jobs with an empty queue label, which is how users exempt one.
 */
export const UNLABELLED_WEBHOOK = {
  name: 'unlabelled.switchyard.dev',
  objectSelector: {
    matchExpressions: [QUEUE_NAME_LABEL, KUEUE_QUEUE_NAME_LABEL, ORIGIN_LABEL].map((key) => ({ key, operator: 'DoesNotExist' })),
  },
} as const;

/** Names that a write changes, of an object of any kind. */
const CHANGED_NAMES = (['labels', 'annotations', 'finalizers'] as const)
  .map((place) =>
    anyChangedWhen(
      place,
      SEEN_PARTS.flatMap((part) => (part.place === place ? [part.name] : [])),
    ),
  )
  .join(' || ');

/** Changes of a Job's fields that are judged: the rules of fields are used as they are. */
const CHANGES_OF_JOBS = [
  ...JOB_PARTS.flatMap(({ part, rules }) => (part.place === 'field' ? rules.map(({ brokenWhen }) => `(${brokenWhen})`) : [])),
  ...JOB_PARTS.flatMap(({ seenWhen }) => (seenWhen === undefined ? [] : [`(${seenWhen})`])),
].join(' || ');

/**
 * Of an object of another kind only the webhook knows which fields say what: it sees each change of spec, labels and annotations, and the
 * status of all but copies, which their operators write.
 */
const CHANGES_OF_OTHER_KINDS =
  `oldObject == null || (variables.ofStatus ? !(${quoted(ORIGIN_LABEL)} in variables.oldLabels)` +
  ` || ${quoted(QUEUE_NAME_LABEL)} in variables.oldLabels || ${quoted(COPIES_FINALIZER)} in variables.oldFinalizers` +
  ' : variables.specChanged || variables.labels != variables.oldLabels || variables.annotations != variables.oldAnnotations)';

/** A worker on this cluster suspends copies because the manager is away: it cannot be asked. The policies judge these writes. */
const NOT_BY_THE_FENCE = `!(${quoted(ORIGIN_LABEL)} in variables.oldLabels && variables.byLocalWorker)`;

/** As a Job says it, and some other kinds do; these may have anything there. */
const NAMES_MANAGER = describedForm({
  suspend: 'spec.suspend',
  managedBy: { path: 'spec.managedBy', home: MANAGER_CONTROLLER_NAME },
}).namesManager;
const IS_A_JOB = `request.resource.group == ${quoted(JOB.apiGroups[0])}`;

const BY_THE_MANAGER = inlined('variables.byManager');
/** On purpose and by name, with the right to do so. It comes last, because the authorizer is the most expensive test. */
const MAY_OVERRIDE = `authorizer.group(${quoted(SWITCHYARD_GROUP)}).resource('jobs').namespace(request.namespace).check('override').allowed()`;
const OVERRIDDEN = `${inlined('variables.fieldManager')} == ${quoted(OVERRIDE_FIELD_MANAGER)} && ${MAY_OVERRIDE}`;

/** The label from which prepareJob makes a queue: Kueue's without Switchyard's, where the installation accepts it. */
const HAS_KUEUES_QUEUE =
  `variables.kueueQueueLabel && !(${quoted(QUEUE_NAME_LABEL)} in variables.labels)` +
  ` && ${quoted(KUEUE_QUEUE_NAME_LABEL)} in variables.labels && variables.labels[${quoted(KUEUE_QUEUE_NAME_LABEL)}] != ''`;

type Named = { readonly place: Place; readonly name: string };

/**
 * CEL: whether a Job is managed by the manager, or has one of these names, before or after the write. It comes first: most Jobs of a
 * cluster are foreign, and each of their writes costs the API server this test. `isManaged`: absent where names alone tell.
 */
function concerns(parts: readonly Named[], isManaged?: (job: string) => string): string {
  const hasAny = (place: Place): string[] => {
    const names = parts.flatMap((part) => (part.place === place ? [`${quoted(part.name)} in job.metadata.${place}`] : []));
    return names.length === 0 ? [] : [`has(job.metadata.${place}) && (${names.join(' || ')})`];
  };
  const ours = [
    ...(isManaged === undefined ? [] : [isManaged('job')]),
    ...hasAny('labels'),
    ...hasAny('annotations'),
    ...hasAny('finalizers'),
  ];
  return `[object, oldObject].exists(job, job != null && (${ours.join(' || ')}))`;
}

/** One condition of several tests: API servers evaluate every condition, but of an expression only as much as needed. */
const inOrder = (name: string, ...questions: readonly string[]): readonly MatchCondition[] => [
  { name, expression: questions.map((each) => `(${each})`).join(' && ') },
];

/**
 * The writes that bypass the rules: of a Job that is managed by the manager or has a reserved name. The order of the tests reflects that
 * hardly any client uses this field manager.
 */
export const OVERRIDE_CONDITIONS: readonly MatchCondition[] = inOrder(
  'overrides-the-rules',
  `${inlined('variables.fieldManager')} == ${quoted(OVERRIDE_FIELD_MANAGER)}`,
  concerns(SEEN_PARTS, NAMES_MANAGER),
  MAY_OVERRIDE,
);

/** The conditions of a policy with rules about these parts, and about objects of this form; `selected` where a selector matches them. */
export const policyConditions = (parts: readonly Named[] | 'selected', form?: ObjectForm): readonly MatchCondition[] =>
  parts === 'selected'
    ? inOrder('not-by-the-manager', `!(${BY_THE_MANAGER})`, `!(${OVERRIDDEN})`)
    : inOrder('concerns-switchyard', concerns(parts, form?.namesManager), `!(${BY_THE_MANAGER})`, `!(${OVERRIDDEN})`);

/** Marks of an object whose fields are judged, where the name of its manager does not tell: a queue, its copies, or that it is one. */
export const MARKS: readonly Named[] = [
  { place: 'labels', name: QUEUE_NAME_LABEL },
  { place: 'labels', name: ORIGIN_LABEL },
  { place: 'finalizers', name: COPIES_FINALIZER },
];

/** The conditions of that policy: whatever field manager the account names. */
export const BY_THE_ACCOUNT: readonly MatchCondition[] = inOrder(
  'by-the-manager',
  'has(request.userInfo.username) && request.userInfo.username in variables.managers',
);

/**
 * The conditions of a webhook. A Job without parts of Switchyard never waits for the manager, nor does the manager for itself. The lists
 * `variables.managers` and `variables.localWorkers`, and whether Kueue's label is accepted, are still to be inserted: {@link
 * matchConditions}.
 */
export const MATCH_CONDITIONS: Readonly<Record<WebhookKind, readonly MatchCondition[]>> = {
  Mutating: inOrder('has-a-queue', inlined(`variables.queue != '' || ${HAS_KUEUES_QUEUE}`), `!(${BY_THE_MANAGER})`),
  Validating: inOrder(
    'touches-what-is-ours',
    concerns(SEEN_PARTS, NAMES_MANAGER),
    `!(${BY_THE_MANAGER})`,
    inlined(`${IS_A_JOB} || ${NOT_BY_THE_FENCE}`),
    inlined(`${CHANGED_NAMES} || (${IS_A_JOB} ? ${CHANGES_OF_JOBS} : ${CHANGES_OF_OTHER_KINDS})`),
    `!(${OVERRIDDEN})`,
  ),
};

/**
 * Jobs of other controllers, of the manager, and of Kubernetes' own namespaces are none of its business, whatever the selector says. Which
 * field of another kind names its controller only the webhook knows.
 */
export const UNLABELLED_CONDITIONS: readonly MatchCondition[] = inOrder(
  'may-be-managed',
  "!request.namespace.startsWith('kube-')",
  `!(${IS_A_JOB}) || !(${specHas('object', 'managedBy')}) || object.spec.managedBy in ${listed([BUILT_IN_JOB_CONTROLLER_NAME, MANAGER_CONTROLLER_NAME])}`,
  `!(${BY_THE_MANAGER})`,
);

/** The match conditions of an installation, which accepts Kueue's label or does not. */
export const matchConditions = (kind: WebhookKind, identities: Identities, kueueQueueLabel = false): readonly MatchCondition[] =>
  ofInstallation(MATCH_CONDITIONS[kind], identities, kueueQueueLabel);

/** Conditions with the values of an installation inserted. */
export const ofInstallation = (
  conditions: readonly MatchCondition[],
  identities: Identities,
  kueueQueueLabel = false,
): readonly MatchCondition[] =>
  conditions.map(({ name, expression }) => ({
    name,
    expression: withIdentities(expression, identities).replaceAll('variables.kueueQueueLabel', String(kueueQueueLabel)),
  }));
