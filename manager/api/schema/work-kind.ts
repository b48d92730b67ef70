import { Type } from 'typebox';
import { AGE_COLUMN, type KindSchema } from '../kind-definition.ts';
import { Conditions, ObjectName, withRules } from '../schema-parts.ts';

const EXPRESSION_LENGTH_MAX = 2048;
const POD_SETS_MAX = 8;
const LIST_MAX = 16;

/** A CEL expression. */
const Expression = (description: string) => Type.String({ minLength: 1, maxLength: EXPRESSION_LENGTH_MAX, description });

const FIELD = '[A-Za-z_][A-Za-z0-9_-]*';

/** The path of one field: `spec.runPolicy.suspend`. */
const FieldPath = (description: string) => Type.String({ maxLength: 256, pattern: `^${FIELD}(\\.${FIELD})*$`, description });

/** The path of one field of the spec. */
const SpecPath = (description: string) => Type.String({ maxLength: 256, pattern: `^spec(\\.${FIELD})+$`, description });

/** A path that may lead to many: `spec.components[*].podSets`. */
const ItemsPath = (description: string) =>
  Type.String({ maxLength: 256, pattern: `^spec(\\.${FIELD}|\\[\\*\\])*\\.${FIELD}(\\[\\*\\])?$`, description });

/** A label key, an annotation key, or its prefix with a star for the name. */
const KeyOrPrefix = Type.String({ minLength: 1, maxLength: 317, description: 'A key, or prefix/* for all of a prefix.' });

const ControllerName = (description: string) => Type.String({ minLength: 1, maxLength: 253, description });

export const DescribedPodSetSchema = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        maxLength: 63,
        pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
        description: 'Its name; of several, what their names begin with.',
      }),
    ),
    items: Type.Optional(
      ItemsPath(
        'The path of a list or map of pod sets. Expressions see the entry as item, its key or index as key, its path as path, and that of the entry around it as parentPath. Absent: one pod set, of the object itself.',
      ),
    ),
    nameExpression: Type.Optional(Expression('Gives the name of an entry, a string; absent: its key or index.')),
    when: Type.Optional(Expression('Gives a bool: whether there is such a pod set; absent: there is.')),
    count: Type.Optional(Expression('Gives the number of its pods at once, an int; absent: 1.')),
    template: Type.Optional(FieldPath('The path of the pod template; of several, below the entry.')),
    templatePath: Type.Optional(
      Expression(
        'Gives the path of the pod template, a string, where an entry says itself where it is; sees item, key, path and parentPath.',
      ),
    ),
    resources: Type.Optional(
      FieldPath('The path of the resources of a pod, where the object has no pod template; nothing can then be put into its pods.'),
    ),
    defaultTemplate: Type.Optional(
      Type.Unsafe<object>({
        type: 'object',
        'x-kubernetes-preserve-unknown-fields': true,
        description: 'The pod template that the operator uses where the object has none. It is counted and not written.',
      }),
    ),
    countPath: Type.Optional(FieldPath('The path of the field that a smaller count is written to; of several, below the entry.')),
    minCount: Type.Optional(Expression('Gives the least number of pods, an int, for partial admission; needs countPath.')),
    finished: Type.Optional(Expression('Gives the number of pods, an int, whose work is done and which are not replaced; absent: 0.')),
  },
  withRules(
    {
      rule: 'has(self.name) || has(self.items)',
      message: 'a pod set needs a name, or items; name it, such as head',
    },
    {
      rule: '(has(self.template) ? 1 : 0) + (has(self.templatePath) ? 1 : 0) + (has(self.resources) ? 1 : 0) == 1',
      message: 'exactly one of template, templatePath and resources must be set; name the path of the pod template, such as spec.template',
    },
    {
      rule: 'has(self.minCount) == has(self.countPath)',
      message: 'minCount and countPath must be set together; add the other one, or leave both out',
    },
  ),
);

const DescribedStateSchema = Type.Object(
  {
    started: Expression('Gives a bool: its operator has started it, and pods of it may run.'),
    ready: Expression('Gives a bool: all of its pods are ready.'),
    atRest: Expression('Gives a bool: it was suspended, and its operator says that no pod of it runs any more.'),
    complete: Expression('Gives a bool: it has ended well.'),
    failed: Expression('Gives a bool: it has failed for good.'),
    reason: Type.Optional(Expression('Gives the reason of its end, a string; empty or absent: Complete or Failed.')),
    message: Type.Optional(Expression('Gives the message of its end, a string.')),
    startTime: Type.Optional(Expression('Gives when it started, a string in RFC 3339; absent: status.startTime.')),
    completionTime: Type.Optional(Expression('Gives when it ended, a string in RFC 3339; absent: status.completionTime.')),
    suspendedCondition: Type.Optional(
      Type.String({
        maxLength: 316,
        description:
          'The type of the condition by which its operator says that it is suspended: its time shows whether a later suspension was seen.',
      }),
    ),
  },
  { description: 'How far it is. An expression that fails gives no: a state that cannot be read is not reached.' },
);

export const WorkKindSpecSchema = Type.Object({
  group: ObjectName('The API group of the kind.'),
  version: Type.String({
    maxLength: 63,
    pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
    description: 'The version that the paths are those of.',
  }),
  resource: Type.String({
    maxLength: 63,
    pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$',
    description: 'The plural of the resource, such as jobsets.',
  }),
  kind: Type.String({ maxLength: 63, pattern: '^[A-Z][A-Za-z0-9]*$', description: 'The kind, such as JobSet.' }),
  suspend: SpecPath('The path of the field that suspends an object, a boolean.'),
  managedBy: Type.Optional(
    Type.Object(
      {
        path: SpecPath('The path of the field.'),
        home: ControllerName('Its value on the manager cluster, which keeps the operator of the kind away there.'),
        copies: Type.Optional(
          ControllerName('Its value on worker clusters, by which the operator takes copies; absent: copies do not have the field.'),
        ),
        operator: Type.Optional(
          Type.Array(ControllerName('A value.'), {
            maxItems: LIST_MAX,
            'x-kubernetes-list-type': 'set',
            description: 'Values that mean the operator of the kind, and are replaced in new objects of a queue.',
          }),
        ),
      },
      {
        description:
          'The field that says who runs an object. Absent: the kind has none; then its operator must not run on the manager cluster.',
      },
    ),
  ),
  podSets: Type.Array(DescribedPodSetSchema, {
    minItems: 1,
    maxItems: POD_SETS_MAX,
    'x-kubernetes-list-type': 'atomic',
    description: 'The pods of an object, by pod template.',
  }),
  validations: Type.Optional(
    Type.Array(
      Type.Object({
        expression: Expression('Gives a bool: the object can be taken.'),
        message: Type.String({ minLength: 1, maxLength: 512, description: 'Why it is not, and what to do.' }),
        field: Type.Optional(FieldPath('The field that the message is about; absent: spec.')),
      }),
      { maxItems: LIST_MAX, 'x-kubernetes-list-type': 'atomic', description: 'What an object must be so that its pods can be known.' },
    ),
  ),
  state: DescribedStateSchema,
  status: Type.Optional(
    Type.Object(
      {
        conditions: Type.Optional(
          Type.Boolean({
            default: true,
            description: 'It has status.conditions of the form of metav1.Condition; otherwise those of Switchyard are in an annotation.',
          }),
        ),
        fields: Type.Optional(
          Type.Array(FieldPath('A field of the status.'), {
            maxItems: 64,
            'x-kubernetes-list-type': 'set',
            description: 'The fields that come home; all when absent.',
          }),
        ),
        minor: Type.Optional(
          Type.Array(FieldPath('A field of the status.'), {
            maxItems: LIST_MAX,
            'x-kubernetes-list-type': 'set',
            description: 'Fields whose change alone is not worth a write, such as the time of the last look.',
          }),
        ),
      },
      { description: 'The status that comes home from the copy.' },
    ),
  ),
  copies: Type.Optional(
    Type.Object(
      {
        mutable: Type.Optional(
          Type.Array(SpecPath('A field.'), {
            maxItems: LIST_MAX,
            'x-kubernetes-list-type': 'set',
            description: 'Fields of the spec that follow the original after the copy was made; none when absent.',
          }),
        ),
        withoutFields: Type.Optional(
          Type.Array(SpecPath('A field.'), {
            maxItems: LIST_MAX,
            'x-kubernetes-list-type': 'set',
            description: 'Fields that a copy does not have, such as the time after which a finished one is deleted.',
          }),
        ),
        withoutLabels: Type.Optional(
          Type.Array(KeyOrPrefix, {
            maxItems: LIST_MAX,
            'x-kubernetes-list-type': 'set',
            description: 'Labels that a copy does not have.',
          }),
        ),
        withoutAnnotations: Type.Optional(
          Type.Array(KeyOrPrefix, {
            maxItems: LIST_MAX,
            'x-kubernetes-list-type': 'set',
            description: 'Annotations that a copy does not have.',
          }),
        ),
      },
      { description: 'How a copy differs from its original, beside suspend and managedBy.' },
    ),
  ),
  podLabels: Type.Optional(
    Type.Unsafe<Record<string, string>>({
      type: 'object',
      maxProperties: LIST_MAX,
      additionalProperties: { type: 'string', minLength: 1, maxLength: EXPRESSION_LENGTH_MAX },
      description: 'The labels by which its pods are found: the value of each is an expression that gives a string.',
    }),
  ),
  deadlineSeconds: Type.Optional(Expression('Gives how long it may be active, an int in seconds, or an optional one.')),
  ttlSeconds: Type.Optional(Expression('Gives how long after its end it is deleted, an int in seconds, or an optional one.')),
});

export const WORK_KIND_SCHEMA: KindSchema = {
  singular: 'workkind',
  shortNames: ['wk'],
  description: 'WorkKind describes a kind of work, so that its objects are admitted and dispatched as Jobs are.',
  fields: { spec: WorkKindSpecSchema, status: Type.Object({ conditions: Type.Optional(Conditions) }) },
  required: ['spec'],
  rules: [
    {
      rule: "self.metadata.name == self.spec.resource + '.' + self.spec.group",
      message: 'the name must be that of the CustomResourceDefinition: resource and group, such as jobsets.jobset.x-k8s.io',
    },
  ],
  printerColumns: [
    { name: 'Kind', type: 'string', jsonPath: '.spec.kind' },
    { name: 'Version', type: 'string', jsonPath: '.spec.version' },
    { name: 'Accepted', type: 'string', jsonPath: '.status.conditions[?(@.type=="Accepted")].status' },
    AGE_COLUMN,
  ],
};
