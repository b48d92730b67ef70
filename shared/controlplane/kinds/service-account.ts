import type { AnyObject } from '../apimachinery/object.ts';
import type { ResourceStrategy } from '../resources/strategy.ts';
import { ageOf } from './age.ts';
import { subdomainName, validateObjectMeta, validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import { AGE_COLUMN, NAME_COLUMN, column } from './table-columns.ts';

const validate = ({ metadata }: AnyObject) => validateObjectMeta(metadata, true, subdomainName);

/** core/v1 ServiceAccount. */
export const serviceAccountStrategy: ResourceStrategy = {
  validateCreate: validate,
  validateUpdate: (next, previous) => [...validateObjectMetaUpdate(next.metadata, previous.metadata), ...validate(next)],
  returnsDeletedObject: true,
  table: {
    columns: [
      NAME_COLUMN,
      column(
        'Secrets',
        'Secrets is a list of the secrets in the same namespace that pods running using this ServiceAccount are allowed to use.',
      ),
      AGE_COLUMN,
    ],
    cells: ({ metadata, secrets }, now) => [
      metadata.name,
      Array.isArray(secrets) ? secrets.length : 0,
      ageOf(metadata.creationTimestamp, now),
    ],
  },
};
