import { OVERRIDE_FIELD_MANAGER } from '../../shared/api/names.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { WorkKindSpec } from '../api/work-kind.ts';
import {
  COMMON_VARIABLES,
  type CelVariable,
  type DescribedFields,
  describedForm,
  isJudgedBy,
  JOB_FORM,
  JOB_VARIABLES,
  usedBy,
  variablesOf,
} from './cel-variables.ts';
import { STATUS_OF_A_RECORD } from './conditional-rules.ts';
import { OWN_PARTS, WRITE_RULES } from './job-parts.ts';
import { OWN_ACCOUNT_RULES, OWN_ACCOUNT_RULES_OF_ANY_KIND, ownAccountRulesOf } from './own-account.ts';
import {
  BY_THE_ACCOUNT,
  HAS_QUEUE_LABEL,
  MARKS,
  ofInstallation,
  OVERRIDE_CONDITIONS,
  policyConditions,
  resourceRulesOf,
  type MatchCondition,
  type ObjectSelector,
  REQUESTS,
  type RequestKind,
  type ResourceRule,
} from './webhook-conditions.ts';
import type { Identities } from './writer.ts';
import { ANY_WORDS, JOB_WORDS, type KindWords, type RuleInWords, wordsOf, type WriteRule } from './write-rule.ts';

export type Validation = { readonly expression: string; readonly message: string; readonly reason: 'Invalid' };

/** The parts of a ValidatingAdmissionPolicy, without those of the installation. */
export type PolicyParts = {
  /** Suffix of the release's name. */
  readonly name: string;
  readonly failurePolicy: 'Fail' | 'Ignore';
  readonly resourceRules: readonly ResourceRule[];
  /** The policy is about such requests for objects of the described kinds of the installation as well. */
  readonly ofAllKinds?: RequestKind;
  /** The installation adds a rule: the manager creates nothing in a denied namespace. */
  readonly deniesNamespaces?: true;
  /** The described kind of which it is: without that it is left out. */
  readonly kind?: string;
  /** A write is judged where the old or the new Job has such labels. */
  readonly objectSelector?: ObjectSelector;
  readonly matchConditions: readonly MatchCondition[];
  readonly variables: readonly CelVariable[];
  readonly validations: readonly Validation[];
  /** Actions on a write that fails a validation. */
  readonly validationActions: readonly ('Deny' | 'Warn' | 'Audit')[];
};

/**
 * The rules of the table as policies, which an API server enforces by itself, also while no manager answers. Rules that protect
 * Switchyard's own fields are in one policy, which also refuses a write when an expression cannot be evaluated. The other has the rules
 * about the queue label, so that a selector, without an expression, skips foreign Jobs; the old Job matches where the label is removed. A
 * third policy bounds the manager's own account, and one more does for objects of described kinds.
 *
 * Rules about labels, annotations and finalizers are the same for any kind: the policy `kinds` has them for objects of all described kinds,
 * and {@link policiesOfKind} those for which one has to know where a kind keeps its fields.
 *
 * The last policy refuses nothing: a user who bypasses the rules in an emergency gets a warning, and the audit log of the API server
 * records it, also while no manager answers.
 */
export const POLICY_PARTS: readonly PolicyParts[] = [
  {
    name: 'own',
    failurePolicy: 'Fail',
    resourceRules: REQUESTS.Validating,
    matchConditions: policyConditions(OWN_PARTS, JOB_FORM),
    ...judging(rulesThat('Fail'), JOB_WORDS, JOB_VARIABLES),
    validationActions: ['Deny'],
  },
  {
    name: 'shared',
    failurePolicy: 'Ignore',
    resourceRules: REQUESTS.Validating,
    objectSelector: HAS_QUEUE_LABEL,
    matchConditions: policyConditions('selected'),
    ...judging(rulesThat('Ignore'), JOB_WORDS, JOB_VARIABLES),
    validationActions: ['Deny'],
  },
  {
    name: 'manager',
    failurePolicy: 'Fail',
    resourceRules: REQUESTS.OwnAccount,
    matchConditions: BY_THE_ACCOUNT,
    ...judging(OWN_ACCOUNT_RULES, JOB_WORDS, JOB_VARIABLES),
    validationActions: ['Deny'],
    deniesNamespaces: true,
  },
  {
    name: 'manager-kinds',
    failurePolicy: 'Fail',
    resourceRules: [],
    ofAllKinds: 'OwnAccount',
    matchConditions: BY_THE_ACCOUNT,
    ...judging(OWN_ACCOUNT_RULES_OF_ANY_KIND, ANY_WORDS, COMMON_VARIABLES),
    validationActions: ['Deny'],
    deniesNamespaces: true,
  },
  {
    name: 'kinds',
    failurePolicy: 'Fail',
    resourceRules: [],
    ofAllKinds: 'Validating',
    matchConditions: policyConditions(OWN_PARTS),
    ...judging([...WRITE_RULES.filter(isOfAnyKind), STATUS_OF_A_RECORD], ANY_WORDS, COMMON_VARIABLES),
    validationActions: ['Deny'],
  },
  {
    name: 'override',
    failurePolicy: 'Ignore',
    resourceRules: REQUESTS.Validating,
    ofAllKinds: 'Validating',
    matchConditions: OVERRIDE_CONDITIONS,
    variables: [],
    validations: [
      {
        expression: 'false',
        message: `field manager ${OVERRIDE_FIELD_MANAGER} passes by the rules of Switchyard; this write is recorded with the name of its user`,
        reason: 'Invalid',
      },
    ],
    validationActions: ['Warn', 'Audit'],
  },
];

/** A described kind, as far as policies need to know it; without fields where a user's own WorkKind has them. */
export type PolicyKind = Pick<WorkKindSpec, 'group' | 'resource'> & Partial<Omit<DescribedKind, 'group' | 'resource'>>;
type DescribedKind = Pick<WorkKindSpec, 'group' | 'resource' | 'kind'> & DescribedFields;

/**
 * The policies with the rules of a described kind that read its fields: who runs it, whether it is suspended, how many pods it has, its
 * status and queue; and of these, what the manager's own account may write. How many pods it has the webhook alone judges where its
 * description counts them by more than the spec.
 */
export function policiesOfKind(described: DescribedKind): readonly PolicyParts[] {
  const { group, resource: plural, kind, managedBy } = described;
  const form = describedForm(described);
  const variables = variablesOf(form);
  const words = wordsOf({ resource: { kind }, fields: described });
  const rules = WRITE_RULES.filter((rule) => !isOfAnyKind(rule) && isJudgedBy(rule.brokenWhen, variables));
  return [
    {
      name: kind.toLowerCase(),
      failurePolicy: 'Fail',
      resourceRules: resourceRulesOf('Validating', { group, plural }),
      kind,
      matchConditions: policyConditions(MARKS, managedBy && form),
      ...judging(rules, words, variables),
      validationActions: ['Deny'],
    },
    {
      name: `manager-${kind.toLowerCase()}`,
      failurePolicy: 'Fail',
      resourceRules: resourceRulesOf('OwnAccount', { group, plural }),
      kind,
      matchConditions: BY_THE_ACCOUNT,
      ...judging(ownAccountRulesOf(described), words, variables),
      validationActions: ['Deny'],
    },
  ];
}

/** Rules as validations in the words of a kind, with the variables that they use. */
function judging(
  rules: readonly RuleInWords[],
  words: KindWords,
  variables: readonly CelVariable[],
): Pick<PolicyParts, 'variables' | 'validations'> {
  return {
    variables: usedBy(
      rules.map(({ brokenWhen }) => brokenWhen),
      variables,
    ),
    validations: rules.map(({ field, problem, brokenWhen }) => ({
      expression: `!(${brokenWhen})`,
      message: `${field(words)}: ${problem(words)}`,
      reason: 'Invalid',
    })),
  };
}

function rulesThat(policy: WriteRule['policy']): WriteRule[] {
  return WRITE_RULES.filter((rule) => rule.policy === policy);
}

function isOfAnyKind({ brokenWhen }: WriteRule): boolean {
  return isJudgedBy(brokenWhen, COMMON_VARIABLES);
}

/** The variables of the policies of an installation. */
const withOwnNames = ({ managers, localWorkers }: Identities, variables: readonly CelVariable[]): readonly CelVariable[] => [
  { name: 'managers', expression: JSON.stringify(managers) },
  { name: 'localWorkers', expression: JSON.stringify(localWorkers) },
  ...variables,
];

export type PolicyObject = {
  readonly kind: 'ValidatingAdmissionPolicy' | 'ValidatingAdmissionPolicyBinding';
  readonly metadata: { readonly name: string };
  readonly spec: object;
};
type PolicySpec = {
  readonly failurePolicy: 'Fail' | 'Ignore';
  readonly matchConstraints: object;
  readonly matchConditions: readonly MatchCondition[];
  readonly variables: readonly CelVariable[];
  readonly validations: readonly Validation[];
};

/** The policies of an installation called `release` that takes these described kinds, and their bindings, as the chart creates them. */
export function admissionPolicies(release: string, identities: Identities, kinds: readonly PolicyKind[] = []): readonly PolicyObject[] {
  const ofKinds = (requests: RequestKind): ResourceRule[] =>
    kinds.flatMap(({ group, resource }) => resourceRulesOf(requests, { group, plural: resource }));
  const parts = [...POLICY_PARTS, ...kinds.filter(isDescribed).flatMap(policiesOfKind)];
  return parts.flatMap(
    ({ name, failurePolicy, resourceRules, ofAllKinds, objectSelector, matchConditions, variables, validations, validationActions }) => {
      const rules = ofAllKinds === undefined ? resourceRules : [...resourceRules, ...ofKinds(ofAllKinds)];
      if (rules.length === 0) return [];
      const metadata = { name: `${release}-${name}` };
      const spec: PolicySpec = {
        failurePolicy,
        matchConstraints: { ...omitUndefined({ objectSelector }), resourceRules: rules },
        matchConditions: ofInstallation(matchConditions, identities),
        variables: withOwnNames(identities, variables),
        validations,
      };
      return [
        { kind: 'ValidatingAdmissionPolicy', metadata, spec },
        { kind: 'ValidatingAdmissionPolicyBinding', metadata, spec: { policyName: metadata.name, validationActions } },
      ];
    },
  );
}

const isDescribed = (kind: PolicyKind): kind is DescribedKind => kind.suspend !== undefined && kind.kind !== undefined;
