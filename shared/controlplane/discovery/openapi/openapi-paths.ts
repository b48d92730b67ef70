import type { ServedResource } from '../../resources/served-resources.ts';
import type { Json } from './openapi-schemas.ts';

/** The paths of one resource with their operations. `schema` refers to its kind, `listSchema` to the list. */
export function pathsOf({ definition, apiVersion, custom }: ServedResource, schema: Json, listSchema: Json): Json {
  const { group, version, kind, plural, namespaced, strategy } = definition;
  const root = group === '' ? `/api/${version}` : `/apis/${apiVersion}`;
  const collection = namespaced ? `${root}/namespaces/{namespace}/${plural}` : `${root}/${plural}`;
  const type = { group, kind, version };
  const operation = (action: string, answer: Json, more: Json = {}): Json => ({
    operationId: `${action}${kind}`,
    ...more,
    responses: { '200': { description: 'OK', content: { 'application/json': { schema: answer } } } },
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': type,
  });
  const body = (types: readonly string[], content: Json): Json => ({
    requestBody: { required: true, content: Object.fromEntries(types.map((each) => [each, { schema: content }])) },
  });
  const get = operation('get', schema);
  const put = operation('put', schema, { ...body(['*/*'], schema), parameters: WRITE_PARAMETERS });
  const patch = operation('patch', schema, {
    ...body(custom ? CUSTOM_PATCH_TYPES : PATCH_TYPES, { type: 'object' }),
    parameters: PATCH_PARAMETERS,
  });
  const pathParameters = namespaced ? [pathParameter('namespace')] : [];
  const item = { parameters: [pathParameter('name'), ...pathParameters] };
  return {
    ...(namespaced ? { [`${root}/${plural}`]: { get: operation('list', listSchema) } } : {}),
    [collection]: {
      get: operation('list', listSchema),
      post: operation('post', schema, { ...body(['*/*'], schema), parameters: WRITE_PARAMETERS }),
      delete: operation('deletecollection', { type: 'object' }),
      ...(namespaced ? { parameters: pathParameters } : {}),
    },
    [`${collection}/{name}`]: { get, put, patch, delete: operation('delete', { type: 'object' }), ...item },
    ...(strategy.status === undefined ? {} : { [`${collection}/{name}/status`]: { get, put, patch, ...item } }),
  };
}

const PATCH_TYPES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
];
/** By these kubectl decides which patch to send. */
const CUSTOM_PATCH_TYPES = PATCH_TYPES.filter((type) => !type.includes('strategic'));

const queryParameter = (name: string, type: 'string' | 'boolean'): Json => ({ name, in: 'query', schema: { type, uniqueItems: true } });
const pathParameter = (name: string): Json => ({ name, in: 'path', required: true, schema: { type: 'string', uniqueItems: true } });

/** kubectl looks for fieldValidation here before it relies on the server's validation. */
const WRITE_PARAMETERS = ['dryRun', 'fieldManager', 'fieldValidation'].map((name) => queryParameter(name, 'string'));
const PATCH_PARAMETERS = [...WRITE_PARAMETERS, queryParameter('force', 'boolean')];
