import {
  KUEUE_QUEUE_NAME_LABEL,
  MANAGER_CONTROLLER_NAME,
  OVERRIDE_FIELD_MANAGER,
  QUEUE_NAME_LABEL,
  SWITCHYARD_GROUP,
} from '../../shared/api/names.ts';
import { inlined, isManagedBy, quoted, withIdentities } from './cel-variables.ts';
import { JOB_PARTS, SEEN_PARTS } from './job-parts.ts';
import type { Identities } from './writer.ts';
import { anyChangedWhen, type Place } from './write-rule.ts';

export type MatchCondition = { readonly name: string; readonly expression: string };
export type WebhookKind = 'Mutating' | 'Validating';

/**
 * The webhook that notes who passes by the rules. It is asked last and never waited for long, and what it cannot note passes all the same.
 */
export const OVERRIDE_WEBHOOK = { name: 'overrides.switchyard.dev', failurePolicy: 'Ignore', timeoutSeconds: 5 } as const;

const JOB = { apiGroups: ['batch'], apiVersions: ['v1'], scope: 'Namespaced' } as const;

/** Which requests an API server asks about at all: `rules` of the webhooks, and `resourceRules` of the policies. */
export const RESOURCE_RULES = {
  Mutating: [{ ...JOB, resources: ['jobs'], operations: ['CREATE'] }],
  Validating: [
    { ...JOB, resources: ['jobs'], operations: ['CREATE', 'UPDATE'] },
    { ...JOB, resources: ['jobs/status'], operations: ['UPDATE'] },
  ],
} as const;

/** What the policy about the manager's account judges: deleting, too. */
export const OWN_ACCOUNT_RESOURCES = [
  { ...JOB, resources: ['jobs'], operations: ['CREATE', 'UPDATE', 'DELETE'] },
  { ...JOB, resources: ['jobs/status'], operations: ['UPDATE'] },
] as const;

/** Jobs with the queue label, before a write or after it. API servers find that out without an expression. */
export const HAS_QUEUE_LABEL = { matchExpressions: [{ key: QUEUE_NAME_LABEL, operator: 'Exists' }] } as const;
export type ObjectSelector = typeof HAS_QUEUE_LABEL;

/**
 * What narrows a webhook before its conditions are asked. The validating one sees every Job: a name of ours may be an annotation or a
 * finalizer, and no selector knows of those.
 */
export const objectSelectorOf = (kind: WebhookKind, kueueQueueLabel = false): ObjectSelector | undefined =>
  kind === 'Mutating' && !kueueQueueLabel ? HAS_QUEUE_LABEL : undefined;

/** Names are looked at for themselves; the rules of fields are looked at as they are. */
const TOUCHES_OURS = [
  ...(['labels', 'annotations', 'finalizers'] as const).map((place) =>
    anyChangedWhen(
      place,
      SEEN_PARTS.flatMap((part) => (part.place === place ? [part.name] : [])),
    ),
  ),
  ...JOB_PARTS.flatMap(({ part, rules }) => (part.place === 'field' ? rules.map(({ brokenWhen }) => `(${brokenWhen})`) : [])),
  ...JOB_PARTS.flatMap(({ seenWhen }) => (seenWhen === undefined ? [] : [`(${seenWhen})`])),
].join(' || ');

const BY_THE_MANAGER = inlined('variables.byManager');
/** On purpose and by name, with the right to. Asked last: the authorizer is the dearest question of all. */
const MAY_OVERRIDE = `authorizer.group(${quoted(SWITCHYARD_GROUP)}).resource('jobs').namespace(request.namespace).check('override').allowed()`;
const OVERRIDDEN = `${inlined('variables.fieldManager')} == ${quoted(OVERRIDE_FIELD_MANAGER)} && ${MAY_OVERRIDE}`;

/** What prepareJob makes a queue of: Kueue's label without ours, where the installation takes it. */
const HAS_KUEUES_QUEUE =
  `variables.kueueQueueLabel && !(${quoted(QUEUE_NAME_LABEL)} in variables.labels)` +
  ` && ${quoted(KUEUE_QUEUE_NAME_LABEL)} in variables.labels && variables.labels[${quoted(KUEUE_QUEUE_NAME_LABEL)}] != ''`;

/**
 * Whether a Job is the manager's, or has one of these names, before the write or after it. It is asked first: most Jobs of a cluster are
 * foreign, and each of their writes costs the API server this much.
 */
function concerns(parts: readonly { readonly place: Place; readonly name: string }[]): string {
  const hasAny = (place: Place): string[] => {
    const names = parts.flatMap((part) => (part.place === place ? [`${quoted(part.name)} in job.metadata.${place}`] : []));
    return names.length === 0 ? [] : [`has(job.metadata.${place}) && (${names.join(' || ')})`];
  };
  const ours = [isManagedBy('job', MANAGER_CONTROLLER_NAME), ...hasAny('labels'), ...hasAny('annotations'), ...hasAny('finalizers')];
  return `[object, oldObject].exists(job, job != null && (${ours.join(' || ')}))`;
}

/** One condition of several questions: API servers evaluate every condition, but of an expression only as much as it takes. */
const inOrder = (name: string, ...questions: readonly string[]): readonly MatchCondition[] => [
  { name, expression: questions.map((each) => `(${each})`).join(' && ') },
];

/**
 * When an API server notes that somebody passes by the rules: of every such write of a Job that is the manager's or has a name of ours. It
 * is asked in this order because hardly anybody calls himself so.
 */
export const OVERRIDE_CONDITIONS: readonly MatchCondition[] = inOrder(
  'overrides-the-rules',
  `${inlined('variables.fieldManager')} == ${quoted(OVERRIDE_FIELD_MANAGER)}`,
  concerns(SEEN_PARTS),
  MAY_OVERRIDE,
);

/** When a policy with rules about these parts is asked; `selected` where a selector has found out whether it is concerned. */
export const policyConditions = (
  parts: readonly { readonly place: Place; readonly name: string }[] | 'selected',
): readonly MatchCondition[] =>
  parts === 'selected'
    ? inOrder('not-by-the-manager', `!(${BY_THE_MANAGER})`, `!(${OVERRIDDEN})`)
    : inOrder('concerns-switchyard', concerns(parts), `!(${BY_THE_MANAGER})`, `!(${OVERRIDDEN})`);

/** When that policy is asked: whatever field manager the account names. */
export const BY_THE_ACCOUNT: readonly MatchCondition[] = inOrder(
  'by-the-manager',
  'has(request.userInfo.username) && request.userInfo.username in variables.managers',
);

/**
 * When a webhook is asked. A Job of which nothing is ours never waits for the manager, nor does the manager for itself. The lists
 * `variables.managers` and `variables.localWorkers` are still to be put in, and whether Kueue's label is taken: {@link matchConditions}.
 */
export const MATCH_CONDITIONS: Readonly<Record<WebhookKind, readonly MatchCondition[]>> = {
  Mutating: inOrder('has-a-queue', inlined(`variables.queue != '' || ${HAS_KUEUES_QUEUE}`), `!(${BY_THE_MANAGER})`),
  Validating: inOrder('touches-what-is-ours', concerns(SEEN_PARTS), `!(${BY_THE_MANAGER})`, inlined(TOUCHES_OURS), `!(${OVERRIDDEN})`),
};

/** The match conditions of an installation, which takes Kueue's label or does not. */
export const matchConditions = (kind: WebhookKind, identities: Identities, kueueQueueLabel = false): readonly MatchCondition[] =>
  ofInstallation(MATCH_CONDITIONS[kind], identities, kueueQueueLabel);

/** Conditions with what an installation puts in. */
export const ofInstallation = (
  conditions: readonly MatchCondition[],
  identities: Identities,
  kueueQueueLabel = false,
): readonly MatchCondition[] =>
  conditions.map(({ name, expression }) => ({
    name,
    expression: withIdentities(expression, identities).replaceAll('variables.kueueQueueLabel', String(kueueQueueLabel)),
  }));
