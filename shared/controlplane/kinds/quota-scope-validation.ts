import type { V1ResourceQuotaSpec } from '@kubernetes/client-node';
import type { Wire } from '../../api/kubernetes.ts';
import { type FieldError, invalid, required } from '../apimachinery/field-error.ts';
import type { Decoded } from './decoded.ts';
import { isStandardQuotaResource } from './resource-names.ts';

type QuotaSpec = Decoded<Wire<V1ResourceQuotaSpec>>;

/** validateResourceQuotaScopes and validateScopeSelector: a scope must exist, suit what is limited, and not exclude another one. */
export const validateQuotaScopes = (spec: QuotaSpec): FieldError[] => [...validateScopes(spec), ...validateScopeSelector(spec)];

const POD_COUNTS: ReadonlySet<string> = new Set(['pods']);
const POD_RESOURCES: ReadonlySet<string> = new Set([
  'pods',
  'cpu',
  'memory',
  'requests.cpu',
  'requests.memory',
  'limits.cpu',
  'limits.memory',
]);
const CLAIM_RESOURCES: ReadonlySet<string> = new Set(['persistentvolumeclaims', 'requests.storage']);

/** The resources that a quota of each scope can limit. */
const SCOPES: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['Terminating', POD_RESOURCES],
  ['NotTerminating', POD_RESOURCES],
  ['BestEffort', POD_COUNTS],
  ['NotBestEffort', POD_RESOURCES],
  ['PriorityClass', POD_RESOURCES],
  ['CrossNamespacePodAffinity', POD_RESOURCES],
  ['VolumeAttributesClass', CLAIM_RESOURCES],
]);

/** Scopes that a selector can only ask to exist. */
const WITHOUT_VALUES = ['Terminating', 'NotTerminating', 'BestEffort', 'NotBestEffort', 'CrossNamespacePodAffinity'];

const OPPOSITES = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const;

const validateScopes = (spec: QuotaSpec): FieldError[] => {
  const { scopes = [] } = spec;
  const path = 'spec.scopes';
  return [
    ...scopes.flatMap((scope) => [
      ...(SCOPES.has(scope) ? [] : [invalid(path, scopes, 'unsupported scope')]),
      ...validateSuits(scope, spec, path, scopes),
    ]),
    ...validateNotOpposed(scopes, path, scopes),
  ];
};

const validateScopeSelector = (spec: QuotaSpec): FieldError[] => {
  const { scopeSelector, scopes = null } = spec;
  if (scopeSelector === undefined) return [];
  const path = 'spec.scopeSelector.matchExpressions';
  const { matchExpressions = [] } = scopeSelector;
  const shown = { MatchExpressions: matchExpressions.map(goRequirement) };
  return [
    ...matchExpressions.flatMap((requirement) => {
      const { scopeName: scope = '', operator = '' } = requirement;
      return [
        ...(SCOPES.has(scope) ? [] : [invalid(`${path}.scopeName`, scope, 'unsupported scope')]),
        ...validateSuits(scope, spec, path, shown),
        ...(WITHOUT_VALUES.includes(scope) && operator !== 'Exists' ? [invalid(`${path}.operator`, operator, ONLY_EXISTS)] : []),
        ...validateValues(requirement, path),
      ];
    }),
    ...validateNotOpposed(
      matchExpressions.map(({ scopeName = '' }) => scopeName),
      path,
      scopes,
    ),
  ];
};

const ONLY_EXISTS =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";

type Requirement = NonNullable<NonNullable<QuotaSpec['scopeSelector']>['matchExpressions']>[number];

const validateValues = ({ operator = '', values = [] }: Requirement, path: string): FieldError[] => {
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length > 0) return [];
      return [required(`${path}.values`, "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector")];
    case 'Exists':
    case 'DoesNotExist':
      if (values.length === 0) return [];
      return [invalid(`${path}.values`, values, "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector")];
    default:
      return [invalid(`${path}.operator`, operator, 'not a valid selector operator')];
  }
};

/** One complaint for every limited resource that has nothing to do with the scope. A scope that nobody knows suits all. */
const validateSuits = (scope: string, { hard = {} }: QuotaSpec, path: string, shown: unknown): FieldError[] =>
  Object.keys(hard)
    .filter((name) => isStandardQuotaResource(name) && SCOPES.get(scope)?.has(name) === false)
    .map(() => invalid(path, shown, 'unsupported scope applied to resource'));

const validateNotOpposed = (scopes: readonly string[], path: string, shown: unknown): FieldError[] =>
  OPPOSITES.filter((pair) => pair.every((scope) => scopes.includes(scope))).map(() => invalid(path, shown, 'conflicting scopes'));

/** A requirement as Go shows its internal struct in a message. */
const goRequirement = ({ scopeName = '', operator = '', values }: Requirement): object => ({
  ScopeName: scopeName,
  Operator: operator,
  Values: values ?? null,
});
