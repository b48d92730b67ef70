import { forbidden, invalid, type FieldError } from '../apimachinery/field-error.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import type { ResourceStrategy } from '../resources/strategy.ts';
import { ageOf } from './age.ts';
import { validateChoice } from './choice-validation.ts';
import { subdomainName, validateObjectMeta, validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import { AGE_COLUMN, NAME_COLUMN, column } from './table-columns.ts';

export type DecodedPriorityClass = AnyObject & {
  value?: number;
  globalDefault?: boolean;
  preemptionPolicy?: string;
  description?: string;
};
/** The registry hands this strategy decoded PriorityClasses only. */
export const asPriorityClass = (object: AnyObject): DecodedPriorityClass => object as DecodedPriorityClass;

const USER_VALUE_MAX = 1_000_000_000;
const SYSTEM_PREFIX = 'system-';

/** The classes that every cluster has from the start. */
export const SYSTEM_PRIORITY_CLASSES = [
  {
    name: 'system-cluster-critical',
    value: 2_000_000_000,
    description: 'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
  {
    name: 'system-node-critical',
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
] as const;

/** scheduling.k8s.io/v1 PriorityClass. */
export const priorityClassStrategy: ResourceStrategy = {
  applyDefaults: (object) => {
    asPriorityClass(object).preemptionPolicy ||= 'PreemptLowerPriority';
  },
  prepareForCreate: (object) => {
    object.metadata.generation = 1;
  },
  validateCreate: (object) => validatePriorityClass(asPriorityClass(object)),
  validateUpdate: (object, stored) => {
    const next = asPriorityClass(object);
    const previous = asPriorityClass(stored);
    const errors = validateObjectMetaUpdate(next.metadata, previous.metadata);
    if ((next.value ?? 0) !== (previous.value ?? 0)) errors.push(forbidden('value', 'may not be changed in an update.'));
    if (next.preemptionPolicy !== previous.preemptionPolicy) {
      errors.push(invalid('preemptionPolicy', next.preemptionPolicy, 'field is immutable'));
    }
    return errors;
  },
  table: {
    columns: [
      NAME_COLUMN,
      column('Value', 'value represents the integer value of this priority class.', { type: 'integer' }),
      column(
        'Global-Default',
        'globalDefault specifies whether this PriorityClass should be considered as the default priority for pods that do not have any priority class.',
        { type: 'boolean' },
      ),
      AGE_COLUMN,
      column('PreemptionPolicy', 'preemptionPolicy is the Policy for preempting pods with lower priority.'),
    ],
    cells: (object, now) => {
      const { metadata, value = 0, globalDefault = false, preemptionPolicy = '' } = asPriorityClass(object);
      return [metadata.name, value, globalDefault, ageOf(metadata.creationTimestamp, now), preemptionPolicy];
    },
  },
};

const validatePriorityClass = ({ metadata, value = 0, preemptionPolicy = '' }: DecodedPriorityClass): FieldError[] => {
  const errors = validateObjectMeta(metadata, false, subdomainName);
  const known = SYSTEM_PRIORITY_CLASSES.find(({ name }) => name === metadata.name);
  if (metadata.name.startsWith(SYSTEM_PREFIX)) {
    if (known === undefined || known.value !== value) {
      const why =
        known === undefined
          ? `${metadata.name} is not a known system priority class`
          : `value of ${metadata.name} PriorityClass must be ${known.value}`;
      const rule = `priority class names with '${SYSTEM_PREFIX}' prefix are reserved for system use only. error: ${why}`;
      errors.push(forbidden('metadata.name', rule));
    }
  } else if (value > USER_VALUE_MAX) {
    errors.push(forbidden('value', `maximum allowed value of a user defined priority is ${USER_VALUE_MAX}`));
  }
  return [...errors, ...validateChoice(preemptionPolicy, 'preemptionPolicy', ['PreemptLowerPriority', 'Never'])];
};
