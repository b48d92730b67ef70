import { expect, test } from 'vitest';
import { workOf } from '../../../../manager/http/work-of.ts';
import { RequestRefused } from '../../../../manager/http/route.ts';

test('a path names a Job or an object of another kind by resource and name', () => {
  expect(workOf({ namespace: 'team', resource: 'jobs', name: 'train' })).toEqual({ namespace: 'team', name: 'train' });
  expect(workOf({ namespace: 'team', resource: 'jobsets.jobset.x-k8s.io', name: 'train' })).toEqual({
    namespace: 'team',
    name: 'jobsets.jobset.x-k8s.io:train',
  });
  // Routes of queues and clusters have no resource.
  expect(workOf({ name: 'main' })).toEqual({ namespace: '', name: 'main' });
});

test.each(['secrets', 'Jobs', 'a.b:c', '.x', 'jobsets.'])('there is no work at %s', (resource) => {
  expect(() => workOf({ namespace: 'team', resource, name: 'train' })).toThrow(RequestRefused);
});
