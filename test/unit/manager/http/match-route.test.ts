import { expect, test } from 'vitest';
import { matchRoute } from '../../../../manager/http/match-route.ts';
import type { Route } from '../../../../manager/http/route.ts';

const route = (method: Route['method'], path: string): Route => ({
  method,
  path,
  summary: '',
  access: () => ({ nonResourceAttributes: { path: '/', verb: 'get' } }),
  answers: {},
  handle: async () => ({ kind: 'Json', status: 200, body: {} }),
});
const routes = [
  route('POST', '/things'),
  route('GET', '/things/{name}'),
  route('DELETE', '/things/{name}'),
  route('GET', '/things/{name}/events'),
];
const match = (method: string, path: string): string => {
  const found = matchRoute(routes, method, path);
  if (found.kind === 'Route') return `${found.route.method} ${found.route.path} ${JSON.stringify(found.parameters)}`;
  return found.kind === 'None' ? 'none' : `only ${found.allowed.join(' ')}`;
};

test.each([
  ['POST', '/things', 'POST /things {}'],
  ['GET', '/things/a', 'GET /things/{name} {"name":"a"}'],
  ['DELETE', '/things/a', 'DELETE /things/{name} {"name":"a"}'],
  ['GET', '/things/a/events', 'GET /things/{name}/events {"name":"a"}'],
  ['GET', '/things/a%2Fb%20c', 'GET /things/{name} {"name":"a/b c"}'],
  ['GET', '/things/repeat:nightly:17', 'GET /things/{name} {"name":"repeat:nightly:17"}'],
  ['PUT', '/things/a', 'only GET DELETE'],
  ['GET', '/things', 'only POST'],
  ['GET', '/things/', 'none'],
  ['GET', '/things/%zz', 'none'],
  ['GET', '/things/a/b', 'none'],
  ['GET', '/', 'none'],
  ['GET', '/things/__proto__', 'GET /things/{name} {"name":"__proto__"}'],
])('%s %s', (method, path, expected) => {
  expect(match(method, path)).toBe(expected);
});
