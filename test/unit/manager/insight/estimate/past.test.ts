import { expect, test } from 'vitest';
import { pastOf } from '../../../../../manager/insight/estimate/past.ts';
import { formatAdmissionRecord } from '../../../../../manager/api/records.ts';
import type { Job } from '../../../../../shared/api/kubernetes.ts';
import { ADMISSION_ANNOTATION } from '../../../../../shared/api/names.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

const SINCE = '2026-01-01T00:00:00Z';
const aJob = (name: string, minutes: number | undefined, recorded = true): Job => {
  const record = { clusterQueue: 'main', cluster: 'eu', flavors: {}, epoch: 1, since: SINCE, requests: { cpu: '1' } };
  const text = formatAdmissionRecord(record, { written: SINCE, seal: 'x' });
  const lastTransitionTime = new Date(Date.parse(SINCE) + (minutes ?? 0) * 60_000).toISOString();
  return {
    metadata: { name, namespace: 'team', annotations: recorded ? { [ADMISSION_ANNOTATION]: text } : {} },
    spec: { activeDeadlineSeconds: 60 },
    status: minutes === undefined ? {} : { conditions: [{ type: 'Complete', status: 'True', lastTransitionTime }] },
  } as unknown as Job;
};

test('Jobs that have ended and are still there tell of run times, those without a record do not', () => {
  const { runTimes } = pastOf(JOB_KIND, [aJob('a', 2), aJob('runs', undefined), aJob('b', 1), aJob('other', 9, false)]);
  expect(runTimes.of('main', '')?.runs.map(({ ranMs }) => ranMs)).toEqual([60_000, 120_000]);
});

test('of each Job is known how long it may run; of others nothing', () => {
  const { factsOf } = pastOf(JOB_KIND, [aJob('a-1', undefined)]);
  expect(factsOf('team/a-1')).toMatchObject({ family: 'team/a' });
  expect(factsOf('team/a-1')?.longestMs(undefined)).toBe(60_000);
  expect(factsOf('team/b')).toBeUndefined();
});
