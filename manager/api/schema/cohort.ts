import { Type } from 'typebox';
import { FairSharing, FairSharingStatus } from './fair-sharing.ts';
import { AGE_COLUMN, type KindSchema } from '../kind-definition.ts';
import { limitsOnlyBelow, ResourceGroups } from '../quota.ts';
import { ObjectName, withRules } from '../schema-parts.ts';

export const CohortSpecSchema = Type.Object(
  {
    parentName: Type.Optional(ObjectName('The cohort above this one, from which it borrows and to which it lends.')),
    resourceGroups: Type.Optional(ResourceGroups),
    fairSharing: Type.Optional(FairSharing('How idle quota of the cohorts above is shared, where the manager runs with --fair-sharing.')),
  },
  withRules(...limitsOnlyBelow('parentName')),
);

export const CohortStatusSchema = Type.Object({ fairSharing: Type.Optional(FairSharingStatus) });

export const COHORT_SCHEMA: KindSchema = {
  singular: 'cohort',
  shortNames: [],
  description: 'Cohort is a group of ClusterQueues that lend each other idle quota.',
  fields: { spec: CohortSpecSchema, status: CohortStatusSchema },
  required: [],
  rules: [
    {
      rule: '!has(self.spec) || !has(self.spec.parentName) || self.spec.parentName != self.metadata.name',
      message: 'spec.parentName must not be the name of the Cohort itself; name another one, or leave it out',
    },
  ],
  printerColumns: [{ name: 'Parent', type: 'string', jsonPath: '.spec.parentName' }, AGE_COLUMN],
};
