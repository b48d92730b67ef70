import { Type } from 'typebox';
import { AGE_COLUMN, type KindSchema } from '../kind-definition.ts';
import { LabelSelectorSchema, OneOf, StringMap } from '../schema-parts.ts';

const TolerationSchema = Type.Object({
  key: Type.Optional(Type.String()),
  operator: Type.Optional(OneOf(['Exists', 'Equal'], { description: 'How the taint value is compared; Equal when absent.' })),
  value: Type.Optional(Type.String()),
  effect: Type.Optional(OneOf(['NoSchedule', 'PreferNoSchedule', 'NoExecute'], { description: 'The taint effect; any when absent.' })),
  tolerationSeconds: Type.Optional(Type.Integer({ format: 'int64' })),
});

export const ResourceFlavorSpecSchema = Type.Object({
  clusterSelector: Type.Optional(LabelSelectorSchema('The WorkerClusters that offer this flavor; all when absent or empty.')),
  nodeLabels: Type.Optional(
    StringMap('Added to the node selector of the pods, so that they land on nodes of this flavor.', { maxProperties: 8 }),
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
