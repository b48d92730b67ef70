import type { Static } from 'typebox';
import type { ObjectMeta } from '../../shared/api/kubernetes.ts';
import { switchyardResource } from './kind-definition.ts';
import type { ResourceFlavorSpecSchema } from './schema/resource-flavor.ts';

/** A kind of capacity that quota is given for: which clusters offer it, and what pods need to run on it. */
export type ResourceFlavor = { apiVersion?: string; kind?: string; metadata: ObjectMeta; spec?: ResourceFlavorSpec };
export type ResourceFlavorSpec = Static<typeof ResourceFlavorSpecSchema>;

export const RESOURCE_FLAVORS = switchyardResource<ResourceFlavor>({
  kind: 'ResourceFlavor',
  plural: 'resourceflavors',
  namespaced: false,
});
