import { expect, test } from 'vitest';
import { viewRoutes } from '../../../../manager/http/dashboard-routes.ts';
import { openApiOf } from '../../../../manager/http/openapi.ts';

test('the document says of every view what is answered when all is well, beside what may be refused', () => {
  const routes = viewRoutes(() => Promise.reject(new Error('nobody asks here')));
  const { paths } = openApiOf(routes, {}) as {
    paths: Record<string, Record<string, { summary: string; responses: Record<string, { description: string }> }>>;
  };
  const views = Object.values(paths).flatMap(({ get }) => get ?? []);
  expect(views).toHaveLength(routes.length - 1);
  for (const { summary, responses } of views) expect(responses['200'], summary).toEqual({ description: summary });
  expect(paths['/api/v1/what-if']?.['post']?.responses).toMatchObject({
    200: { description: 'the effects on Jobs and queues of the viewer' },
    422: { description: 'a change cannot be made' },
  });
});
