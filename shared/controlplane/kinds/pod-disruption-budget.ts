import type { V1PodDisruptionBudgetSpec, V1PodDisruptionBudgetStatus } from '@kubernetes/client-node';
import type { Wire } from '../../api/kubernetes.ts';
import { invalid, type FieldError } from '../apimachinery/field-error.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import type { ResourceStrategy, TablePrinter } from '../resources/strategy.ts';
import { ageOf } from './age.ts';
import type { Decoded } from './decoded.ts';
import { bumpGeneration, keepSpec } from './generation.ts';
import { validateLabelSelector } from './label-selector-validation.ts';
import { subdomainName, validateObjectMeta, validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import { validateAtMostAll, validateIntOrPercent } from './int-or-percent-validation.ts';
import { validateNonNegative } from './number-validation.ts';
import { validateOptionalChoice } from './choice-validation.ts';
import { AGE_COLUMN, NAME_COLUMN, column } from './table-columns.ts';

export type DecodedBudget = AnyObject & {
  spec?: Decoded<Wire<V1PodDisruptionBudgetSpec>> | undefined;
  status?: Decoded<Wire<V1PodDisruptionBudgetStatus>> | undefined;
};

/** The registry hands this strategy decoded budgets only. */
export const asBudget = (object: AnyObject): DecodedBudget => object as DecodedBudget;

const validateSpec = ({ spec = {} }: DecodedBudget): FieldError[] => [
  ...(spec.minAvailable !== undefined && spec.maxUnavailable !== undefined
    ? [invalid('spec', spec, 'minAvailable and maxUnavailable cannot be both set')]
    : []),
  ...(['minAvailable', 'maxUnavailable'] as const).flatMap((field) => validateAmount(spec[field], `spec.${field}`)),
  ...(spec.selector === undefined ? [] : validateLabelSelector(spec.selector, 'spec.selector')),
  ...validateOptionalChoice(spec.unhealthyPodEvictionPolicy, 'spec.unhealthyPodEvictionPolicy', ['AlwaysAllow', 'IfHealthyBudget']),
];

/** A number of pods, or a percentage up to all of them. */
const validateAmount = (amount: unknown, path: string): FieldError[] => [
  ...validateIntOrPercent(amount, path),
  ...validateAtMostAll(amount, path),
];

const validate = (object: AnyObject): FieldError[] => [
  ...validateObjectMeta(object.metadata, true, subdomainName),
  ...validateSpec(asBudget(object)),
];

const table: TablePrinter = {
  columns: [
    NAME_COLUMN,
    column(
      'Min Available',
      'An eviction is allowed if at least "minAvailable" pods selected by "selector" will still be available after the eviction.',
    ),
    column(
      'Max Unavailable',
      'An eviction is allowed if at most "maxUnavailable" pods selected by "selector" are unavailable after the eviction.',
    ),
    column('Allowed Disruptions', 'Calculated number of pods that may be disrupted at this time.', { type: 'integer' }),
    AGE_COLUMN,
  ],
  cells: (object, now) => {
    const { metadata, spec = {}, status = {} } = asBudget(object);
    return [
      metadata.name,
      String(spec.minAvailable ?? 'N/A'),
      String(spec.maxUnavailable ?? 'N/A'),
      status.disruptionsAllowed ?? 0,
      ageOf(metadata.creationTimestamp, now),
    ];
  },
};

/** policy/v1 PodDisruptionBudget: stored, and honoured by evictions; nothing computes its status here. */
export const podDisruptionBudgetStrategy: ResourceStrategy = {
  prepareForCreate: (object) => {
    object.metadata.generation = 1;
    object['status'] = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  },
  validateCreate: validate,
  prepareForUpdate: bumpGeneration,
  validateUpdate: (next, previous) => [...validateObjectMetaUpdate(next.metadata, previous.metadata), ...validate(next)],
  status: {
    prepareForUpdate: keepSpec,
    validateUpdate: (object, stored) => {
      const { status = {} } = asBudget(object);
      return [
        ...validateObjectMetaUpdate(object.metadata, stored.metadata),
        ...(['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'] as const).flatMap((field) =>
          status[field] === undefined ? [] : validateNonNegative(status[field], `status.${field}`),
        ),
      ];
    },
  },
  forbidUnconditionalUpdate: true,
  table,
};
