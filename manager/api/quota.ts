import { Type, type Static } from 'typebox';
import { ObjectName, Quantity, withRules } from './schema-parts.ts';

/** Quota as ClusterQueues and Cohorts declare it: groups of resources, each group with flavors in order of preference. */
export type ResourceGroup = Static<typeof ResourceGroupSchema>;
export type FlavorQuotas = Static<typeof FlavorQuotasSchema>;
export type ResourceQuota = Static<typeof ResourceQuotaSchema>;

const ResourceQuotaSchema = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 253, description: 'Resource, such as cpu, memory, nvidia.com/gpu or pods.' }),
  nominalQuota: Quantity('What is always available here, unless it is lent out.'),
  borrowingLimit: Type.Optional(
    Quantity('How much more than nominal may be used while others of the cohort leave it idle; unlimited when absent.'),
  ),
  lendingLimit: Type.Optional(Quantity('How much of nominal others of the cohort may use while it is idle; all when absent.')),
});

const FlavorQuotasSchema = Type.Object({
  name: ObjectName('Name of a ResourceFlavor.'),
  resources: Type.Array(ResourceQuotaSchema, {
    minItems: 1,
    maxItems: 16,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
    description: 'Quota of each covered resource in this flavor.',
  }),
});

const ResourceGroupSchema = Type.Object(
  {
    coveredResources: Type.Array(Type.String({ minLength: 1, maxLength: 253 }), {
      minItems: 1,
      maxItems: 16,
      'x-kubernetes-list-type': 'atomic',
      description: 'Resources that are given out together: a Job gets them all from one flavor.',
    }),
    flavors: Type.Array(FlavorQuotasSchema, {
      minItems: 1,
      maxItems: 16,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      description: 'Flavors of these resources, in the order in which they are tried.',
    }),
  },
  withRules({
    rule: 'self.flavors.all(f, size(f.resources) == size(self.coveredResources) && f.resources.all(r, r.name in self.coveredResources))',
    message: 'every flavor must give quota for exactly the coveredResources',
  }),
);

export const ResourceGroups = Type.Array(ResourceGroupSchema, {
  maxItems: 16,
  'x-kubernetes-list-type': 'atomic',
  description: 'Quota by group of resources.',
});
