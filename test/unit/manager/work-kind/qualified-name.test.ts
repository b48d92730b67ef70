import { expect, test } from 'vitest';
import { JOBS } from '../../../../shared/api/resources.ts';
import { createKinds } from '../../../../manager/work-kind/kinds.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';
import {
  formatWork,
  parseQualifiedName,
  qualifiedName,
  qualifierOf,
  withPlainNames,
  kubectlOperands,
} from '../../../../manager/work-kind/qualified-name.ts';
import { aCrewKind } from './described/described.ts';

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

test('people read kind and plain name, and the resource of a kind that is not known', () => {
  const kinds = createKinds(JOB_KIND, [aCrewKind()]);
  const named = (name: string): string => formatWork(kinds, { namespace: 'team', name });
  expect([named('train'), named('crews.example.com:argo')]).toEqual(['Job team/train', 'Crew team/argo']);
  expect(named('rafts.example.com:argo')).toBe('rafts.example.com team/argo');
  expect([
    formatWork(undefined, { namespace: 'team', name: 'train' }),
    formatWork(undefined, { namespace: 'team', name: 'a.b:c' }),
  ]).toEqual(['Job team/train', 'a.b team/c']);
});

test.each([
  ['suspended for team/crews.example.com:argo.', 'suspended for Crew team/argo.'],
  ['Job team/crews.example.com:argo ended', 'Crew team/argo ended'],
  ['held by team/a (1), team/crews.example.com:b-1 (2)', 'held by team/a (1), Crew team/b-1 (2)'],
  ['the image library/busybox:1.36 is missing', 'the image library/busybox:1.36 is missing'],
  ['no kind: team/rafts.example.com:argo', 'no kind: team/rafts.example.com:argo'],
])('%j reads %j', (text, plain) => {
  expect(withPlainNames([aCrewKind()], text)).toBe(plain);
  expect(withPlainNames([], text)).toBe(text);
});

test('kubectl takes an object by its resource and own name', () => {
  expect(kubectlOperands({ namespace: 'team', name: 'train' })).toBe('job -n team train');
  expect(kubectlOperands({ namespace: 'team', name: 'jobsets.jobset.x-k8s.io:train' })).toBe('jobsets.jobset.x-k8s.io -n team train');
});
