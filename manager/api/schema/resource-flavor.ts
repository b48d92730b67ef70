import { Type } from 'typebox';
import { AGE_COLUMN, type KindSchema } from '../kind-definition.ts';
import { Labels, LabelSelectorSchema, LabelValue, OneOf, QualifiedName, withRules } from '../schema-parts.ts';

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const;

const TaintSchema = Type.Object({
  key: QualifiedName('What the taint is about.'),
  value: Type.Optional(LabelValue('Its value; empty when absent.')),
  effect: OneOf(EFFECTS, { description: 'What becomes of pods that do not tolerate it. PreferNoSchedule keeps no Job from the flavor.' }),
});

const TolerationSchema = Type.Object(
  {
    key: Type.Optional(QualifiedName('The taint; all when absent.')),
    operator: Type.Optional(OneOf(['Exists', 'Equal'], { description: 'How the taint value is compared; Equal when absent.' })),
    value: Type.Optional(LabelValue('The value of the taint, with the operator Equal.')),
    effect: Type.Optional(OneOf(EFFECTS, { description: 'The taint effect; any when absent.' })),
    tolerationSeconds: Type.Optional(
      Type.Integer({ format: 'int64', description: 'How long a NoExecute taint is tolerated; for ever when absent.' }),
    ),
  },
  withRules(
    {
      rule: "has(self.key) || has(self.operator) && self.operator == 'Exists'",
      message: 'operator must be Exists where key is absent, which tolerates all taints; set it, or name a key',
    },
    {
      rule: "!has(self.operator) || self.operator != 'Exists' || !has(self.value) || self.value == ''",
      message: 'value must not be set with the operator Exists; leave it out, or use Equal',
    },
    {
      rule: "!has(self.tolerationSeconds) || has(self.effect) && self.effect == 'NoExecute'",
      message: 'tolerationSeconds must not be set without effect: NoExecute; set that, or leave tolerationSeconds out',
    },
  ),
);

export const ResourceFlavorSpecSchema = Type.Object({
  clusterSelector: Type.Optional(LabelSelectorSchema('The WorkerClusters that offer this flavor; all when absent or empty.')),
  nodeLabels: Type.Optional(
    Labels(
      'Labels of its nodes. A Job whose nodeSelector or required node affinity excludes them is not admitted to it; they are added to the node selector of its pods.',
      { maxProperties: 8 },
    ),
  ),
  nodeTaints: Type.Optional(
    Type.Array(TaintSchema, {
      maxItems: 8,
      'x-kubernetes-list-type': 'atomic',
      ...withRules({
        rule: 'self.all(some, self.exists_one(other, other.key == some.key && other.effect == some.effect))',
        message: 'taints must differ in key or effect; leave one of the two out',
      }),
      description:
        'Taints of its nodes. A Job is admitted to it only if its pods tolerate them, by themselves or by the tolerations of the flavor.',
    }),
  ),
  tolerations: Type.Optional(
    Type.Array(TolerationSchema, { maxItems: 8, 'x-kubernetes-list-type': 'atomic', description: 'Added to the tolerations of the pods.' }),
  ),
});

export const RESOURCE_FLAVOR_SCHEMA: KindSchema = {
  singular: 'resourceflavor',
  shortNames: ['rf'],
  description: 'ResourceFlavor is a kind of capacity that quota is given for.',
  fields: { spec: ResourceFlavorSpecSchema, status: Type.Object({}) },
  required: [],
  printerColumns: [AGE_COLUMN],
};
