import { subdomainName, validateAnyObjectMeta } from '../../apimachinery/object-meta-validation.ts';
import type { AnyObject } from '../../apimachinery/object.ts';
import { ageOf } from '../../kinds/age.ts';
import { bumpGeneration, keepSpec } from '../../kinds/generation.ts';
import { formatSelector } from '../../kinds/label-selector-format.ts';
import { AGE_COLUMN, column, NAME_COLUMN } from '../../kinds/table-columns.ts';
import type { ResourceDefinition, ResourceStrategy, TablePrinter } from '../../resources/strategy.ts';
import { asPolicy, asPolicyBinding, type DecodedMatchResources, type DecodedParamRef } from './policy.ts';
import { validateBinding, validatePolicy, validatePolicyStatus } from './policy-validation.ts';

const policyTable: TablePrinter = {
  columns: [
    NAME_COLUMN,
    column('Validations', 'Validations indicates the number of validation rules defined in this configuration', { type: 'integer' }),
    column('ParamKind', 'ParamKind specifies the kind of resources used to parameterize this policy'),
    AGE_COLUMN,
  ],
  cells: (object, now) => {
    const { metadata, spec = {} } = asPolicy(object);
    const { paramKind, validations = [] } = spec;
    const shown = paramKind === undefined ? '<unset>' : `${paramKind.apiVersion}/${paramKind.kind}`;
    return [metadata.name, validations.length, shown, ageOf(metadata.creationTimestamp, now)];
  },
};

const bindingTable: TablePrinter = {
  columns: [
    NAME_COLUMN,
    column('PolicyName', 'PolicyName indicates the policy definition which the policy binding binded to'),
    column('ParamRef', 'ParamRef indicates the param resource which sets the configration param'),
    AGE_COLUMN,
  ],
  cells: (object, now) => {
    const { metadata, spec = {} } = asPolicyBinding(object);
    return [metadata.name, spec.policyName ?? '', paramCell(spec.paramRef), ageOf(metadata.creationTimestamp, now)];
  },
};

const paramCell = ({ name = '', namespace = '', selector }: DecodedParamRef = {}): string => {
  if (name !== '') return `${namespace || '*'}/${name}`;
  return selector === undefined ? '<unset>' : formatSelector(selector);
};

const policyStrategy: ResourceStrategy = {
  applyDefaults: (object) => {
    const { spec } = asPolicy(object);
    if (spec === undefined) return;
    spec.failurePolicy ??= 'Fail';
    applyMatchDefaults(spec.matchConstraints);
  },
  prepareForCreate: (object) => {
    object['status'] = {};
    startFirstGeneration(object);
  },
  validateCreate: (object) => [
    ...validateAnyObjectMeta(object.metadata, false, subdomainName),
    ...validatePolicy(asPolicy(object), undefined),
  ],
  prepareForUpdate: bumpGeneration,
  validateUpdate: (next, previous) => [
    ...validateAnyObjectMeta(next.metadata, false, subdomainName),
    ...validatePolicy(asPolicy(next), asPolicy(previous)),
  ],
  status: { prepareForUpdate: keepSpec, validateUpdate: (next) => validatePolicyStatus(asPolicy(next).status) },
  table: policyTable,
};

const bindingStrategy: ResourceStrategy = {
  applyDefaults: (object) => applyMatchDefaults(asPolicyBinding(object).spec?.matchResources),
  prepareForCreate: startFirstGeneration,
  validateCreate: (object) => [
    ...validateAnyObjectMeta(object.metadata, false, subdomainName),
    ...validateBinding(asPolicyBinding(object)),
  ],
  prepareForUpdate: bumpGeneration,
  validateUpdate: (next) => [...validateAnyObjectMeta(next.metadata, false, subdomainName), ...validateBinding(asPolicyBinding(next))],
  table: bindingTable,
};

/** ValidatingAdmissionPolicy and ValidatingAdmissionPolicyBinding of admissionregistration.k8s.io/v1. */
export const POLICY_RESOURCES: readonly ResourceDefinition[] = [
  resource('ValidatingAdmissionPolicy', 'validatingadmissionpolicies', policyStrategy),
  resource('ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings', bindingStrategy),
];

function resource(kind: string, plural: string, strategy: ResourceStrategy): ResourceDefinition {
  return {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    kind,
    listKind: `${kind}List`,
    plural,
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: ['api-extensions'],
    namespaced: false,
    strategy: { forbidUnconditionalUpdate: true, ...strategy },
  };
}

function startFirstGeneration({ metadata }: AnyObject): void {
  metadata.generation = 1;
}

function applyMatchDefaults(match: DecodedMatchResources | undefined): void {
  if (match === undefined) return;
  match.matchPolicy ??= 'Equivalent';
  match.namespaceSelector ??= {};
  match.objectSelector ??= {};
  for (const rule of [...(match.resourceRules ?? []), ...(match.excludeResourceRules ?? [])]) rule.scope ??= '*';
}
