import type { LabelSelector } from '../../api/kubernetes.ts';
import { type FieldError, invalid, notSupported, required } from '../apimachinery/field-error.ts';
import { validateLabelSelector } from '../kinds/label-selector-validation.ts';
import { dns1123SubdomainProblems } from '../../kube/name-formats.ts';
import { pathSegmentName, validateObjectMeta, validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import { semanticEqual } from '../apimachinery/semantic-equal.ts';
import { ageOf } from '../kinds/age.ts';
import { AGE_COLUMN, column, NAME_COLUMN } from '../kinds/table-columns.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import type { ResourceDefinition, ResourceStrategy, TablePrinter } from '../resources/strategy.ts';
import type { PolicyRule } from './rbac-rules.ts';

export type Role = AnyObject & { rules?: PolicyRule[] | null; aggregationRule?: { clusterRoleSelectors?: LabelSelector[] } };
export type Subject = { kind?: string; apiGroup?: string; name?: string; namespace?: string };
export type RoleRef = { apiGroup?: string; kind: string; name: string };
export type Binding = AnyObject & { subjects?: Subject[]; roleRef?: RoleRef };

/** The registry hands every strategy objects of its own kind, decoded by that kind's schema. */
export const asRole = (object: AnyObject): Role => object as Role;
export const asBinding = (object: AnyObject): Binding => object as Binding;

const GROUP = 'rbac.authorization.k8s.io';

const CREATED_AT = 'CreationTimestamp is a timestamp representing the server time when this object was created.';
const roleTable: TablePrinter = {
  columns: [NAME_COLUMN, column('Created At', CREATED_AT, { type: 'date' })],
  cells: ({ metadata }) => [metadata.name, metadata.creationTimestamp],
};

const bindingTable: TablePrinter = {
  columns: [
    NAME_COLUMN,
    column('Role', 'RoleRef can reference a Role in the current namespace or a ClusterRole in the global namespace.'),
    AGE_COLUMN,
    column('Users', 'Users in the binding', { wide: true }),
    column('Groups', 'Groups in the binding', { wide: true }),
    column('ServiceAccounts', 'ServiceAccounts in the binding', { wide: true }),
  ],
  cells: (object, now) => {
    const { metadata, roleRef, subjects = [] } = asBinding(object);
    const named = (kind: string): string =>
      subjects
        .filter((subject) => subject.kind === kind)
        .map(({ name = '', namespace = '' }) => (kind === 'ServiceAccount' ? `${namespace}/${name}` : name))
        .join(', ');
    return [
      metadata.name,
      `${roleRef?.kind}/${roleRef?.name}`,
      ageOf(metadata.creationTimestamp, now),
      named('User'),
      named('Group'),
      named('ServiceAccount'),
    ];
  },
};

/** The kinds of rbac.authorization.k8s.io/v1. */
export const RBAC_RESOURCES: readonly ResourceDefinition[] = [
  resource('ClusterRole', false, roleStrategy(false)),
  resource('ClusterRoleBinding', false, bindingStrategy(false)),
  resource('Role', true, roleStrategy(true)),
  resource('RoleBinding', true, bindingStrategy(true)),
];

function resource(kind: string, namespaced: boolean, strategy: ResourceStrategy): ResourceDefinition {
  return {
    group: GROUP,
    version: 'v1',
    kind,
    listKind: `${kind}List`,
    plural: `${kind.toLowerCase()}s`,
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    namespaced,
    strategy,
  };
}

function roleStrategy(namespaced: boolean): ResourceStrategy {
  const validate = (object: AnyObject): FieldError[] => {
    const role = asRole(object);
    return [
      ...validateObjectMeta(role.metadata, namespaced, pathSegmentName),
      ...(role.rules ?? []).flatMap((rule, i) => validateRule(rule, namespaced, `rules[${i}]`)),
      ...(namespaced ? [] : validateAggregation(role)),
    ];
  };
  return {
    validateCreate: validate,
    validateUpdate: (next, previous) => [...validate(next), ...validateObjectMetaUpdate(next.metadata, previous.metadata)],
    table: roleTable,
  };
}

function validateAggregation({ aggregationRule }: Role): FieldError[] {
  if (aggregationRule === undefined) return [];
  const path = 'aggregationRule.clusterRoleSelectors';
  const selectors = aggregationRule.clusterRoleSelectors ?? [];
  if (selectors.length === 0) return [required(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil')];
  return selectors.flatMap((selector, i) => {
    const errors = validateLabelSelector(selector, `${path}[${i}]`);
    // What cannot be made a selector is complained of once more, as a whole.
    return errors.length === 0 ? [] : [...errors, invalid(`${path}[${i}]`, null, 'invalid label selector.')];
  });
}

function validateRule(rule: PolicyRule, namespaced: boolean, path: string): FieldError[] {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const errors = (rule.verbs ?? []).length === 0 ? [required(`${path}.verbs`, 'verbs must contain at least one value')] : [];
  if (nonResourceURLs.length > 0) {
    if (namespaced) {
      errors.push(invalid(`${path}.nonResourceURLs`, nonResourceURLs, 'namespaced rules cannot apply to non-resource URLs'));
    }
    if (apiGroups.length > 0 || resources.length > 0 || resourceNames.length > 0) {
      const detail = 'rules cannot apply to both regular resources and non-resource URLs';
      errors.push(invalid(`${path}.nonResourceURLs`, nonResourceURLs, detail));
    }
    return errors;
  }
  if (apiGroups.length === 0) errors.push(required(`${path}.apiGroups`, 'resource rules must supply at least one api group'));
  if (resources.length === 0) errors.push(required(`${path}.resources`, 'resource rules must supply at least one resource'));
  return errors;
}

function bindingStrategy(namespaced: boolean): ResourceStrategy {
  const validate = (object: AnyObject): FieldError[] => {
    const binding = asBinding(object);
    return [
      ...validateObjectMeta(binding.metadata, namespaced, pathSegmentName),
      ...validateRoleRef(binding.roleRef, namespaced),
      ...(binding.subjects ?? []).flatMap((subject, i) => validateSubject(subject, namespaced, `subjects[${i}]`)),
    ];
  };
  return {
    applyDefaults: (object) => applyBindingDefaults(asBinding(object)),
    validateCreate: validate,
    validateUpdate: (next, previous) => {
      const { roleRef } = asBinding(next);
      const changed = !semanticEqual(roleRef, asBinding(previous).roleRef);
      const metaErrors = validateObjectMetaUpdate(next.metadata, previous.metadata);
      return [...validate(next), ...metaErrors, ...(changed ? [invalid('roleRef', goRoleRef(roleRef), 'cannot change roleRef')] : [])];
    },
    table: bindingTable,
  };
}

const goRoleRef = (roleRef: RoleRef | undefined): object => ({
  APIGroup: roleRef?.apiGroup ?? '',
  Kind: roleRef?.kind ?? '',
  Name: roleRef?.name ?? '',
});

function applyBindingDefaults(binding: Binding): void {
  if (binding.roleRef !== undefined && (binding.roleRef.apiGroup ?? '') === '') binding.roleRef.apiGroup = GROUP;
  for (const subject of binding.subjects ?? []) {
    if ((subject.apiGroup ?? '') === '' && (subject.kind === 'User' || subject.kind === 'Group')) subject.apiGroup = GROUP;
  }
}

function validateRoleRef(roleRef: Partial<RoleRef> = {}, namespaced: boolean): FieldError[] {
  const { apiGroup = '', kind = '', name = '' } = roleRef;
  const kinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  return [
    ...(apiGroup === GROUP ? [] : [notSupported('roleRef.apiGroup', apiGroup, [GROUP])]),
    ...(kinds.includes(kind) ? [] : [notSupported('roleRef.kind', kind, kinds)]),
    ...(name === '' ? [required('roleRef.name')] : pathSegmentName(name, false).map((problem) => invalid('roleRef.name', name, problem))),
  ];
}

function validateSubject(
  { kind = '', apiGroup = '', name = '', namespace = '' }: Subject,
  namespaced: boolean,
  path: string,
): FieldError[] {
  const errors = name === '' ? [required(`${path}.name`)] : [];
  switch (kind) {
    case 'ServiceAccount':
      if (name !== '') for (const problem of dns1123SubdomainProblems(name)) errors.push(invalid(`${path}.name`, name, problem));
      if (apiGroup !== '') errors.push(notSupported(`${path}.apiGroup`, apiGroup, ['']));
      if (!namespaced && namespace === '') errors.push(required(`${path}.namespace`));
      break;
    case 'User':
    case 'Group':
      if (name === '') errors.push(invalid(`${path}.name`, name, `${kind.toLowerCase()} name cannot be empty`));
      if (apiGroup !== GROUP) errors.push(notSupported(`${path}.apiGroup`, apiGroup, [GROUP]));
      break;
    default:
      errors.push(notSupported(`${path}.kind`, kind, ['ServiceAccount', 'User', 'Group']));
  }
  return errors;
}
