import { invalid as invalidField, notSupported, type FieldError } from '../apimachinery/field-error.ts';
import { isJsonObject, type JsonObject } from '../apimachinery/json.ts';
import { builtInSchema } from '../schema/builtin.ts';
import { conformObject, TypeMismatch } from '../schema/conform.ts';
import { JsonSyntaxError, parseJson } from '../schema/json-text.ts';
import { parseYaml, YamlSyntaxError } from '../schema/yaml-text.ts';
import type { Query } from '../request/request.ts';
import { dryRunErrors, readInteger } from './request-options.ts';
import { badRequest, invalid, unsupportedMediaType } from '../apimachinery/status-error.ts';

/** metav1.DeleteOptions, validated. */
export type DeleteOptions = {
  readonly gracePeriodSeconds: number | undefined;
  readonly propagationPolicy: string | undefined;
  readonly orphanDependents: boolean | undefined;
  readonly preconditions: { readonly uid?: string; readonly resourceVersion?: string };
  readonly dryRun: boolean;
};

const POLICIES = ['Foreground', 'Background', 'Orphan'];

/** Reads the options of a DELETE from its body, or without one from the query. Throws 400, 415 or 422. */
export function readDeleteOptions(body: string, contentType: string, query: Query, groupVersion: string): DeleteOptions {
  const options = body === '' ? fromQuery(query) : fromBody(body, contentType, groupVersion);
  const errors = validate(options);
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', errors);
  return { ...options, dryRun: options.dryRunValues.includes('All') };
}

type Unvalidated = Omit<DeleteOptions, 'dryRun'> & { readonly dryRunValues: readonly string[] };

const fromQuery = (query: Query): Unvalidated => ({
  gracePeriodSeconds: readInteger(query, 'gracePeriodSeconds'),
  propagationPolicy: query.has('propagationPolicy') ? query.get('propagationPolicy') : undefined,
  orphanDependents: query.has('orphanDependents') ? query.flag('orphanDependents') : undefined,
  preconditions: {
    ...(query.get('uid') === '' ? {} : { uid: query.get('uid') }),
    ...(query.get('resourceVersion') === '' ? {} : { resourceVersion: query.get('resourceVersion') }),
  },
  dryRunValues: query.getAll('dryRun'),
});

function fromBody(body: string, contentType: string, groupVersion: string): Unvalidated {
  const value = readBody(body, contentType);
  const { kind = '', apiVersion = '' } = value;
  const versions = ['', 'v1', 'meta.k8s.io/v1', groupVersion];
  if ((kind !== '' && kind !== 'DeleteOptions') || !versions.some((each) => each === apiVersion)) {
    throw badRequest(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"`,
    );
  }
  const given = typed(value);
  return {
    gracePeriodSeconds: given.gracePeriodSeconds,
    propagationPolicy: given.propagationPolicy,
    orphanDependents: given.orphanDependents,
    preconditions: given.preconditions ?? {},
    dryRunValues: given.dryRun ?? [],
  };
}

type Given = {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: string;
  readonly orphanDependents?: boolean;
  readonly preconditions?: DeleteOptions['preconditions'];
  readonly dryRun?: readonly string[];
};

/** Checks the types of the fields; what the schema does not have is dropped. Throws 400. */
function typed(value: JsonObject): Given {
  const schema = builtInSchema('meta.k8s.io', 'v1', 'DeleteOptions');
  if (schema === undefined) throw new Error('no schema for DeleteOptions');
  try {
    conformObject(value, schema);
  } catch (error) {
    if (error instanceof TypeMismatch) throw badRequest(error.message);
    throw error;
  }
  // The schema has just been enforced.
  return value as Given;
}

function readBody(body: string, contentType: string): JsonObject {
  const mediaType = contentType.split(';')[0]?.trim() ?? '';
  if (mediaType !== '' && mediaType !== 'application/json' && mediaType !== 'application/yaml') {
    throw unsupportedMediaType(['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']);
  }
  try {
    const value = mediaType === 'application/yaml' ? parseYaml(body) : parseJson(body);
    if (isJsonObject(value)) return value;
    // Decoding null changes nothing.
    if (value === null) return {};
    throw new JsonSyntaxError('json: cannot unmarshal into Go value of type struct');
  } catch (error) {
    if (error instanceof YamlSyntaxError) throw badRequest(error.message);
    if (error instanceof JsonSyntaxError) throw badRequest(`couldn't get version/kind; json parse error: ${error.message}`);
    throw error;
  }
}

const validate = (options: Unvalidated): FieldError[] => {
  const { propagationPolicy: policy, orphanDependents } = options;
  const errors: FieldError[] = [];
  if (orphanDependents !== undefined && policy !== undefined) {
    errors.push(invalidField('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set'));
  }
  if (policy !== undefined && !POLICIES.includes(policy)) {
    errors.push(notSupported('propagationPolicy', policy, [...POLICIES, 'nil']));
  }
  return [...errors, ...dryRunErrors(options.dryRunValues)];
};
