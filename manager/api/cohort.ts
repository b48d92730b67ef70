import { Type, type Static } from 'typebox';
import type { ObjectMeta } from '../../shared/api/kubernetes.ts';
import { AGE_COLUMN, switchyardResource, type KindDefinition } from './kind-definition.ts';
import { ResourceGroups } from './quota.ts';
import { ObjectName, withRules } from './schema-parts.ts';

/**
 * A group of ClusterQueues that lend each other idle quota, with quota of its own and a parent if wanted (Kueue's KEP-79).
 * A cohort that ClusterQueues name exists also without an object.
 */
export type Cohort = { apiVersion?: string; kind?: string; metadata: ObjectMeta; spec?: CohortSpec };
export type CohortSpec = Static<typeof CohortSpecSchema>;

export const COHORTS = switchyardResource<Cohort>({ kind: 'Cohort', plural: 'cohorts', namespaced: false });

const withoutParent = (field: string) =>
  `has(self.parentName) || !has(self.resourceGroups) || self.resourceGroups.all(g, g.flavors.all(f, f.resources.all(r, !has(r.${field}))))`;

const CohortSpecSchema = Type.Object(
  {
    parentName: Type.Optional(ObjectName('The cohort above this one, from which it borrows and to which it lends.')),
    resourceGroups: Type.Optional(ResourceGroups),
  },
  withRules(
    { rule: withoutParent('borrowingLimit'), message: 'borrowingLimit must not be set without parentName' },
    { rule: withoutParent('lendingLimit'), message: 'lendingLimit must not be set without parentName' },
  ),
);

export const COHORT_KIND: KindDefinition = {
  resource: COHORTS,
  singular: 'cohort',
  shortNames: [],
  description: 'Cohort is a group of ClusterQueues that lend each other idle quota.',
  spec: CohortSpecSchema,
  specRequired: false,
  status: Type.Object({}),
  printerColumns: [{ name: 'Parent', type: 'string', jsonPath: '.spec.parentName' }, AGE_COLUMN],
};
