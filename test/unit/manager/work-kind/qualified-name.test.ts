import { expect, test } from 'vitest';
import { JOBS } from '../../../../shared/api/resources.ts';
import { copyName } from '../../../../manager/work-kind/copy-marks.ts';
import { createKinds } from '../../../../manager/work-kind/kinds.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';
import {
  formatWork,
  parseQualifiedName,
  qualifiedName,
  qualifierOf,
  withPlainNames,
  wordOfKind,
  kubectlOperands,
  operandOf,
  parseWorkKey,
  resourceOfWork,
  toWorkKey,
  withWorkKeys,
  workKey,
  workPath,
} from '../../../../manager/work-kind/qualified-name.ts';
import { aCrewKind, CREWS } from './described/described.ts';

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
  ['held by team/crews.example.com/b-1 (2)', 'held by Crew team/b-1 (2)'],
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

test('users and programs know an object by a key and a path without the name that the manager uses', () => {
  const job = { namespace: 'team', name: 'train' };
  const jobSet = { namespace: 'team', name: 'jobsets.jobset.x-k8s.io:train' };
  expect([job, jobSet].map(workKey)).toEqual(['team/train', 'team/jobsets.jobset.x-k8s.io/train']);
  expect([job, jobSet].map(workKey).map(parseWorkKey)).toEqual([job, jobSet]);
  expect(toWorkKey('team/jobsets.jobset.x-k8s.io:train')).toBe(workKey(jobSet));
  expect([job, jobSet].map(workPath)).toEqual(['namespaces/team/jobs/train', 'namespaces/team/jobsets.jobset.x-k8s.io/train']);
  expect(resourceOfWork(job.name)).toMatchObject({ group: 'batch', plural: 'jobs' });
  expect(resourceOfWork(jobSet.name)).toEqual({ group: 'jobset.x-k8s.io', plural: 'jobsets' });
  expect([operandOf(job, undefined), operandOf(jobSet, 'JobSet'), operandOf(jobSet, undefined)]).toEqual([
    'team/train',
    'jobset/train -n team',
    'jobsets.jobset.x-k8s.io/train -n team',
  ]);
});

test('a copy beside its original is of the same kind, however long the names are', () => {
  const metadata = { name: `${'r'.repeat(40)}.example.com:${'n'.repeat(60)}`, uid: '01234567-89' };
  expect(copyName({ metadata }, false)).toBe(metadata.name);
  expect(copyName({ metadata }, true)).toBe(`${'r'.repeat(40)}.example.com:${'n'.repeat(42)}-01234567`);
});

test('a value for programs has the keys that they know, and texts for people', () => {
  const value = {
    job: 'team/crews.example.com:argo',
    holders: [{ job: 'team/sum', amount: 1 }, { job: 'team/crews.example.com:b' }],
    message: 'behind Job team/crews.example.com:argo',
    image: 'library/busybox:1.36',
    none: null,
  };
  expect(withWorkKeys([aCrewKind()], value)).toEqual({
    job: 'team/crews.example.com/argo',
    holders: [{ job: 'team/sum', amount: 1 }, { job: 'team/crews.example.com/b' }],
    message: 'behind Crew team/argo',
    image: 'library/busybox:1.36',
    none: null,
  });
  expect(withWorkKeys([], value)).toBe(value);
});

test('a kind that is called Job, and is of another group, is told by its resource wherever Jobs are told by their name', () => {
  const volcanos = { group: 'batch.volcano.sh', version: 'v1alpha1', plural: 'jobs', kind: 'Job', namespaced: true };
  const kinds = createKinds(JOB_KIND, [{ ...aCrewKind(), resource: volcanos }]);
  const [key, named] = [{ namespace: 'team', name: 'jobs.batch.volcano.sh:train' }, 'jobs.batch.volcano.sh team/train'];
  expect([wordOfKind(JOBS), wordOfKind(volcanos), wordOfKind(CREWS)]).toEqual(['Job', 'jobs.batch.volcano.sh', 'Crew']);
  expect(formatWork(kinds, key)).toBe(named);
  expect(withPlainNames(kinds.others, 'held by Job team/jobs.batch.volcano.sh:train')).toBe(`held by ${named}`);
  expect(operandOf(key, 'Job')).toBe('jobs.batch.volcano.sh/train -n team');
});
