import { invalid, required, tooLong, type FieldError } from '../apimachinery/field-error.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { isJsonObject } from '../apimachinery/json.ts';
import { JsonSyntaxError, parseJson } from '../schema/json-text.ts';
import type { ResourceStrategy } from '../resources/strategy.ts';
import { ageOf } from './age.ts';
import { validateFormat } from './choice-validation.ts';
import { DATA_MAX_BYTES, dropEmpty, validateStaysImmutable } from './config-map.ts';
import { configKeyProblems } from '../../kube/name-formats.ts';
import { subdomainName, validateObjectMeta, validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import { AGE_COLUMN, NAME_COLUMN, column } from './table-columns.ts';

type DecodedSecret = AnyObject & {
  immutable?: boolean;
  type?: string;
  /** Base64. */
  data?: Record<string, string>;
  stringData?: Readonly<Record<string, string>>;
};
/** The registry hands this strategy decoded Secrets only. */
const asSecret = (object: AnyObject): DecodedSecret => object as DecodedSecret;

/** core/v1 Secret. */
export const secretStrategy: ResourceStrategy = {
  applyDefaults: (object) => {
    const secret = asSecret(object);
    secret.type ||= 'Opaque';
    // Plain text is for writing only: it becomes data, and wins over it.
    for (const [key, value] of Object.entries(secret.stringData ?? {})) {
      secret.data = { ...secret.data, [key]: Buffer.from(value).toString('base64') };
    }
    delete secret.stringData;
  },
  validateCreate: (object) => validateSecret(asSecret(object)),
  prepareForStorage: (object) => dropEmpty(object, ['data']),
  validateUpdate: (object, stored) => {
    const next = asSecret(object);
    const previous = asSecret(stored);
    return [
      ...validateObjectMetaUpdate(next.metadata, previous.metadata),
      ...(next.type === previous.type ? [] : [invalid('type', next.type, 'field is immutable')]),
      ...validateStaysImmutable(next, previous, ['data']),
      ...validateSecret(next),
    ];
  },
  selectableFields: (object) => ({ type: asSecret(object).type ?? '' }),
  table: {
    columns: [
      NAME_COLUMN,
      column('Type', 'Used to facilitate programmatic handling of secret data.'),
      column('Data', 'Data contains the secret data.'),
      AGE_COLUMN,
    ],
    cells: (object, now) => {
      const { metadata, type = '', data = {} } = asSecret(object);
      return [metadata.name, type, Object.keys(data).length, ageOf(metadata.creationTimestamp, now)];
    },
  },
};

const validateSecret = (secret: DecodedSecret): FieldError[] => {
  const { metadata, data = {} } = secret;
  const errors = validateObjectMeta(metadata, true, subdomainName);
  let size = 0;
  for (const [key, value] of Object.entries(data)) {
    errors.push(...validateFormat(key, `data[${key}]`, configKeyProblems));
    size += Buffer.byteLength(value, 'base64');
  }
  if (size > DATA_MAX_BYTES) errors.push(tooLong('data', DATA_MAX_BYTES));
  return [...errors, ...validateType(secret)];
};

const validateType = ({ metadata, type = '', data = {} }: DecodedSecret): FieldError[] => {
  const missing = (keys: readonly string[]): FieldError[] => keys.filter((key) => !(key in data)).map((key) => required(`data[${key}]`));
  switch (type) {
    case 'kubernetes.io/service-account-token': {
      const account = 'kubernetes.io/service-account.name';
      return (metadata.annotations?.[account] ?? '') === '' ? [required(`metadata.annotations[${account}]`)] : [];
    }
    case 'kubernetes.io/dockercfg':
      return validateJson(data, '.dockercfg');
    case 'kubernetes.io/dockerconfigjson':
      return validateJson(data, '.dockerconfigjson');
    case 'kubernetes.io/basic-auth':
      return 'username' in data || 'password' in data ? [] : [required('data[username]'), required('data[password]')];
    case 'kubernetes.io/ssh-auth':
      // Unlike other keys, this one may not be empty either.
      return data['ssh-privatekey'] ? [] : [required('data[ssh-privatekey]')];
    case 'kubernetes.io/tls':
      return missing(['tls.crt', 'tls.key']);
    default:
      return [];
  }
};

const validateJson = (data: Readonly<Record<string, string>>, key: string): FieldError[] => {
  const value = data[key];
  if (value === undefined) return [required(`data[${key}]`)];
  const problem = jsonObjectProblem(Buffer.from(value, 'base64').toString());
  return problem === undefined ? [] : [invalid(`data[${key}]`, '<secret contents redacted>', problem)];
};

/** Why a text is no JSON object, in Go's words. Null is an object that has nothing. */
const jsonObjectProblem = (text: string): string | undefined => {
  try {
    const value = parseJson(text);
    if (value === null || isJsonObject(value)) return undefined;
    const what = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
    return `json: cannot unmarshal ${what} into Go value of type map[string]interface {}`;
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error.message;
    throw error;
  }
};
