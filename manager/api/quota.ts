import { Type, type Static } from 'typebox';
import { AmountQuantity, ObjectName, QualifiedName, withRules, type ValidationRule } from './schema-parts.ts';

/** Quota as ClusterQueues and Cohorts declare it: groups of resources, each group with flavors in order of preference. */
export type ResourceGroup = Static<typeof ResourceGroupSchema>;
export type FlavorQuotas = Static<typeof FlavorQuotasSchema>;
export type ResourceQuota = Static<typeof ResourceQuotaSchema>;

// Kueue's bounds: of each list, and of the lists together.
const GROUPS_MAX = 16;
const FLAVORS_MAX = 64;
const RESOURCES_MAX = 64;
const TOTAL_MAX = 256;
const QUOTAS_OF_GROUP_MAX = 512;

const ResourceQuotaSchema = Type.Object({
  name: QualifiedName('Resource, such as cpu, memory, nvidia.com/gpu or pods.'),
  nominalQuota: AmountQuantity('nominalQuota', 'What is always available here, unless it is lent out.'),
  borrowingLimit: Type.Optional(
    AmountQuantity(
      'borrowingLimit',
      'How much more than nominal may be used while others of the cohort leave it idle; unlimited when absent.',
    ),
  ),
  lendingLimit: Type.Optional(
    AmountQuantity('lendingLimit', 'How much of nominal others of the cohort may use while it is idle; all when absent.'),
  ),
});

const FlavorQuotasSchema = Type.Object({
  name: ObjectName('Name of a ResourceFlavor.'),
  resources: Type.Array(ResourceQuotaSchema, {
    minItems: 1,
    maxItems: RESOURCES_MAX,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
    description: 'Quota of each covered resource in this flavor.',
  }),
});

const ResourceGroupSchema = Type.Object(
  {
    coveredResources: Type.Array(QualifiedName('Name of a resource.'), {
      minItems: 1,
      maxItems: RESOURCES_MAX,
      'x-kubernetes-list-type': 'atomic',
      description: 'Resources that are given out together: a Job gets them all from one flavor.',
    }),
    flavors: Type.Array(FlavorQuotasSchema, {
      minItems: 1,
      maxItems: FLAVORS_MAX,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      description: 'Flavors of these resources, in the order in which they are tried.',
    }),
  },
  withRules({
    rule: `size(self.flavors) * size(self.coveredResources) <= ${QUOTAS_OF_GROUP_MAX}`,
    message: `flavors times coveredResources must not be more than ${QUOTAS_OF_GROUP_MAX} in a group; use fewer, or several ClusterQueues`,
  }),
);

const groupNumbers = Array.from({ length: GROUPS_MAX }, (_, group) => group);

/**
 * The number of items of `list` in all groups, written out as a sum: the API server does not know the size of a list that a rule computes.
 */
const total = (list: 'flavors' | 'coveredResources'): string =>
  groupNumbers.map((group) => `(size(self) > ${group} ? size(self[${group}].${list}) : 0)`).join(' + ');

/**
 * An API server refuses rules by their estimated cost with lists of maximum length: 10 million for a rule, 100 million for all rules of a
 * definition. These rules stay below a third of both; a test estimates them. A rule about each quota would be evaluated 16 * 64 * 64 times,
 * so there is one rule for every few groups.
 */
const GROUPS_PER_RULE = 4;

/** A rule about every group of the list `groups`; `about` calls a group `g`. */
const ofEachGroup = (groups: string, about: string, message: string): readonly ValidationRule[] =>
  Array.from({ length: GROUPS_MAX / GROUPS_PER_RULE }, (_, part) => {
    const numbers = groupNumbers.slice(part * GROUPS_PER_RULE, (part + 1) * GROUPS_PER_RULE);
    return { rule: `[${numbers.join(', ')}].all(i, size(${groups}) <= i || ${about.replaceAll(/\bg\b/g, `${groups}[i]`)})`, message };
  });

const namesOf = (group: number): string => `self[${group}].flavors.map(f, f.name)`;

/** No flavor is in two groups: each group but the first shares no flavor with a group before it. */
const FLAVORS_IN_ONE_GROUP: readonly ValidationRule[] = groupNumbers.slice(1).map((group) => {
  const others = groupNumbers.slice(0, group).map((other) => `!sets.intersects(${namesOf(group)}, ${namesOf(other)})`);
  return {
    rule: `size(self) <= ${group} || (${others.join(' && ')})`,
    message: `a flavor of group ${group} is in a group before it, too; name each flavor in one group only`,
  };
});

export const ResourceGroups = Type.Array(ResourceGroupSchema, {
  maxItems: GROUPS_MAX,
  'x-kubernetes-list-type': 'atomic',
  description: 'Quota by group of resources.',
  ...withRules(
    {
      rule: 'self.all(g, g.coveredResources.all(r, self.exists_one(o, r in o.coveredResources)))',
      message: 'a resource must not be in the coveredResources of two groups; name each resource in one group only',
    },
    {
      rule: `${total('flavors')} <= ${TOTAL_MAX}`,
      message: `the groups must not have more than ${TOTAL_MAX} flavors together; use fewer, or several ClusterQueues`,
    },
    {
      rule: `${total('coveredResources')} <= ${TOTAL_MAX}`,
      message: `the groups must not cover more than ${TOTAL_MAX} resources together; use fewer, or several ClusterQueues`,
    },
    ...ofEachGroup(
      'self',
      'g.flavors.all(f, size(f.resources) == size(g.coveredResources) && f.resources.all(r, r.name in g.coveredResources))',
      'every flavor must give quota for exactly the coveredResources',
    ),
    ...FLAVORS_IN_ONE_GROUP,
  ),
});

/** Rules of limits that need a level above: a cohort, or a parent. */
export const limitsOnlyBelow = (above: 'cohortName' | 'parentName'): readonly ValidationRule[] =>
  (['borrowingLimit', 'lendingLimit'] as const).map((limit) => ({
    rule: `has(self.${above}) || !has(self.resourceGroups) || self.resourceGroups.all(g, g.flavors.all(f, f.resources.all(r, !has(r.${limit}))))`,
    message: `${limit} must not be set without ${above}`,
  }));

/** No ClusterQueue lends more than its nominal quota. As in Kueue, a cohort may lend on what its members lend it. */
export const LENDS_AT_MOST_NOMINAL: readonly ValidationRule[] = ofEachGroup(
  'self.resourceGroups',
  'g.flavors.all(f, f.resources.all(r, !has(r.lendingLimit) || quantity(string(r.lendingLimit)).compareTo(quantity(string(r.nominalQuota))) <= 0))',
  'lendingLimit must not be greater than nominalQuota; lower it, or leave it out to lend all',
).map(({ rule, message }) => ({ rule: `!has(self.resourceGroups) || ${rule}`, message }));
