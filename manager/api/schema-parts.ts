import { CARRIED_KINDS, CARRY_CONTENTS } from './carried-kinds.ts';
import { Type, type Static } from 'typebox';
import { DURATION_PATTERN } from './duration.ts';

/**
 * Parts that the schemas of several kinds share. A schema is both the type for the compiler and the structural OpenAPI schema for the API
 * server. Lists have maxItems, because the API server refuses CEL rules whose worst case it cannot bound.
 */

/** A rule in CEL that the API server checks on every write. */
export type ValidationRule = { readonly rule: string; readonly message: string };

/** Options of a schema that carries CEL rules. */
export const withRules = (...rules: readonly ValidationRule[]) => ({ 'x-kubernetes-validations': rules });

/** A bound lets the API server estimate the cost of rules; a longer quantity means nothing that a shorter one does not. */
const QUANTITY_LENGTH_MAX = 64;

const QUANTITY = {
  anyOf: [{ type: 'integer' }, { type: 'string' }],
  maxLength: QUANTITY_LENGTH_MAX,
  pattern: '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$',
  'x-kubernetes-int-or-string': true,
};

/** A Kubernetes quantity: `4`, `500m`, `1.5Gi`. */
export const Quantity = (description: string) => Type.Unsafe<string | number>({ ...QUANTITY, description });

/** A quantity that is not below 0. `field` is what the message calls it. */
export const AmountQuantity = (field: string, description: string) =>
  Type.Unsafe<string | number>({
    ...QUANTITY,
    description,
    ...withRules({
      rule: "type(self) == int ? self >= 0 : !self.startsWith('-')",
      message: `${field} must not be negative; write 0 or more`,
    }),
  });

/** Quantities by resource name. */
export const ResourceList = (description: string) =>
  Type.Unsafe<Record<string, string | number>>({
    type: 'object',
    maxProperties: 64,
    additionalProperties: QUANTITY,
    description,
  });

const LABEL_PREFIX = '([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?';
const LABEL_NAME = '[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?';
/** A prefix of at most 253 characters, a slash, and a name of at most 63. */
export const QUALIFIED_NAME_LENGTH_MAX = 317;

/** Key of a label or taint, or name of a resource: `cpu`, `nvidia.com/gpu`. */
export const QualifiedName = (description: string) =>
  Type.String({ minLength: 1, maxLength: QUALIFIED_NAME_LENGTH_MAX, pattern: `^${LABEL_PREFIX}${LABEL_NAME}$`, description });

const LABEL_VALUE = { type: 'string', maxLength: 63, pattern: `^(${LABEL_NAME})?$` } as const;

/** Value of a label or taint. */
export const LabelValue = (description: string) => Type.Unsafe<string>({ ...LABEL_VALUE, description });

/**
 * Labels. Of the keys only the length is checked: a rule about the characters of a map's keys has no cost that the API server can bound, so
 * that it would refuse the whole definition.
 */
export const Labels = (description: string, options: { readonly maxProperties: number }) =>
  Type.Unsafe<Record<string, string>>({
    type: 'object',
    additionalProperties: LABEL_VALUE,
    ...options,
    description,
    ...withRules({
      rule: `self.all(key, size(key) > 0 && size(key) <= ${QUALIFIED_NAME_LENGTH_MAX})`,
      message: `the key of a label must have 1 to ${QUALIFIED_NAME_LENGTH_MAX} characters, such as topology.kubernetes.io/zone`,
    }),
  });

/** A duration in hours, minutes and seconds: `10m`, `1h30m`, `0s`. */
export const Duration = (fallback: string, description: string) =>
  Type.String({ minLength: 2, maxLength: 16, pattern: DURATION_PATTERN, default: fallback, description });

/** One of several words. */
export const OneOf = <const Word extends string>(
  words: readonly Word[],
  options: { readonly description: string; readonly default?: Word },
) => Type.Unsafe<Word>({ type: 'string', enum: words, ...options });

/** The objects of its pods that travel with a Job. */
export const Carry = (description: string) =>
  Type.Array(OneOf(CARRIED_KINDS, { description: 'A kind of object.' }), {
    maxItems: CARRIED_KINDS.length,
    'x-kubernetes-list-type': 'set',
    description,
  });

/** Which content of the objects that travel with a Job its later copies have. */
export const CarryContent = (description: string) => OneOf(CARRY_CONTENTS, { description });

/** Name of a Switchyard object or of a flavor: a DNS subdomain. */
export const ObjectName = (description: string, ...rules: readonly ValidationRule[]) =>
  Type.String({
    minLength: 1,
    maxLength: 253,
    pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
    description,
    ...(rules.length > 0 ? withRules(...rules) : {}),
  });

/** metav1.LabelSelector. */
export const LabelSelectorSchema = (description: string) =>
  Type.Object(
    {
      matchLabels: Type.Optional(Labels('Labels that must have exactly these values.', { maxProperties: 64 })),
      matchExpressions: Type.Optional(
        Type.Array(LabelRequirementSchema, {
          maxItems: 64,
          'x-kubernetes-list-type': 'atomic',
          description: 'Requirements that must all hold.',
        }),
      ),
    },
    { 'x-kubernetes-map-type': 'atomic', description },
  );

const LabelRequirementSchema = Type.Object(
  {
    key: QualifiedName('The label the requirement is about.'),
    operator: OneOf(['In', 'NotIn', 'Exists', 'DoesNotExist'], { description: 'How the label relates to the values.' }),
    values: Type.Optional(
      Type.Array(LabelValue('A value of the label.'), {
        maxItems: 1024,
        'x-kubernetes-list-type': 'atomic',
        description: 'Of In and NotIn; the others have none.',
      }),
    ),
  },
  withRules(
    {
      rule: "!(self.operator in ['In', 'NotIn']) || has(self.values) && size(self.values) > 0",
      message: 'values must not be empty with the operators In and NotIn; name at least one, or use Exists or DoesNotExist',
    },
    {
      rule: "!(self.operator in ['Exists', 'DoesNotExist']) || !has(self.values) || size(self.values) == 0",
      message: 'values must not be set with the operators Exists and DoesNotExist; leave them out, or use In or NotIn',
    },
  ),
);

/** metav1.Condition. */
const ConditionSchema = Type.Object({
  type: Type.String({ maxLength: 316, description: 'What the condition is about; each type occurs once.' }),
  status: OneOf(['True', 'False', 'Unknown'], { description: 'Whether the condition holds.' }),
  observedGeneration: Type.Optional(
    Type.Integer({ minimum: 0, format: 'int64', description: 'metadata.generation of the object that the condition is about.' }),
  ),
  lastTransitionTime: Type.String({ format: 'date-time', description: 'When the status of the condition changed last.' }),
  reason: Type.String({
    minLength: 1,
    maxLength: 1024,
    pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
    description: 'Why the condition has its status, in one word for programs.',
  }),
  message: Type.String({ maxLength: 32768, description: 'The same for people.' }),
});
export type Condition = Static<typeof ConditionSchema>;

export const Conditions = Type.Array(ConditionSchema, {
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
  maxItems: 16,
  description: 'What is known about the object now.',
});

/** How a pending Job of a stopped queue is treated (Kueue's stopPolicy). */
export const StopPolicy = OneOf(['None', 'Hold', 'HoldAndDrain'], {
  default: 'None',
  description: 'Hold admits no further Jobs; HoldAndDrain also suspends those already admitted.',
});
