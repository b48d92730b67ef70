import { describe, expect, test } from 'vitest';
import { headerOf, parseRequest, Query } from '../../../../../shared/controlplane/request/request.ts';

describe('what a request is about', () => {
  test.each([
    ['GET', '/api/v1/pods', { verb: 'list', group: '', resource: 'pods', namespace: '', name: '' }],
    ['GET', '/api/v1/namespaces/ns/pods/p', { verb: 'get', resource: 'pods', namespace: 'ns', name: 'p', nameInPath: true }],
    ['HEAD', '/api/v1/namespaces/ns/pods/p', { verb: 'get' }],
    ['GET', '/api/v1/pods?watch=1', { verb: 'watch' }],
    ['GET', '/api/v1/watch/pods', { verb: 'watch', resource: 'pods' }],
    ['POST', '/apis/batch/v1/namespaces/ns/jobs', { verb: 'create', group: 'batch', version: 'v1', resource: 'jobs' }],
    ['PUT', '/apis/batch/v1/namespaces/ns/jobs/j/status', { verb: 'update', name: 'j', subresource: 'status' }],
    ['PATCH', '/apis/batch/v1/namespaces/ns/jobs/j', { verb: 'patch' }],
    ['DELETE', '/apis/batch/v1/namespaces/ns/jobs/j', { verb: 'delete' }],
    ['DELETE', '/apis/batch/v1/namespaces/ns/jobs', { verb: 'deletecollection' }],
    ['GET', '/api/v1/namespaces/ns', { resource: 'namespaces', namespace: 'ns', name: 'ns' }],
    ['PUT', '/api/v1/namespaces/ns/finalize', { resource: 'namespaces', name: 'ns', subresource: 'finalize' }],
    ['GET', '/api/v1/nodes/n/proxy/a/b', { resource: 'nodes', subresource: 'proxy', rest: ['a', 'b'] }],
    ['GET', '/api/v1/namespaces/ns/pods/a%2Fb', { name: 'a/b' }],
    ['GET', '/api/v1/namespaces/ns/pods/100%', { name: '100%' }],
  ])('%s %s', (method, target, about) => {
    expect(parseRequest(method, target)).toMatchObject({ isResourceRequest: true, ...about });
  });

  test.each(['/healthz', '/api', '/api/v1', '/apis/batch', '/apis/batch/v1', '/version'])('%s is about no resource', (path) => {
    expect(parseRequest('GET', path)).toMatchObject({ isResourceRequest: false, verb: 'get', path });
  });

  test('a list by a name is one about that name, for who judges it', () => {
    expect(parseRequest('GET', '/api/v1/pods?fieldSelector=metadata.name%3Dweb')).toMatchObject({ name: 'web', nameInPath: false });
    expect(parseRequest('GET', '/api/v1/pods?fieldSelector=metadata.name!%3Dweb').name).toBe('');
  });
});

test('a boolean of the query is true when it is there and neither false nor 0', () => {
  expect(new Query('a=maybe&b=&c=false&d=0').flag('a')).toBe(true);
  expect(new Query('b=').flag('b')).toBe(true);
  expect(new Query('c=false').flag('c')).toBe(false);
  expect(new Query('d=0').flag('d')).toBe(false);
  expect(new Query('').flag('e')).toBe(false);
});

test('a header that came several times is one list', () => {
  const request = { method: 'GET', path: '/', headers: { accept: ['a', 'b'], host: 'x' }, body: '' };
  expect(headerOf(request, 'accept')).toBe('a, b');
  expect(headerOf(request, 'host')).toBe('x');
  expect(headerOf(request, 'none')).toBe('');
});
