import { expect, test } from 'vitest';
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
  const events = document.paths[`${path}/events`]?.['get']?.responses['200'];
  expect(Object.keys(events?.content ?? {})).toEqual(['text/event-stream']);
});
