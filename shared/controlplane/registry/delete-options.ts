import { parse as parseYaml } from 'yaml';
import { invalid as invalidField, notSupported, type FieldError } from '../apimachinery/field-error.ts';
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
  const options = body.trim() === '' ? fromQuery(query) : fromBody(body, contentType, groupVersion);
  const errors = validate(options);
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', errors);
  return { ...options, dryRun: options.dryRunValues.includes('All') };
}

type Unvalidated = Omit<DeleteOptions, 'dryRun'> & { readonly dryRunValues: readonly string[] };

const fromQuery = (query: Query): Unvalidated => ({
  gracePeriodSeconds: readInteger(query, 'gracePeriodSeconds'),
  propagationPolicy: query.has('propagationPolicy') ? query.get('propagationPolicy') : undefined,
  orphanDependents: query.has('orphanDependents') ? query.flag('orphanDependents') : undefined,
  preconditions: {},
  dryRunValues: query.getAll('dryRun'),
});

function fromBody(body: string, contentType: string, groupVersion: string): Unvalidated {
  const value = readBody(body, contentType);
  const { kind, apiVersion } = value;
  const expected = ['v1', 'meta.k8s.io/v1', groupVersion];
  if ((kind !== undefined && kind !== 'DeleteOptions') || (apiVersion !== undefined && !expected.some((each) => each === apiVersion))) {
    throw badRequest(
      `no kind ${JSON.stringify(kind ?? '')} is registered for version ${JSON.stringify(apiVersion ?? '')} in scheme "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"`,
    );
  }
  const preconditions = isRecord(value['preconditions']) ? value['preconditions'] : {};
  const { uid, resourceVersion } = preconditions;
  return {
    gracePeriodSeconds: optional(value['gracePeriodSeconds'], 'number', 'int64', 'gracePeriodSeconds'),
    propagationPolicy: optional(value['propagationPolicy'], 'string', 'v1.DeletionPropagation', 'propagationPolicy'),
    orphanDependents: optional(value['orphanDependents'], 'boolean', 'bool', 'orphanDependents'),
    preconditions: {
      ...(typeof uid === 'string' ? { uid } : {}),
      ...(typeof resourceVersion === 'string' ? { resourceVersion } : {}),
    },
    dryRunValues: Array.isArray(value['dryRun']) ? value['dryRun'].filter((each) => typeof each === 'string') : [],
  };
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

function readBody(body: string, contentType: string): Record<string, unknown> {
  const mediaType = contentType.split(';')[0]?.trim() ?? '';
  if (mediaType !== '' && mediaType !== 'application/json' && mediaType !== 'application/yaml') {
    throw unsupportedMediaType(['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']);
  }
  let value: unknown;
  try {
    value = mediaType === 'application/yaml' ? parseYaml(body) : JSON.parse(body);
  } catch (error) {
    throw badRequest(`couldn't get version/kind; json parse error: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isRecord(value)) throw badRequest("couldn't get version/kind; json parse error: json: cannot unmarshal into Go value");
  return value;
}

type TypeOf = { number: number; string: string; boolean: boolean };
function optional<K extends keyof TypeOf>(value: unknown, type: K, goType: string, field: string): TypeOf[K] | undefined {
  if (value === undefined || value === null) return undefined;
  const isType = (each: unknown): each is TypeOf[K] => typeof each === type;
  if (isType(value)) return value;
  throw badRequest(
    `DeleteOptions in version "v1" cannot be handled as a DeleteOptions: json: cannot unmarshal ${typeof value} into Go struct field DeleteOptions.${field} of type ${goType}`,
  );
}

const validate = (options: Unvalidated): FieldError[] => {
  const { propagationPolicy: policy, orphanDependents } = options;
  const errors: FieldError[] = [];
  if (orphanDependents !== undefined && policy !== undefined) {
    errors.push(invalidField('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set'));
  } else if (policy !== undefined && !POLICIES.includes(policy)) {
    errors.push(notSupported('propagationPolicy', policy, [...POLICIES, 'nil']));
  }
  return [...errors, ...dryRunErrors(options.dryRunValues)];
};
