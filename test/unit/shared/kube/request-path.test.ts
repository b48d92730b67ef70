import { expect, test } from 'vitest';
import { JOBS, NODES, PODS } from '../../../../shared/api/resources.ts';
import { pathTo, queryString } from '../../../../shared/kube/request-path.ts';

test.each([
  [pathTo(PODS), '/api/v1/pods'],
  [pathTo(PODS, ''), '/api/v1/pods'],
  [pathTo(PODS, 'ns'), '/api/v1/namespaces/ns/pods'],
  [pathTo(JOBS, 'ns', 'job'), '/apis/batch/v1/namespaces/ns/jobs/job'],
  [pathTo(NODES, 'ns', 'node'), '/api/v1/nodes/node'],
])('%s', (path, expected) => {
  expect(path).toBe(expected);
});

test('a name cannot leave its place in the path', () => {
  expect(pathTo(PODS, '../kube-system', 'a/b?c')).toBe('/api/v1/namespaces/..%2Fkube-system/pods/a%2Fb%3Fc');
});

test('parameters without a value are left out, and the rest is encoded', () => {
  expect(queryString({ limit: 0, continue: '', labelSelector: 'a=b,c', fieldSelector: undefined })).toBe(
    '?limit=0&labelSelector=a%3Db%2Cc',
  );
  expect(queryString({})).toBe('');
});
