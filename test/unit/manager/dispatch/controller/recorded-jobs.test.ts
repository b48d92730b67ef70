import { expect, test } from 'vitest';
import { createRecordedJobs, type Recorded, recordedIn } from '../../../../../manager/dispatch/controller/recorded-jobs.ts';
import { aRecord, anAdmittedJob, recordOn } from '../../../../support/jobs.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

const at = (cluster: string, clusterUID?: string): Recorded => ({
  kind: 'At',
  record: aRecord({ cluster, ...(clusterUID === undefined ? {} : { clusterUID }) }),
});

test('a cluster concerns the Jobs that are recorded there, by its name or by what it is', () => {
  const jobs = createRecordedJobs();
  jobs.set('team/a', at('eu-1', 'uid-eu'));
  jobs.set('team/b', at('us-2', 'uid-us'));
  jobs.set('team/old', at('eu-1'));
  expect([...jobs.on('eu-1', undefined)].toSorted()).toEqual(['team/a', 'team/old']);
  expect([...jobs.on('renamed', 'uid-eu')]).toEqual(['team/a']);
  expect([...jobs.on('ap-3', 'uid-ap')]).toEqual([]);
});

test('a Job that may be anywhere is concerned by every cluster, one that is nowhere by none', () => {
  const jobs = createRecordedJobs();
  jobs.set('team/a', at('eu-1'));
  jobs.set('team/a', { kind: 'Anywhere' });
  jobs.set('team/b', at('eu-1'));
  jobs.set('team/b', { kind: 'Nowhere' });
  expect([...jobs.on('ap-3', undefined)]).toEqual(['team/a']);
  expect([...jobs.on('eu-1', undefined)]).toEqual(['team/a']);
  expect([...jobs.all()]).toEqual(['team/a']);
});

test('a Job that moves is concerned by its new cluster and no longer by the old one', () => {
  const jobs = createRecordedJobs();
  jobs.set('team/a', at('eu-1', 'uid-eu'));
  jobs.set('team/a', at('us-2', 'uid-us'));
  expect([...jobs.on('eu-1', 'uid-eu')]).toEqual([]);
  expect([...jobs.on('us-2', undefined)]).toEqual(['team/a']);
});

test('those of one namespace are found by it', () => {
  const jobs = createRecordedJobs();
  jobs.set('team/a', at('eu-1'));
  jobs.set('other/a', at('eu-1'));
  expect([...jobs.all('team')]).toEqual(['team/a']);
});

test('a Job that others keep, though nothing of it is left, is nowhere: its cluster may go', () => {
  const deleted = (finalizers: string[]) => anAdmittedJob({ metadata: { finalizers, deletionTimestamp: '2026-01-01T00:59:00Z' } });
  const held = deleted(['example.com/own', 'switchyard.dev/copies']);
  expect(recordedIn(JOB_KIND, held, recordOn(held))).toMatchObject({ kind: 'At' });
  const released = deleted(['example.com/own']);
  expect(recordedIn(JOB_KIND, released, recordOn(released))).toEqual({ kind: 'Nowhere' });
});

test('the newest admission that there ever was is known, also when its Job is gone', () => {
  const jobs = createRecordedJobs();
  expect(jobs.newestMs()).toBe(0);
  for (const since of ['2026-01-01T00:10:00Z', '2026-01-01T00:00:05Z'])
    jobs.set(`team/${since}`, { kind: 'At', record: aRecord({ since }) });
  jobs.set('team/2026-01-01T00:10:00Z', { kind: 'Nowhere' });
  expect(jobs.newestMs()).toBe(Date.parse('2026-01-01T00:10:00Z'));
});
