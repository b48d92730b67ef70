import { isJsonObject } from '../apimachinery/json.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import type { ResourceStrategy } from '../resources/strategy.ts';
import { ageOf } from './age.ts';
import { subdomainName, validateObjectMeta, validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import { AGE_COLUMN, NAME_COLUMN, column } from './table-columns.ts';

const validate = ({ metadata }: AnyObject) => validateObjectMeta(metadata, true, subdomainName);

/** Secrets are of the same namespace: upstream keeps their names only. */
function keepNamesOfSecrets(object: AnyObject): void {
  const { secrets } = object;
  if (Array.isArray(secrets))
    object['secrets'] = secrets.map((secret) => (isJsonObject(secret) && 'name' in secret ? { name: secret['name'] } : {}));
}

/** core/v1 ServiceAccount. */
export const serviceAccountStrategy: ResourceStrategy = {
  validateCreate: validate,
  validateUpdate: (next, previous) => [...validateObjectMetaUpdate(next.metadata, previous.metadata), ...validate(next)],
  prepareForCreate: keepNamesOfSecrets,
  prepareForUpdate: keepNamesOfSecrets,
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
