import { expect, test } from 'vitest';
import { VIEW_SCHEMAS, viewRoutes } from '../../../../manager/http/dashboard-routes.ts';
import { HISTORY_SCHEMAS, historyRoutes } from '../../../../manager/http/history-routes.ts';
import { openApiOf } from '../../../../manager/http/openapi.ts';
import { SUBMISSION_SCHEMAS, submissionRoutes } from '../../../../manager/http/submission-routes.ts';

test('the document is made of the routes: what they take, what they answer, and what all may answer', () => {
  const document = openApiOf(
    submissionRoutes(() => undefined),
    SUBMISSION_SCHEMAS,
  ) as {
    paths: Record<
      string,
      Record<string, { parameters: { name: string }[]; requestBody?: object; responses: Record<string, { content?: object }> }>
    >;
  };
  const [path = ''] = Object.keys(document.paths).filter((each) => each.endsWith('{key}'));
  const { post, get } = document.paths[path] ?? {};
  expect(get?.parameters.map(({ name }) => name)).toEqual(['namespace', 'queue', 'key']);
  expect(Object.keys(post?.responses ?? {})).toEqual(['200', '201', '400', '401', '403', '404', '409', '413', '422', '503']);
  expect(post?.requestBody).toEqual({
    required: true,
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Payload' } } },
  });
  for (const status of ['401', '403', '503'])
    expect(post?.responses[status]?.content).toEqual({ 'application/json': { schema: { $ref: '#/components/schemas/Status' } } });
  const events = document.paths[`${path}/events`]?.['get']?.responses['200'];
  expect(Object.keys(events?.content ?? {})).toEqual(['text/event-stream']);
});

test('one document has submissions, history and views, with the parameters of queries', () => {
  const never = () => Promise.reject(new Error('nobody asks here'));
  const routes = [
    ...submissionRoutes(() => undefined),
    ...historyRoutes({ query: never, usage: never, podsOf: never, tail: never }),
    ...viewRoutes(never),
  ];
  const document = openApiOf(routes, { ...SUBMISSION_SCHEMAS, ...HISTORY_SCHEMAS, ...VIEW_SCHEMAS }) as {
    paths: Record<string, Record<string, { parameters: { name: string; in: string }[] }>>;
    components: { schemas: object };
  };
  const operations = Object.entries(document.paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`));
  expect(operations).toHaveLength(routes.length);
  expect(operations).toEqual(
    expect.arrayContaining([
      'get /api/v1/queues',
      'get /api/v1/clusters',
      'post /api/v1/what-if',
      'get /apis/history/v1/namespaces/{namespace}/jobs',
    ]),
  );
  // What changes something is for the page alone.
  expect(operations).not.toContain('post /api/v1/actions');
  const history = document.paths['/apis/history/v1/namespaces/{namespace}/jobs']?.['get']?.parameters ?? [];
  expect(history.filter((each) => each.in === 'query').map(({ name }) => name)).toEqual([
    'limit',
    'name',
    'resource',
    'outcome',
    'user',
    'since',
    'canaries',
  ]);
  const referred = [...JSON.stringify(document).matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name);
  for (const name of referred) expect(Object.keys(document.components.schemas)).toContain(name);
});
