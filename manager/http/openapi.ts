import type { Route } from './route.ts';

/** The OpenAPI 3.1 document, generated from the routes. */
export function openApiOf(routes: readonly Route[], schemas: Readonly<Record<string, object>>): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) (paths[route.path] ??= {})[route.method.toLowerCase()] = operationOf(route);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Switchyard',
      version: 'v1',
      description:
        'Jobs, queues and clusters for users with a token of the cluster: what waits and why, what ended, and submissions of Jobs.',
    },
    paths,
    components: { schemas: { ...schemas, Status: STATUS }, securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    security: [{ token: [] }],
  };
}

const STATUS = {
  type: 'object',
  description: 'A Kubernetes Status: message names field and remedy.',
  required: ['kind', 'status', 'reason', 'message', 'code'],
  properties: {
    kind: { const: 'Status' },
    apiVersion: { const: 'v1' },
    metadata: { type: 'object' },
    status: { const: 'Failure' },
    reason: { type: 'string' },
    message: { type: 'string' },
    code: { type: 'integer' },
  },
};

/** Answers that every route may give. */
const REFUSALS: Route['answers'] = {
  401: { about: 'no token, or one that the cluster does not know', schema: 'Status' },
  403: { about: 'the user of the token may not do this', schema: 'Status' },
  503: { about: 'something that is needed does not answer; try again', schema: 'Status' },
};

function operationOf({ path, summary, query = {}, body, answers }: Route): object {
  const parameters = [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
    ...Object.entries(query).map(([name, description]) => ({ name, in: 'query', description, schema: { type: 'string' } })),
  ];
  return {
    summary,
    parameters,
    ...(body === undefined ? {} : { requestBody: { required: true, content: { 'application/json': { schema: refTo(body) } } } }),
    responses: Object.fromEntries(
      Object.entries({ ...REFUSALS, ...answers }).map(([status, { about, schema, contentType = 'application/json' }]) => [
        status,
        { description: about, ...(schema === undefined ? {} : { content: { [contentType]: { schema: refTo(schema) } } }) },
      ]),
    ),
  };
}

const refTo = (schema: string): object => ({ $ref: `#/components/schemas/${schema}` });
