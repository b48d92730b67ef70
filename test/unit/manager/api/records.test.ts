import { describe, expect, test } from 'vitest';
import { activeAdmission, admissionRecordOf, formatAdmissionRecord, parseAdmissionRecord } from '../../../../manager/api/records.ts';
import { aHomeJob, anAdmittedJob, aRecord } from '../../../support/jobs.ts';

describe('the admission record', () => {
  test('is read as it was written, and written the same whatever the order of its flavors', () => {
    const record = aRecord({ flavors: { memory: 'default', cpu: 'spot' }, epoch: 4 });
    expect(parseAdmissionRecord(formatAdmissionRecord(record))).toEqual({ kind: 'Record', record });
    expect(formatAdmissionRecord({ ...record, flavors: { cpu: 'spot', memory: 'default' } })).toBe(formatAdmissionRecord(record));
  });

  test.each([
    ['{', 'it is not a JSON object'],
    ['[]', 'it is not a JSON object'],
    [JSON.stringify({ ...aRecord(), clusterQueue: '' }), 'clusterQueue must be a non-empty string'],
    [JSON.stringify({ ...aRecord(), flavors: ['x'] }), 'flavors must be an object'],
    [JSON.stringify({ ...aRecord(), flavors: { cpu: 1 } }), 'flavors.cpu must be a non-empty string'],
    [JSON.stringify({ ...aRecord(), cluster: null }), 'cluster must be a non-empty string'],
    [JSON.stringify({ ...aRecord(), epoch: 0 }), 'epoch must be a positive integer'],
    [JSON.stringify({ ...aRecord(), epoch: '1' }), 'epoch must be a positive integer'],
    [JSON.stringify({ ...aRecord(), since: 'yesterday' }), 'since must be an RFC 3339 time'],
  ])('%s is refused with what is wrong', (text, problem) => {
    expect(parseAdmissionRecord(text)).toEqual({ kind: 'Invalid', problem: `annotation switchyard.dev/admission: ${problem}` });
  });

  test('counts as an active admission only while the Job is not suspended', () => {
    expect(admissionRecordOf(aHomeJob())).toEqual({ kind: 'None' });
    expect(activeAdmission(anAdmittedJob())).toEqual(aRecord());
    expect(activeAdmission(anAdmittedJob({ spec: { suspend: true } }))).toBeUndefined();
  });
});
