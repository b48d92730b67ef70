import type { Static } from 'typebox';
import type { ObjectMeta } from '../../shared/api/kubernetes.ts';
import { switchyardResource } from './kind-definition.ts';
import type { ResourceFlavorSpecSchema } from './schema/resource-flavor.ts';

/** A kind of capacity with quota: the clusters that offer it, and the labels and tolerations that its pods get. */
export type ResourceFlavor = { apiVersion?: string; kind?: string; metadata: ObjectMeta; spec?: ResourceFlavorSpec };
export type ResourceFlavorSpec = Static<typeof ResourceFlavorSpecSchema>;

export const RESOURCE_FLAVORS = switchyardResource<ResourceFlavor>({
  kind: 'ResourceFlavor',
  plural: 'resourceflavors',
  namespaced: false,
});
