import { OVERRIDE_FIELD_MANAGER } from '../../shared/api/names.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { CEL_VARIABLES, type CelVariable } from './cel-variables.ts';
import { OWN_PARTS, WRITE_RULES } from './job-parts.ts';
import { OWN_ACCOUNT_RULES } from './own-account.ts';
import {
  BY_THE_ACCOUNT,
  HAS_QUEUE_LABEL,
  ofInstallation,
  OVERRIDE_CONDITIONS,
  OWN_ACCOUNT_RESOURCES,
  policyConditions,
  RESOURCE_RULES,
  type MatchCondition,
  type ObjectSelector,
} from './webhook-conditions.ts';
import type { Identities } from './writer.ts';
import type { WriteRule } from './write-rule.ts';

export type Validation = { readonly expression: string; readonly message: string; readonly reason: 'Invalid' };

/** The parts of a ValidatingAdmissionPolicy, without those of the installation. */
export type PolicyParts = {
  /** Suffix of the release's name. */
  readonly name: string;
  readonly failurePolicy: 'Fail' | 'Ignore';
  readonly resourceRules: readonly object[];
  /** A write is judged where the old or the new Job has such labels. */
  readonly objectSelector?: ObjectSelector;
  readonly matchConditions: readonly MatchCondition[];
  readonly validations: readonly Validation[];
  /** Actions on a write that fails a validation. */
  readonly validationActions: readonly ('Deny' | 'Warn' | 'Audit')[];
};

/**
 * The rules of the table as policies, which an API server enforces by itself, also while no manager answers. Rules that protect
 * Switchyard's own fields are in one policy, which also refuses a write when an expression cannot be evaluated. The other has the rules
 * about the queue label, so that a selector, without an expression, skips foreign Jobs; the old Job matches where the label is removed. A
 * third policy bounds the manager's own account. The last one refuses nothing: a user who bypasses the rules in an emergency gets a
 * warning, and the audit log of the API server records it, also while no manager answers.
 */
export const POLICY_PARTS: readonly PolicyParts[] = [
  {
    name: 'own',
    failurePolicy: 'Fail',
    resourceRules: RESOURCE_RULES.Validating,
    matchConditions: policyConditions(OWN_PARTS),
    validations: validationsOf('Fail'),
    validationActions: ['Deny'],
  },
  {
    name: 'shared',
    failurePolicy: 'Ignore',
    resourceRules: RESOURCE_RULES.Validating,
    objectSelector: HAS_QUEUE_LABEL,
    matchConditions: policyConditions('selected'),
    validations: validationsOf('Ignore'),
    validationActions: ['Deny'],
  },
  {
    name: 'manager',
    failurePolicy: 'Fail',
    resourceRules: OWN_ACCOUNT_RESOURCES,
    matchConditions: BY_THE_ACCOUNT,
    validations: OWN_ACCOUNT_RULES.map(validationOf),
    validationActions: ['Deny'],
  },
  {
    name: 'override',
    failurePolicy: 'Ignore',
    resourceRules: RESOURCE_RULES.Validating,
    matchConditions: OVERRIDE_CONDITIONS,
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

function validationsOf(policy: WriteRule['policy']): Validation[] {
  return WRITE_RULES.filter((rule) => rule.policy === policy).map(validationOf);
}

function validationOf({ field, problem, brokenWhen }: Pick<WriteRule, 'field' | 'problem' | 'brokenWhen'>): Validation {
  return { expression: `!(${brokenWhen})`, message: `${field}: ${problem}`, reason: 'Invalid' };
}

/** The variables of the policies of an installation. */
export const policyVariables = ({ managers, localWorkers }: Identities): readonly CelVariable[] => [
  { name: 'managers', expression: JSON.stringify(managers) },
  { name: 'localWorkers', expression: JSON.stringify(localWorkers) },
  ...CEL_VARIABLES,
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

/** The policies of an installation called `release`, and their bindings, as the chart creates them. */
export const admissionPolicies = (release: string, identities: Identities): readonly PolicyObject[] =>
  POLICY_PARTS.flatMap(({ name, failurePolicy, resourceRules, objectSelector, matchConditions, validations, validationActions }) => {
    const metadata = { name: `${release}-${name}` };
    const spec: PolicySpec = {
      failurePolicy,
      matchConstraints: { ...omitUndefined({ objectSelector }), resourceRules },
      matchConditions: ofInstallation(matchConditions, identities),
      variables: policyVariables(identities),
      validations,
    };
    return [
      { kind: 'ValidatingAdmissionPolicy', metadata, spec },
      { kind: 'ValidatingAdmissionPolicyBinding', metadata, spec: { policyName: metadata.name, validationActions } },
    ];
  });
