import { invalid, type FieldError } from '../apimachinery/field-error.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import type { ResourceStrategy } from '../resources/strategy.ts';
import { ageOf } from './age.ts';
import { validateNonNegative } from './number-validation.ts';
import { subdomainName, validateObjectMeta, validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import { AGE_COLUMN, NAME_COLUMN, column } from './table-columns.ts';

type DecodedLease = AnyObject & {
  spec?: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    leaseTransitions?: number;
    strategy?: string;
    preferredHolder?: string;
  };
};
/** The registry hands this strategy decoded Leases only. */
const asLease = (object: AnyObject): DecodedLease => object as DecodedLease;

/** coordination.k8s.io/v1 Lease. */
export const leaseStrategy: ResourceStrategy = {
  prepareForCreate: (object) => dropGated(asLease(object)),
  prepareForUpdate: (next) => dropGated(asLease(next)),
  validateCreate: (object) => validateLease(asLease(object)),
  validateUpdate: (next, previous) => [...validateObjectMetaUpdate(next.metadata, previous.metadata), ...validateLease(asLease(next))],
  // A holder that renews need not know whether its Lease exists, but must know which one it replaces.
  allowCreateOnUpdate: true,
  forbidUnconditionalUpdate: true,
  table: {
    columns: [NAME_COLUMN, column('Holder', 'holderIdentity contains the identity of the holder of a current lease.'), AGE_COLUMN],
    cells: (object, now) => {
      const { metadata, spec = {} } = asLease(object);
      return [metadata.name, spec.holderIdentity ?? '', ageOf(metadata.creationTimestamp, now)];
    },
  },
};

/** Coordinated leader election is behind a feature gate that is off. */
function dropGated({ spec }: DecodedLease): void {
  delete spec?.strategy;
  delete spec?.preferredHolder;
}

const validateLease = ({ metadata, spec = {} }: DecodedLease): FieldError[] => {
  const { leaseDurationSeconds, leaseTransitions } = spec;
  const errors = validateObjectMeta(metadata, true, subdomainName);
  if (leaseDurationSeconds !== undefined && leaseDurationSeconds <= 0) {
    errors.push(invalid('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0'));
  }
  errors.push(...validateNonNegative(leaseTransitions, 'spec.leaseTransitions'));
  return errors;
};
