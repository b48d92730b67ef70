import { describe, expect, test } from 'vitest';
import type { AdmissionRecord } from '../../../../../manager/api/records.ts';
import type { Copy } from '../../../../../manager/dispatch/mirror/mirror-group.ts';
import { isInPlace } from '../../../../../manager/dispatch/mirror/in-place.ts';
import { remoteJob } from '../../../../../manager/work-kind/job/copy/remote-job.ts';
import type { Job } from '../../../../../shared/api/kubernetes.ts';
import { anAdmittedJob } from '../../../../support/jobs.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

const JOB = anAdmittedJob({ metadata: { name: 'sum', uid: 'u1' } });
const record = (parts: Partial<AdmissionRecord> = {}): AdmissionRecord => ({
  clusterQueue: 'q',
  flavors: {},
  cluster: 'eu-1',
  epoch: 2,
  since: '2026-01-01T00:00:00Z',
  requests: {},
  ...parts,
});
function copy(epoch = 2, parts: { readonly suspend?: boolean; readonly status?: Job['status'] } = {}): Copy {
  const made = remoteJob(JOB, { origin: 'm1', epoch, jobController: 'x/y', local: false, flavors: [] });
  const metadata = { ...made.metadata, name: 'sum', namespace: 'team', uid: 'c', resourceVersion: '1', creationTimestamp: '' };
  const job = { ...made, metadata, spec: { ...made.spec, suspend: parts.suspend ?? false }, status: parts.status ?? { active: 1 } };
  return { cluster: 'eu-1', job, deleting: false };
}
const STOPPED = anAdmittedJob({ metadata: { name: 'sum', uid: 'u1' }, spec: { ...JOB.spec, suspend: true } });
const VERDICT: Job['status'] = { active: 1, conditions: [{ type: 'FailureTarget', status: 'True' }] };
const RESTS: Job['status'] = { active: 0, conditions: [{ type: 'Suspended', status: 'True' }] };

describe('a copy that a worker would set going again', () => {
  test.each([
    ['is in place when the record of its Job names it', copy(), JOB, record(), 'eu-1', true],
    ['is in place while its Job has been evicted there, and stops', copy(), JOB, record({ evicted: true }), 'eu-1', true],
    ['is not while its Job is suspended, and it has not heard of that', copy(), STOPPED, record(), 'eu-1', false],
    ['is in place once it has heard of that, though its pods still stop', copy(2, { suspend: true }), STOPPED, record(), 'eu-1', true],
    [
      'is in place where it has come to its verdict, and may not be suspended',
      copy(2, { status: VERDICT }),
      STOPPED,
      record(),
      'eu-1',
      true,
    ],
    ['is not when it is of an earlier placement', copy(1), JOB, record(), 'eu-1', false],
    ['is not when it is of a later one, which our cache does not know', copy(3), JOB, record(), 'eu-1', false],
    ['is not when its Job is recorded elsewhere', copy(), JOB, record({ cluster: 'us-2' }), 'us-2', false],
    ['is not when no cluster is the recorded one', copy(), JOB, record(), undefined, false],
    ['is not when its Job is gone', copy(), undefined, undefined, undefined, false],
    [
      'is not when its Job is another of that name',
      copy(),
      anAdmittedJob({ metadata: { name: 'sum', uid: 'u2' } }),
      record(),
      'eu-1',
      false,
    ],
    ['is not when its Job was never admitted', copy(), JOB, undefined, undefined, false],
    ['is in nobody’s way when it was told to rest, and does', copy(1, { suspend: true, status: RESTS }), JOB, record(), 'eu-1', true],
    ['is in the way while it was told to rest, and does not yet', copy(1, { suspend: true }), JOB, record(), 'eu-1', false],
    ['is in the way when it rests only because it is fenced', copy(1, { status: RESTS }), JOB, record(), 'eu-1', false],
  ])('%s', (_what, each, local, recorded, place, expected) => {
    expect(isInPlace(JOB_KIND, each, local, recorded, place)).toBe(expected);
  });

  test('is nobody’s, and in nobody’s way, when it does not say whose it is', () => {
    const { job, ...rest } = copy();
    const damaged = { ...rest, job: { ...job, metadata: { ...job.metadata, annotations: {} }, spec: { template: {} } } };
    expect(isInPlace(JOB_KIND, damaged, undefined, undefined, undefined)).toBe(true);
  });
});
