import { expect, test } from 'vitest';
import { JOBS } from '../../../../shared/api/resources.ts';
import { parseQualifiedName, qualifiedName, qualifierOf } from '../../../../manager/work-kind/qualified-name.ts';

test('a Job keeps its name, and an object of another kind has a name of its own', () => {
  const jobSets = { group: 'jobset.x-k8s.io', plural: 'jobsets' };
  expect([qualifierOf(JOBS), qualifierOf(jobSets)]).toEqual([undefined, 'jobsets.jobset.x-k8s.io']);
  expect(qualifiedName(qualifierOf(JOBS), 'train')).toBe('train');
  expect(qualifiedName(qualifierOf(jobSets), 'train')).toBe('jobsets.jobset.x-k8s.io:train');
  expect(qualifierOf({ group: 'example.com', plural: 'jobs' })).toBe('jobs.example.com');
});

test.each([
  ['train', { qualifier: undefined, name: 'train' }],
  ['jobsets.jobset.x-k8s.io:train', { qualifier: 'jobsets.jobset.x-k8s.io', name: 'train' }],
  ['jobsets.jobset.x-k8s.io:', { qualifier: 'jobsets.jobset.x-k8s.io', name: '' }],
])('%j has these parts', (name, parts) => {
  expect(parseQualifiedName(name)).toEqual(parts);
});
