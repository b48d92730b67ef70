import type { Container } from '../../api/kubernetes.ts';
import { compareQuantities, formatQuantity, parseQuantity, toMilliUnits } from '../../kube/quantity.ts';
import { invalid, required, type FieldError } from '../apimachinery/field-error.ts';
import { validateFormat } from './choice-validation.ts';
import type { Decoded } from './decoded.ts';
import { qualifiedNameProblems } from '../apimachinery/name-formats.ts';
import {
  isCount,
  isExtendedResource,
  isNativeResource,
  isStandardContainerResource,
  isStandardResource,
  mayBeOvercommitted,
} from './resource-names.ts';

type Resources = Decoded<NonNullable<Container['resources']>>;

/** ValidateContainerResourceRequirements. */
export const validateContainerResources = ({ limits = {}, requests = {} }: Resources, path: string): FieldError[] => {
  const errors: FieldError[] = [];
  for (const [name, quantity] of Object.entries(limits)) errors.push(...validateAmount(name, quantity, `${path}.limits[${name}]`));
  for (const [name, quantity] of Object.entries(requests)) {
    errors.push(
      ...validateAmount(name, quantity, `${path}.requests[${name}]`),
      ...validateRequest(name, quantity, limitOf(limits, name), path),
    );
  }
  return errors;
};

/** Names such as `constructor` are found in every object. */
const limitOf = (limits: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(limits, name) ? limits[name] : undefined;

const validateAmount = (name: string, quantity: string, path: string): FieldError[] => [
  ...validateContainerResourceName(name, path),
  ...validateResourceQuantity(name, quantity, path),
];

/** ValidateResourceQuantityValue. */
export const validateResourceQuantity = (name: string, quantity: string, path: string): FieldError[] => {
  const value = parseQuantity(quantity);
  const errors: FieldError[] = [];
  if (value.nanos < 0n) errors.push(invalid(path, formatQuantity(value), 'must be greater than or equal to 0'));
  if ((isExtendedResource(name) || isCount(name)) && toMilliUnits(value) % 1000n !== 0n) {
    errors.push(invalid(path, formatQuantity(value), 'must be an integer'));
  }
  return errors;
};

const validateContainerResourceName = (name: string, path: string): FieldError[] => {
  const errors = validateFormat(name, path, qualifiedNameProblems);
  const qualified = name.includes('/');
  if (errors.length === 0 && !qualified && !isStandardResource(name)) {
    errors.push(invalid(path, name, 'must be a standard resource type or fully qualified'));
  }
  if (!qualified) {
    return isStandardContainerResource(name) ? errors : [...errors, invalid(path, name, 'must be a standard resource for containers')];
  }
  if (isNativeResource(name) || isExtendedResource(name)) return errors;
  return [...errors, invalid(path, name, "doesn't follow extended resource name standard")];
};

/** What cannot be overcommitted must be limited, and requested as it is limited. */
const validateRequest = (name: string, request: string, limit: string | undefined, path: string): FieldError[] => {
  const overcommit = mayBeOvercommitted(name);
  if (limit === undefined) {
    return overcommit ? [] : [required(`${path}.limits`, 'Limit must be set for non overcommitable resources')];
  }
  const requested = parseQuantity(request);
  const limited = parseQuantity(limit);
  const order = compareQuantities(requested, limited);
  const refuse = (rule: string): FieldError[] => [
    invalid(`${path}.requests`, formatQuantity(requested), `${rule} ${name} limit of ${formatQuantity(limited)}`),
  ];
  if (order !== 0 && !overcommit) return refuse('must be equal to');
  return order > 0 ? refuse('must be less than or equal to') : [];
};
