import { describe, expect, test } from 'vitest';
import { hasEnded, jobLine, namespaceOf } from '../../../../manager/dashboard/job-line.ts';
import type { JobLine } from '../../../../manager/dashboard/views.ts';
import { formatAdmissionRecord } from '../../../../manager/api/records.ts';
import type { Job, JobCondition } from '../../../../shared/api/kubernetes.ts';
import { ADMISSION_ANNOTATION, CANARY_LABEL, HOLD_ANNOTATION, SHORT_OF_ANNOTATION } from '../../../../shared/api/names.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';
import { aHomeJob, aRecord, type JobParts } from '../../../support/jobs.ts';

const condition = (type: string, status: string, reason: string, message = ''): JobCondition =>
  ({ type, status, reason, message, lastTransitionTime: '2026-01-01T00:05:00Z' }) as unknown as JobCondition;
const admitted = (parts: JobParts = {}, record = {}): Job =>
  aHomeJob({
    ...parts,
    metadata: {
      annotations: {
        [ADMISSION_ANNOTATION]: formatAdmissionRecord(aRecord({ cluster: 'east', ...record }), {
          written: '2026-01-01T00:00:01.000Z',
          seal: 's',
        }),
      },
      ...parts.metadata,
    },
    spec: { suspend: false, ...parts.spec },
  });
const stateOf = (job: Job): string | undefined => jobLine(job, JOB_KIND)?.state;

const waitsFor = (reason: string, shortOf?: string): JobLine | undefined =>
  jobLine(
    aHomeJob({
      metadata: { annotations: shortOf === undefined ? {} : { [SHORT_OF_ANNOTATION]: shortOf } },
      status: { conditions: [condition('QuotaReserved', 'False', reason, 'words for people: short of 7 lamps')] },
    }),
    JOB_KIND,
  );

describe('a Job as a line', () => {
  test('that waits tells in few words for what, the same for all that wait for the same', () => {
    expect(waitsFor('InsufficientQuota', 'cpu')?.cause).toBe('short of cpu');
    expect(waitsFor('InsufficientQuota', 'cpu,memory')?.cause).toBe('short of cpu and memory');
    expect(waitsFor('NoClusterFits', 'nvidia.com/gpu')?.cause).toBe('short of nvidia.com/gpu');
    expect(waitsFor('NoClusterFits')?.cause).toBe('no cluster takes it');
    // Told by a manager of an earlier version, or by no manager at all.
    expect(waitsFor('InsufficientQuota')?.cause).toBe('short of quota');
    expect(waitsFor('InsufficientQuota', 'a lot')?.cause).toBe('short of quota');
    expect(waitsFor('BehindEarlierJob', 'cpu')?.cause).toBe('behind an earlier Job');
    expect(waitsFor('BehindEarlierJob')?.cause).toBe('behind an earlier Job');
    expect(waitsFor('LocalQueueNotFound')?.cause).toBe('local queue not found');
    expect(jobLine(aHomeJob(), JOB_KIND)?.cause).toBe('not tried yet');
    expect(jobLine(aHomeJob({ metadata: { annotations: { [HOLD_ANNOTATION]: 'true' } } }), JOB_KIND)?.cause).toBe('held');
    expect(jobLine(admitted(), JOB_KIND)?.cause).toBeUndefined();
  });

  test('says of a Job larger than all there is that it can never run, and of no other', () => {
    expect(waitsFor('ExceedsQuota')).toMatchObject({ state: 'NeverFits', cause: 'more than its quota' });
    expect(waitsFor('NoMatchingFlavor')?.state).toBe('NeverFits');
    expect(waitsFor('ExceedsNodes')).toMatchObject({ state: 'NeverFits', cause: 'larger than any node' });
    // A cluster that is closed now may be large enough.
    expect(waitsFor('NoClusterFits')?.state).toBe('Waiting');
  });

  test('is marked as a canary by its label and its name, not by one of them', () => {
    const named = (name: string, labels: Record<string, string>): true | undefined =>
      jobLine(aHomeJob({ metadata: { name, labels } }), JOB_KIND)?.canary;
    expect(named('switchyard-canary-east', { [CANARY_LABEL]: 'true' })).toBe(true);
    expect(named('switchyard-canary-east', {})).toBeUndefined();
    expect(named('train', { [CANARY_LABEL]: 'true' })).toBeUndefined();
  });

  test('that waits has the reason and the words of its condition, cut off where they are many', () => {
    const waiting = aHomeJob({ status: { conditions: [condition('QuotaReserved', 'False', 'InsufficientQuota', 'x'.repeat(500))] } });
    const line = jobLine(waiting, JOB_KIND);
    expect(line).toMatchObject({ key: 'team/sum', state: 'Waiting', reason: 'InsufficientQuota', queue: 'main', completions: 1 });
    expect(line?.why).toHaveLength(240);
    expect(namespaceOf(line ?? { key: '' })).toBe('team');
  });

  test('is none where the Job is not the manager’s', () => {
    expect(jobLine(aHomeJob({ spec: { managedBy: 'kubernetes.io/job-controller' } }), JOB_KIND)).toBeUndefined();
  });

  test('goes from waiting by dispatching and running to its end', () => {
    expect(stateOf(aHomeJob())).toBe('Waiting');
    expect(stateOf(admitted())).toBe('Dispatching');
    expect(stateOf(admitted({ status: { active: 2 } }))).toBe('Running');
    const complete = jobLine(
      admitted({ status: { succeeded: 1, completionTime: '2026-01-01T00:09:00Z', conditions: [condition('Complete', 'True', 'Done')] } }),
      JOB_KIND,
    );
    expect(complete).toMatchObject({ state: 'Complete', endedMs: Date.parse('2026-01-01T00:09:00Z'), cluster: 'east' });
    expect(complete?.why).toBeUndefined();
    expect(hasEnded(complete ?? { state: 'Waiting' })).toBe(true);
    const failed = jobLine(
      admitted({ status: { conditions: [condition('Failed', 'True', 'PodFailurePolicy', 'exit code 42')] } }),
      JOB_KIND,
    );
    expect(failed).toMatchObject({ state: 'Failed', reason: 'PodFailurePolicy', why: 'exit code 42' });
  });

  test('rests while something of an evicted Job is still there, and waits or is held afterwards', () => {
    const evicted = (status: JobParts['status'], annotations: Record<string, string> = {}): Job => {
      const job = admitted({ spec: { suspend: true }, ...(status && { status }) }, { evicted: true });
      return { ...job, metadata: { ...job.metadata, annotations: { ...job.metadata.annotations, ...annotations } } };
    };
    const atRest = [condition('Dispatched', 'False', 'AtRest')];
    expect(stateOf(evicted({ active: 1, conditions: atRest }))).toBe('Resting');
    expect(stateOf(evicted({}))).toBe('Resting');
    expect(stateOf(evicted({ conditions: atRest }))).toBe('Waiting');
    expect(stateOf(evicted({ conditions: atRest }, { [HOLD_ANNOTATION]: 'true' }))).toBe('Held');
  });

  test('takes nonsense in a record for no record', () => {
    expect(stateOf(aHomeJob({ metadata: { annotations: { [ADMISSION_ANNOTATION]: '{"cluster": 7}' } } }))).toBe('Waiting');
  });
});
