import { Type, type Static } from 'typebox';
import type { ObjectMeta } from '../../shared/api/kubernetes.ts';
import { AGE_COLUMN, switchyardResource, type KindDefinition } from './kind-definition.ts';
import { LabelSelectorSchema, OneOf, StringMap } from './schema-parts.ts';

/** A kind of capacity that quota is given for: which clusters offer it, and what pods need to run on it. */
export type ResourceFlavor = { apiVersion?: string; kind?: string; metadata: ObjectMeta; spec?: ResourceFlavorSpec };
export type ResourceFlavorSpec = Static<typeof ResourceFlavorSpecSchema>;

export const RESOURCE_FLAVORS = switchyardResource<ResourceFlavor>({
  kind: 'ResourceFlavor',
  plural: 'resourceflavors',
  namespaced: false,
});

const TolerationSchema = Type.Object({
  key: Type.Optional(Type.String()),
  operator: Type.Optional(OneOf(['Exists', 'Equal'], { description: 'How the taint value is compared; Equal when absent.' })),
  value: Type.Optional(Type.String()),
  effect: Type.Optional(OneOf(['NoSchedule', 'PreferNoSchedule', 'NoExecute'], { description: 'The taint effect; any when absent.' })),
  tolerationSeconds: Type.Optional(Type.Integer({ format: 'int64' })),
});

const ResourceFlavorSpecSchema = Type.Object({
  clusterSelector: Type.Optional(LabelSelectorSchema('The WorkerClusters that offer this flavor; all when absent or empty.')),
  nodeLabels: Type.Optional(
    StringMap('Added to the node selector of the pods, so that they land on nodes of this flavor.', { maxProperties: 8 }),
  ),
  tolerations: Type.Optional(
    Type.Array(TolerationSchema, { maxItems: 8, 'x-kubernetes-list-type': 'atomic', description: 'Added to the tolerations of the pods.' }),
  ),
});

export const RESOURCE_FLAVOR_KIND: KindDefinition = {
  resource: RESOURCE_FLAVORS,
  singular: 'resourceflavor',
  shortNames: ['rf'],
  description: 'ResourceFlavor is a kind of capacity that quota is given for.',
  spec: ResourceFlavorSpecSchema,
  specRequired: false,
  status: Type.Object({}),
  printerColumns: [AGE_COLUMN],
};
