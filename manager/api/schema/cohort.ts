import { Type } from 'typebox';
import { AGE_COLUMN, type KindSchema } from '../kind-definition.ts';
import { ResourceGroups } from '../quota.ts';
import { ObjectName, withRules } from '../schema-parts.ts';

const withoutParent = (field: string) =>
  `has(self.parentName) || !has(self.resourceGroups) || self.resourceGroups.all(g, g.flavors.all(f, f.resources.all(r, !has(r.${field}))))`;

export const CohortSpecSchema = Type.Object(
  {
    parentName: Type.Optional(ObjectName('The cohort above this one, from which it borrows and to which it lends.')),
    resourceGroups: Type.Optional(ResourceGroups),
  },
  withRules(
    { rule: withoutParent('borrowingLimit'), message: 'borrowingLimit must not be set without parentName' },
    { rule: withoutParent('lendingLimit'), message: 'lendingLimit must not be set without parentName' },
  ),
);

export const COHORT_SCHEMA: KindSchema = {
  singular: 'cohort',
  shortNames: [],
  description: 'Cohort is a group of ClusterQueues that lend each other idle quota.',
  fields: { spec: CohortSpecSchema, status: Type.Object({}) },
  required: [],
  printerColumns: [{ name: 'Parent', type: 'string', jsonPath: '.spec.parentName' }, AGE_COLUMN],
};
