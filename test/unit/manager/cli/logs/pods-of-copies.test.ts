import { expect, test } from 'vitest';
import { podsOfCopies } from '../../../../../manager/cli/logs/pods-of-copies.ts';
import { createKinds } from '../../../../../manager/work-kind/kinds.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';
import type { DeepReadonly, Job } from '../../../../../shared/api/kubernetes.ts';
import { aHomeJob } from '../../../../support/jobs.ts';
import { aCrew, aCrewKind, compiled, CREW_SPEC } from '../../work-kind/described/described.ts';
import { describedKind } from '../../../../../manager/work-kind/described/described-kind.ts';

const crew = (changes: Parameters<typeof aCrew>[0] = {}): DeepReadonly<Job> =>
  aCrew({ ...changes, metadata: { name: 'crews.example.com:argo', uid: '01234567-89', ...changes.metadata } }) as unknown as Job;

test('pods of a Job have its name or that of a copy beside it, as the Job controller writes it', () => {
  const job = aHomeJob({ metadata: { name: 'sum', uid: '01234567-89' } });
  expect(podsOfCopies(JOB_KIND, job)).toBe('batch.kubernetes.io/job-name in (sum,sum-01234567)');
});

test('pods of another kind have the labels of its description, with either name of the copy', () => {
  expect(podsOfCopies(createKinds(JOB_KIND, [aCrewKind()]), crew())).toBe('example.com/crew in (argo,argo-01234567)');
});

test('labels that say no name are asked for as they are, and those that are not known yet not at all', () => {
  const podLabels = { 'example.com/fleet': 'status.?fleet' };
  const kinds = createKinds(JOB_KIND, [describedKind(compiled({ ...CREW_SPEC, podLabels }))]);
  expect(podsOfCopies(kinds, crew({ status: { fleet: 'blue' } }))).toBe('example.com/fleet=blue');
  expect(podsOfCopies(kinds, crew())).toBeUndefined();
});
