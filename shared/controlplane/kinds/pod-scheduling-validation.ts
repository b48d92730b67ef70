import { duplicate, forbidden, invalid, notSupported, required, type FieldError } from '../apimachinery/field-error.ts';
import { validateFormat, validateOptionalChoice } from './choice-validation.ts';
import type { DecodedPodSpec } from './decoded.ts';
import { validateLabelSelector } from './label-selector-validation.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems, labelValueProblems, qualifiedNameProblems } from '../../kube/name-formats.ts';

type Toleration = NonNullable<DecodedPodSpec['tolerations']>[number];
type Affinity = NonNullable<DecodedPodSpec['affinity']>;
type NodeSelectorTerm = NonNullable<
  NonNullable<NonNullable<Affinity['nodeAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']>['nodeSelectorTerms']
>[number];
type NodeRequirement = NonNullable<NodeSelectorTerm['matchExpressions']>[number];
type PodAffinity = NonNullable<Affinity['podAffinity']>;
type PodAffinityTerm = NonNullable<PodAffinity['requiredDuringSchedulingIgnoredDuringExecution']>[number];
type SpreadConstraint = NonNullable<DecodedPodSpec['topologySpreadConstraints']>[number];

const TAINT_EFFECTS: readonly string[] = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export const validateTaintEffect = (effect: string, path: string): FieldError[] => validateOptionalChoice(effect, path, TAINT_EFFECTS);

export const validateTolerations = (tolerations: readonly Toleration[], path: string): FieldError[] =>
  tolerations.flatMap((toleration, i) => validateToleration(toleration, `${path}[${i}]`));

const validateToleration = (toleration: Toleration, path: string): FieldError[] => {
  const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = toleration;
  const errors = key === '' ? [] : validateFormat(key, `${path}.key`, qualifiedNameProblems);
  if (key === '' && operator !== 'Exists') {
    const rule = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    errors.push(invalid(`${path}.operator`, operator, rule));
  }
  if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
    errors.push(invalid(`${path}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
  }
  if (operator === 'Equal' || operator === '') {
    const problems = labelValueProblems(value);
    if (problems.length > 0) errors.push(invalid(`${path}.operator`, value, problems.join(';')));
  } else if (operator === 'Exists') {
    if (value !== '') errors.push(invalid(`${path}.operator`, value, "value must be empty when `operator` is 'Exists'"));
  } else if (operator === 'Lt' || operator === 'Gt') {
    // Known, but a feature that is off.
    errors.push(notSupported(`${path}.operator`, operator, ['Equal', 'Exists', 'Lt', 'Gt']));
  } else errors.push(notSupported(`${path}.operator`, operator, ['Equal', 'Exists']));
  if (effect !== '') errors.push(...validateTaintEffect(effect, `${path}.effect`));
  return errors;
};

export const validateSchedulingGates = (gates: readonly { name?: string | undefined }[], path: string): FieldError[] => {
  const seen = new Set<string>();
  return gates.flatMap(({ name = '' }, i) => {
    const errors = validateFormat(name, `${path}[${i}]`, qualifiedNameProblems);
    if (seen.has(name)) errors.push(duplicate(`${path}[${i}]`, name));
    seen.add(name);
    return errors;
  });
};

export const validateAffinity = (affinity: Affinity | undefined, path: string): FieldError[] => {
  if (affinity === undefined) return [];
  const { nodeAffinity = {}, podAffinity = {}, podAntiAffinity = {} } = affinity;
  const requiredNodes = nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution;
  const requiredPath = `${path}.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`;
  const preferredPath = `${path}.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution`;
  return [
    ...(requiredNodes === undefined ? [] : validateNodeSelectorTerms(requiredNodes.nodeSelectorTerms ?? [], requiredPath)),
    ...(nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution ?? []).flatMap(({ weight = 0, preference = {} }, i) => [
      ...validateWeight(weight, `${preferredPath}[${i}].weight`),
      // Values of preferences are never checked: upstream once allowed them to be anything.
      ...validateNodeSelectorTerm(preference, `${preferredPath}[${i}].preference`, false),
    ]),
    ...validatePodAffinity(podAffinity, `${path}.podAffinity`),
    ...validatePodAffinity(podAntiAffinity, `${path}.podAntiAffinity`),
  ];
};

const validateWeight = (weight: number, path: string): FieldError[] =>
  weight <= 0 || weight > 100 ? [invalid(path, weight, 'must be in the range 1-100')] : [];

export const validateNodeSelectorTerms = (terms: readonly NodeSelectorTerm[], path: string): FieldError[] =>
  terms.length === 0
    ? [required(path, 'must have at least one node selector term')]
    : terms.flatMap((term, i) => validateNodeSelectorTerm(term, `${path}[${i}]`, true));

const validateNodeSelectorTerm = (term: NodeSelectorTerm, path: string, checkValues: boolean): FieldError[] => [
  ...(term.matchExpressions ?? []).flatMap((requirement, i) =>
    validateNodeRequirement(requirement, `${path}.matchExpressions[${i}]`, checkValues),
  ),
  ...(term.matchFields ?? []).flatMap((requirement, i) => validateNodeField(requirement, `${path}.matchFields[${i}]`)),
];

const validateNodeRequirement = (requirement: NodeRequirement, path: string, checkValues: boolean): FieldError[] => {
  const { key = '', operator = '', values = [] } = requirement;
  const errors: FieldError[] = [];
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) errors.push(required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0) errors.push(forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
  } else if (operator === 'Gt' || operator === 'Lt') {
    if (values.length !== 1) errors.push(required(`${path}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
  } else errors.push(invalid(`${path}.operator`, operator, 'not a valid selector operator'));
  errors.push(...validateFormat(key, `${path}.key`, qualifiedNameProblems));
  if (checkValues) {
    for (const [i, value] of values.entries()) errors.push(...validateFormat(value, `${path}.values[${i}]`, labelValueProblems));
  }
  return errors;
};

/** The only field by which a node can be chosen is its name. */
const validateNodeField = (requirement: NodeRequirement, path: string): FieldError[] => {
  const { key = '', operator = '', values = [] } = requirement;
  const errors: FieldError[] = [];
  if (operator !== 'In' && operator !== 'NotIn') errors.push(invalid(`${path}.operator`, operator, 'not a valid selector operator'));
  else if (values.length !== 1) {
    errors.push(required(`${path}.values`, "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"));
  }
  if (key !== 'metadata.name') errors.push(invalid(`${path}.key`, key, 'not a valid field selector key'));
  else for (const [i, value] of values.entries()) errors.push(...validateFormat(value, `${path}.values[${i}]`, dns1123SubdomainProblems));
  return errors;
};

const validatePodAffinity = (affinity: PodAffinity, path: string): FieldError[] => {
  const requiredPath = `${path}.requiredDuringSchedulingIgnoredDuringExecution`;
  const preferredPath = `${path}.preferredDuringSchedulingIgnoredDuringExecution`;
  return [
    ...(affinity.requiredDuringSchedulingIgnoredDuringExecution ?? []).flatMap((term, i) =>
      validatePodAffinityTerm(term, `${requiredPath}[${i}]`),
    ),
    ...(affinity.preferredDuringSchedulingIgnoredDuringExecution ?? []).flatMap(({ weight = 0, podAffinityTerm = {} }, i) => [
      ...validateWeight(weight, `${preferredPath}[${i}].weight`),
      ...validatePodAffinityTerm(podAffinityTerm, `${preferredPath}[${i}].podAffinityTerm`),
    ]),
  ];
};

const validatePodAffinityTerm = (term: PodAffinityTerm, path: string): FieldError[] => {
  const { labelSelector, namespaceSelector, namespaces = [], topologyKey = '' } = term;
  return [
    ...(labelSelector === undefined ? [] : validateLabelSelector(labelSelector, `${path}.labelSelector`)),
    ...(namespaceSelector === undefined ? [] : validateLabelSelector(namespaceSelector, `${path}.namespaceSelector`)),
    ...namespaces.flatMap((name) => validateFormat(name, `${path}.namespace`, dns1123LabelProblems)),
    ...validateLabelKeys(term, path),
    ...(topologyKey === '' ? [required(`${path}.topologyKey`, 'can not be empty')] : []),
    ...validateFormat(topologyKey, `${path}.topologyKey`, qualifiedNameProblems),
  ];
};

export const validateTopologySpread = (constraints: readonly SpreadConstraint[], path: string): FieldError[] => {
  const tuples = constraints.map(({ topologyKey = '', whenUnsatisfiable = '' }) => `{${topologyKey}, ${whenUnsatisfiable}}`);
  return constraints.flatMap((constraint, i) => {
    // Of two that are alike it is the first that is reported.
    const repeated = tuples.indexOf(tuples[i] ?? '', i + 1) < 0 ? undefined : tuples[i];
    return validateSpreadConstraint(constraint, `${path}[${i}]`, repeated);
  });
};

const validateSpreadConstraint = (constraint: SpreadConstraint, path: string, repeated: string | undefined): FieldError[] => {
  const { maxSkew = 0, topologyKey = '', whenUnsatisfiable = '', minDomains } = constraint;
  const errors: FieldError[] = [];
  if (maxSkew <= 0) errors.push(invalid(`${path}.maxSkew`, maxSkew, 'must be greater than zero'));
  if (topologyKey === '') errors.push(required(`${path}.topologyKey`, 'can not be empty'));
  errors.push(...validateOptionalChoice(whenUnsatisfiable, `${path}.whenUnsatisfiable`, ['DoNotSchedule', 'ScheduleAnyway']));
  if (repeated !== undefined) errors.push(duplicate(`${path}.{topologyKey, whenUnsatisfiable}`, repeated));
  if (minDomains !== undefined && minDomains <= 0) errors.push(invalid(`${path}.minDomains`, minDomains, 'must be greater than zero'));
  if (minDomains !== undefined && whenUnsatisfiable !== 'DoNotSchedule') {
    const rule = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`;
    errors.push(invalid(`${path}.minDomains`, minDomains, rule));
  }
  errors.push(...validateOptionalChoice(constraint.nodeAffinityPolicy, `${path}.nodeAffinityPolicy`, ['Honor', 'Ignore']));
  errors.push(...validateOptionalChoice(constraint.nodeTaintsPolicy, `${path}.nodeTaintsPolicy`, ['Honor', 'Ignore']));
  errors.push(...validateLabelKeys(constraint, path));
  if (constraint.labelSelector) errors.push(...validateLabelSelector(constraint.labelSelector, `${path}.labelSelector`));
  return errors;
};

type LabelKeys = {
  readonly labelSelector?: SpreadConstraint['labelSelector'];
  readonly matchLabelKeys?: string[] | undefined;
  readonly mismatchLabelKeys?: string[] | undefined;
};

/**
 * ValidateMatchLabelKeysAndMismatchLabelKeys: keys whose values are taken from the pod itself. A pod is created with them in its selector
 * already, so that only a second expression of the same key is one too many.
 */
const validateLabelKeys = ({ labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] }: LabelKeys, path: string): FieldError[] => {
  const validateKeys = (keys: readonly string[], field: string): FieldError[] => {
    if (keys.length === 0) return [];
    if (labelSelector === undefined) return [forbidden(field, 'must not be specified when labelSelector is not set')];
    return keys.flatMap((key, i) => validateFormat(key, `${field}[${i}]`, qualifiedNameProblems));
  };
  const errors = [
    ...validateKeys(matchLabelKeys, `${path}.matchLabelKeys`),
    ...validateKeys(mismatchLabelKeys, `${path}.mismatchLabelKeys`),
  ];
  const selected = new Set(Object.keys(labelSelector?.matchLabels ?? {}));
  for (const { key = '' } of labelSelector?.matchExpressions ?? []) {
    const at = matchLabelKeys.lastIndexOf(key);
    if (at >= 0 && selected.has(key)) errors.push(invalid(`${path}[${at}]`, key, 'exists in both matchLabelKeys and labelSelector'));
    selected.add(key);
  }
  for (const [i, key] of matchLabelKeys.entries()) {
    if (mismatchLabelKeys.includes(key)) {
      errors.push(invalid(`${path}.matchLabelKeys[${i}]`, key, 'exists in both matchLabelKeys and mismatchLabelKeys'));
    }
  }
  return errors;
};
