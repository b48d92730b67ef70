import { describe, expect, test } from 'vitest';
import { parseRequests } from '../../../../manager/api/amount.ts';
import type { ShownCopy } from '../../../../manager/api/shown-copy.ts';
import { findingsOfJob, type LocalJobSeen } from '../../../../manager/invariants/job-invariants.ts';
import { aRecord } from '../../../support/jobs.ts';

const requests = { cpu: '2', pods: '2' };
const record = aRecord({ cluster: 'eu-1', epoch: 3, requests });
const carrying = { ...record, carry: ['ConfigMaps'] } as const;
const aCopy = (parts: Partial<ShownCopy> = {}): ShownCopy => ({
  cluster: 'eu-1',
  inSight: true,
  uid: 'copy-1',
  originUid: 'job-1',
  epoch: 3,
  suspended: false,
  deleting: false,
  active: 2,
  terminating: 0,
  podsAtOnce: 2,
  running: parseRequests(requests),
  ...parts,
});
const aJob = (parts: Partial<LocalJobSeen> = {}): LocalJobSeen => ({
  uid: 'job-1',
  suspended: false,
  finished: false,
  deleting: false,
  record,
  place: 'eu-1',
  placeInSight: true,
  saysDispatched: true,
  saysWhyNot: false,
  account: { kind: 'Charges', held: parseRequests(requests) },
  ...parts,
});
const found = (job: LocalJobSeen | undefined, ...copies: ShownCopy[]): string[] =>
  findingsOfJob({ job, copies }).map(({ invariant, message }) => `${invariant}: ${message}`);
const rests = { active: 0, terminating: 0, running: parseRequests({}) };

describe('nothing is found', () => {
  test.each<[string, LocalJobSeen | undefined, ...ShownCopy[]]>([
    ['of a Job that runs as its record says', aJob(), aCopy()],
    ['of a name that nobody has', undefined],
    ['while pods are replaced before they have stopped', aJob(), aCopy({ terminating: 2 })],
    [
      'of a Job that waits and was never admitted',
      aJob({ suspended: true, record: undefined, place: undefined, account: { kind: 'Waits' } }),
    ],
    ['of an evicted Job that rests', aJob({ suspended: true, account: { kind: 'Waits' } }), aCopy({ ...rests, suspended: true })],
    ['of a Job that has ended and whose copy is kept', aJob({ finished: true, account: { kind: 'Unknown' } }), aCopy(rests)],
    ['of a Job that is being deleted', aJob({ deleting: true, account: { kind: 'Unknown' } }), aCopy({ deleting: true })],
    [
      'of a placement before that rests elsewhere',
      aJob(),
      aCopy(),
      aCopy({ ...rests, uid: 'old', cluster: 'us-2', epoch: 2, suspended: true }),
    ],
    ['of a copy on a cluster that is out of sight', aJob(), aCopy(), aCopy({ uid: 'old', cluster: 'us-2', inSight: false })],
    ['of an orphan that is on its way out', undefined, aCopy({ deleting: true })],
    ['that is suspended, of a copy whose end is certain', aJob({ suspended: true }), aCopy({ ...rests, judged: true })],
    ['of a copy whose ConfigMaps and Secrets cannot be written yet', aJob({ record: carrying }), aCopy({ ...rests, suspended: true })],
    ['of a copy that the fence of its worker has suspended', aJob(), aCopy({ ...rests, suspended: true, fenced: true })],
    ['of a Job that says why it has no copy', aJob({ saysWhyNot: true, saysDispatched: false })],
    ['of a Job whose cluster is out of sight', aJob({ placeInSight: false, saysDispatched: true })],
  ])('%s', (_, job, ...copies) => {
    expect(found(job, ...copies)).toEqual([]);
  });
});

describe('found is', () => {
  test('a Job that runs on two clusters, and which of them is wrong', () => {
    expect(found(aJob(), aCopy(), aCopy({ uid: 'copy-2', cluster: 'us-2', epoch: 2, active: 0, terminating: 1 }))).toEqual([
      'one_copy_runs: it runs twice: on eu-1 as placement 3 (2 pods active, 0 stopping) and on us-2 as placement 2 (0 pods active, 1 stopping)',
      'record_and_copy_agree: it runs on us-2 as placement 2 (0 pods active, 1 stopping); its record says eu-1, placement 3',
    ]);
  });

  test('a Job of which more runs than is charged', () => {
    expect(found(aJob(), aCopy({ active: 3, running: parseRequests({ cpu: '3', pods: '3' }) }))).toEqual([
      'quota_covers_pods: what runs on eu-1 as placement 3 (3 pods active, 0 stopping) is 1 cpu and 1 pods more than is charged for it',
    ]);
  });

  test('a Job that runs and is charged nothing', () => {
    expect(found(aJob({ account: { kind: 'Waits' } }), aCopy())).toEqual([
      'quota_covers_pods: what runs on eu-1 as placement 3 (2 pods active, 0 stopping) is 2 cpu and 2 pods more than nothing, which is what is charged for it',
    ]);
  });

  test.each<[string, LocalJobSeen | undefined]>([
    ['gone', undefined],
    ['another of its name', aJob({ uid: 'job-2', saysDispatched: false, saysWhyNot: true })],
  ])('a copy whose Job is %s', (_, job) => {
    expect(found(job, aCopy())).toEqual([
      'no_orphans: a copy is left on eu-1 as placement 3 (2 pods active, 0 stopping), and its Job (UID job-1) is gone',
    ]);
  });

  test.each<[string, Partial<LocalJobSeen>, Partial<ShownCopy>, string]>([
    ['runs without a record', { record: undefined, place: undefined }, {}, 'without an admission record'],
    ['runs under a number that is not its placement', {}, { epoch: 2 }, 'its record says eu-1, placement 3'],
    ['is suspended, and its copy is not', { suspended: true }, rests, 'it is suspended, and its copy is not'],
    ['may have more pods than its record allows', {}, { podsAtOnce: 5 }, 'may have 5 pods at once, its record allows 2'],
    ['is admitted and dispatched, and its copy sleeps', {}, { ...rests, suspended: true }, 'its copy is suspended'],
    ['has its objects there, and its copy sleeps', { record: carrying }, { ...rests, suspended: true, carried: true }, 'is suspended'],
  ])('a Job that %s', (_, job, copy, message) => {
    const all = found(aJob(job), aCopy(copy)).filter((each) => each.startsWith('record_and_copy_agree'));
    expect(all).toHaveLength(1);
    expect(all[0]).toContain(message);
  });

  test.each<[Partial<LocalJobSeen>, Partial<ShownCopy>]>([
    [{ suspended: true }, rests],
    [{}, { ...rests, suspended: true }],
    [{}, { podsAtOnce: 5 }],
  ])('but not one whose copy differs (%#) while a write to it is under way', (job, copy) => {
    expect(found(aJob(job), aCopy({ ...copy, isWritten: true }))).toEqual([]);
  });

  test('a Job that admission has never heard of', () => {
    expect(found(aJob({ suspended: true, record: undefined, place: undefined, account: { kind: 'Unknown' } }))).toEqual([
      'jobs_managed: admission does not know of it: it will never be admitted',
    ]);
  });

  test('a Job that was admitted, has no copy, and does not say why', () => {
    expect(found(aJob())).toEqual(['jobs_managed: it was admitted to cluster eu-1, has no copy there, and does not say why']);
  });
});
