import { isJsonObject } from '../apimachinery/json.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import type { ResourceStrategy } from '../resources/strategy.ts';
import { ageOf } from './age.ts';
import { subdomainName, validateObjectMeta, validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import { AGE_COLUMN, NAME_COLUMN } from './table-columns.ts';

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
    columns: [NAME_COLUMN, AGE_COLUMN],
    cells: ({ metadata }, now) => [metadata.name, ageOf(metadata.creationTimestamp, now)],
  },
};
