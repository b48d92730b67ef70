import { expect, test } from 'vitest';
import { createKinds } from '../../../../manager/work-kind/kinds.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';
import { aHomeJob } from '../../../support/jobs.ts';
import { aCrew, aCrewKind } from './described/described.ts';

const crews = aCrewKind();
const kinds = createKinds(JOB_KIND, [crews]);
const crew = aCrew({ metadata: { name: 'crews.example.com:argo' } });

test('without others the kinds are that of Jobs itself', () => {
  expect(createKinds(JOB_KIND, [])).toBe(JOB_KIND);
});

test('the kind of an object is that of its name, and that of Jobs for any other name', () => {
  expect(kinds.of('crews.example.com:argo')).toBe(crews);
  expect([kinds.of('argo'), kinds.of(undefined), kinds.of('rafts.example.com:argo')]).toEqual([JOB_KIND, JOB_KIND, JOB_KIND]);
  expect(kinds.others).toEqual([crews]);
});

test('each question goes to the kind of the object that it names', () => {
  const job = aHomeJob();
  expect(kinds.podSets(crew).map(({ name }) => name)).toEqual(['captain', 'deck', 'oars']);
  expect(kinds.podSets(job)).toEqual(JOB_KIND.podSets(job));
  expect([kinds.podsAtOnce(crew), kinds.podsAtOnce(job)]).toEqual([6, JOB_KIND.podsAtOnce(job)]);
  expect(kinds.home.hasVerdict({ ...crew, status: { conditions: [] } })).toBe(false);
  expect(kinds.progress(job)).toEqual(JOB_KIND.progress(job));
  expect(kinds.copies.isUnbegun(crew)).toBe(true);
  expect(kinds.controllerOf(job)).toBe(JOB_KIND.controllerOf(job));
});

test('an expression sees the name that the API server knows', () => {
  expect(kinds.podSelector(crew)).toBe('example.com/crew=argo');
});
