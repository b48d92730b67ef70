import { KUEUE_QUEUE_NAME_LABEL, OVERRIDE_FIELD_MANAGER, QUEUE_NAME_LABEL, SWITCHYARD_GROUP } from '../../shared/api/names.ts';
import { inlined, quoted, withIdentities } from './cel-variables.ts';
import { JOB_PARTS, SEEN_PARTS } from './job-parts.ts';
import type { Identities } from './writer.ts';
import { anyChangedWhen } from './write-rule.ts';

export type MatchCondition = { readonly name: string; readonly expression: string };
export type WebhookKind = 'Mutating' | 'Validating';

const JOB = { apiGroups: ['batch'], apiVersions: ['v1'], scope: 'Namespaced' } as const;

/** Which requests an API server asks about at all: `rules` of the webhooks, and `resourceRules` of the policies. */
export const RESOURCE_RULES = {
  Mutating: [{ ...JOB, resources: ['jobs'], operations: ['CREATE'] }],
  Validating: [
    { ...JOB, resources: ['jobs'], operations: ['CREATE', 'UPDATE'] },
    { ...JOB, resources: ['jobs/status'], operations: ['UPDATE'] },
  ],
} as const;

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

const NOT_BY_THE_MANAGER: MatchCondition = { name: 'not-by-the-manager', expression: inlined('!variables.byManager') };

/** What prepareJob makes a queue of: Kueue's label without ours, where the installation takes it. */
const HAS_KUEUES_QUEUE =
  `variables.kueueQueueLabel && !(${quoted(QUEUE_NAME_LABEL)} in variables.labels)` +
  ` && ${quoted(KUEUE_QUEUE_NAME_LABEL)} in variables.labels && variables.labels[${quoted(KUEUE_QUEUE_NAME_LABEL)}] != ''`;

/**
 * When a webhook or a policy is asked. A Job of which nothing is ours never waits for the manager, nor does the manager for itself. The
 * lists `variables.managers` and `variables.localWorkers` are still to be put in, and whether Kueue's label is taken: {@link matchConditions}.
 */
export const MATCH_CONDITIONS: Readonly<Record<WebhookKind, readonly MatchCondition[]>> = {
  Mutating: [{ name: 'has-a-queue', expression: inlined(`variables.queue != '' || ${HAS_KUEUES_QUEUE}`) }, NOT_BY_THE_MANAGER],
  Validating: [
    { name: 'touches-what-is-ours', expression: inlined(TOUCHES_OURS) },
    NOT_BY_THE_MANAGER,
    {
      name: 'not-overridden',
      expression: `!(${inlined('variables.fieldManager')} == ${quoted(OVERRIDE_FIELD_MANAGER)} && authorizer.group(${quoted(SWITCHYARD_GROUP)}).resource('jobs').namespace(request.namespace).check('override').allowed())`,
    },
  ],
};

/** The match conditions of an installation, which takes Kueue's label or does not. */
export const matchConditions = (kind: WebhookKind, identities: Identities, kueueQueueLabel = false): readonly MatchCondition[] =>
  MATCH_CONDITIONS[kind].map(({ name, expression }) => ({
    name,
    expression: withIdentities(expression, identities).replaceAll('variables.kueueQueueLabel', String(kueueQueueLabel)),
  }));
