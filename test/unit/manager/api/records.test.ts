import { describe, expect, test } from 'vitest';
import { activeAdmission, formatAdmissionRecord, parseAdmissionRecord, writtenRecordOf } from '../../../../manager/api/records.ts';
import { aHomeJob, anAdmittedJob, aRecord } from '../../../support/jobs.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const STAMP = { written: '2026-01-01T00:00:00.500Z', seal: 'abc' };
const AVOID = { 'us-1': { until: '2026-01-01T00:01:00Z', reason: 'a Job of this name is there', refusals: 2, epoch: 3 } };
const text = (parts: object): string => JSON.stringify({ ...aRecord(), ...STAMP, ...parts });

describe('the admission record', () => {
  test('is read as it was written, and written the same whatever the order of its fields', () => {
    const record = aRecord({
      flavors: { memory: 'default', cpu: 'spot' },
      requests: { pods: '2', cpu: '500m' },
      clusterUID: 'uid-eu',
      epoch: 4,
      charged: { credits: '40', pods: '4' },
      podSets: [
        { name: 'head', flavors: { cpu: 'spot' }, requests: { cpu: '1', pods: '1' } },
        { name: 'workers', flavors: { cpu: 'default' }, requests: { cpu: '3', pods: '3' }, charged: { credits: '30' }, count: 3 },
      ],
      parallelism: 4,
      executedSeconds: 90,
      pastAdmissions: [{ cluster: 'us-1', since: '2025-12-31T23:00:00Z', until: '2025-12-31T23:01:30Z' }],
      evicted: true,
      preempted: { by: 'team/other', clusterQueue: 'cq', rule: 'InClusterQueue' },
      checks: ['budget'],
      carry: ['ConfigMaps', 'Secrets'],
      carryContent: 'Admitted',
      queuedSince: '2026-01-01T00:05:00Z',
      avoid: AVOID,
    });
    expect(parseAdmissionRecord(formatAdmissionRecord(record, STAMP))).toEqual({ kind: 'Record', record, stamp: STAMP });
    const other = { ...record, flavors: { cpu: 'spot', memory: 'default' }, requests: { cpu: '500m', pods: '2' } };
    expect(formatAdmissionRecord(other)).toBe(formatAdmissionRecord(record));
  });

  test('past admissions that nobody can read are left out, and so are more than are ever written', () => {
    const past = { cluster: 'us-1', since: '2025-12-31T23:00:00Z', until: '2025-12-31T23:01:30Z' };
    const read = (pastAdmissions: unknown) => {
      const parsed = parseAdmissionRecord(text({ pastAdmissions }));
      return parsed.kind === 'Record' ? parsed.record.pastAdmissions : parsed;
    };
    expect(read([past, { ...past, until: 'x' }, { ...past, cluster: '' }, 7])).toEqual([past]);
    expect(read(Array.from({ length: 100 }, () => past))).toHaveLength(8);
    for (const none of [[], 'x', {}, [7]]) expect(read(none)).toBeUndefined();
  });

  test.each([
    ['{', 'it is not a JSON object'],
    ['[]', 'it is not a JSON object'],
    [text({ clusterQueue: '' }), 'clusterQueue must be a non-empty string'],
    [text({ flavors: ['x'] }), 'each value of flavors must be a non-empty string'],
    [text({ flavors: { cpu: 1 } }), 'flavors.cpu must be a non-empty string'],
    [text({ cluster: null }), 'cluster must be a non-empty string'],
    [text({ clusterUID: '' }), 'clusterUID must be a non-empty string or absent'],
    [text({ epoch: 0 }), 'epoch must be a positive integer'],
    [text({ epoch: '1' }), 'epoch must be a positive integer'],
    [text({ since: 'yesterday' }), 'since must be an RFC 3339 time'],
    [text({ requests: undefined }), 'each value of requests must be a quantity'],
    [text({ requests: { cpu: 1 } }), 'requests.cpu must be a quantity'],
    [text({ charged: { credits: 3 } }), 'charged.credits must be a quantity'],
    [
      text({ podSets: [{ name: 'workers', flavors: {}, requests: {}, count: 0 }] }),
      'podSets must be a list of pod sets with name, flavors and requests, or absent',
    ],
    [text({ parallelism: 0 }), 'parallelism must be a positive integer or absent'],
    [text({ executedSeconds: 0 }), 'executedSeconds must be a positive integer or absent'],
    [text({ evicted: false }), 'evicted must be true or absent'],
    [text({ preempted: { by: 'team/other' } }), 'preempted must have by, clusterQueue and rule'],
    [text({ checks: 'budget' }), 'checks must be a list of names or absent'],
    [text({ carry: ['Pods'] }), 'carry must be a list of ConfigMaps and Secrets or absent'],
    [text({ carryContent: 'Current' }), 'carryContent must be Admitted or absent'],
    [text({ queuedSince: 'later' }), 'queuedSince must be an RFC 3339 time or absent'],
    [text({ avoid: { 'us-1': {} } }), 'avoid must be an object of clusters with until, reason, refusals and epoch'],
    [
      text({ avoid: { 'us-1': { ...AVOID['us-1'], refusals: 0 } } }),
      'avoid must be an object of clusters with until, reason, refusals and epoch',
    ],
    [text({ written: '' }), 'written must be an RFC 3339 time'],
    [text({ seal: undefined }), 'it has no seal'],
  ])('%s is refused with what is wrong', (written, problem) => {
    expect(parseAdmissionRecord(written)).toEqual({ kind: 'Invalid', problem: `annotation switchyard.dev/admission: ${problem}` });
  });

  test('counts as an active admission only while the Job is not suspended', () => {
    expect(writtenRecordOf(aHomeJob())).toEqual({ kind: 'None' });
    expect(activeAdmission(anAdmittedJob(), JOB_KIND)).toEqual(aRecord());
    expect(activeAdmission(anAdmittedJob({ spec: { suspend: true } }), JOB_KIND)).toBeUndefined();
  });
});
