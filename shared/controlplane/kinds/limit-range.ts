import type { AnyObject } from '../apimachinery/object.ts';
import type { ResourceStrategy } from '../resources/strategy.ts';
import { subdomainName, validateObjectMeta } from '../apimachinery/object-meta-validation.ts';
import { type DecodedLimit, validateLimits } from './limit-range-validation.ts';
import { NAME_COLUMN, column } from './table-columns.ts';

export type DecodedLimitRange = AnyObject & { spec?: { limits?: DecodedLimit[] } };
/** The registry hands this strategy decoded LimitRanges only. */
export const asLimitRange = (object: AnyObject): DecodedLimitRange => object as DecodedLimitRange;

/** core/v1 LimitRange: the defaults and bounds of what pods of a namespace may ask for. */
export const limitRangeStrategy: ResourceStrategy = {
  applyDefaults: (object) => {
    for (const limit of limitsOf(object)) if (limit.type === 'Container') completeDefaults(limit);
  },
  validateCreate: (object) => validateLimitRange(object),
  validateUpdate: (next) => validateLimitRange(next),
  table: {
    columns: [
      NAME_COLUMN,
      column('Created At', 'CreationTimestamp is a timestamp representing the server time when this object was created.', { type: 'date' }),
    ],
    cells: ({ metadata }) => [metadata.name, metadata.creationTimestamp],
  },
};

const limitsOf = (object: AnyObject): readonly DecodedLimit[] => asLimitRange(object).spec?.limits ?? [];

const validateLimitRange = (object: AnyObject) => [
  ...validateObjectMeta(object.metadata, true, subdomainName),
  ...validateLimits(limitsOf(object), 'spec.limits'),
];

/** SetDefaults_LimitRangeItem: the limit is the maximum where nothing else is said, and the request the limit, else the minimum. */
const completeDefaults = (limit: DecodedLimit): void => {
  const limits = { ...limit.max, ...limit.default };
  const requests = { ...limit.min, ...limits, ...limit.defaultRequest };
  if (Object.keys(limits).length > 0) limit.default = limits;
  if (Object.keys(requests).length > 0) limit.defaultRequest = requests;
};
