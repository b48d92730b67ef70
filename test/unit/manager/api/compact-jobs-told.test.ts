/** Goal: whatever people and programs are told of a Job, they are told it from the caches of a manager as from the Job itself. */
import { describe, expect, test } from 'vitest';
import { runFactsOf, runOf } from '../../../../manager/insight/estimate/run-times.ts';
import { compactJob } from '../../../../manager/work-kind/job/compact-job.ts';
import { writtenRecordOf, type AdmissionRecord } from '../../../../manager/api/records.ts';
import { jobLine } from '../../../../manager/dashboard/job-line.ts';
import { jobView } from '../../../../manager/dashboard/job-view.ts';
import { historyRecord } from '../../../../manager/history/history-record.ts';
import { jobSpans } from '../../../../manager/story/job-spans.ts';
import { storyEvents } from '../../../../manager/story/story-events.ts';
import { outcomeOf, submissionOf } from '../../../../manager/submission/outcome.ts';
import type { DeepReadonly, Job, OwnerReference } from '../../../../shared/api/kubernetes.ts';
import {
  CREATED_BY_ANNOTATION,
  LAST_FAILURE_ANNOTATION,
  PRIORITY_CLASS_LABEL,
  QUEUE_NAME_LABEL,
  SUBMISSION_ANNOTATION,
  SUBMITTED_AT_ANNOTATION,
  TRACE_ID_ANNOTATION,
  TRACEPARENT_ANNOTATION,
} from '../../../../shared/api/names.ts';
import { aCondition, aHomeJob, anAdmittedJob } from '../../../support/jobs.ts';
import { aLine } from '../dashboard/lines.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const recordOf = (job: DeepReadonly<Job>): AdmissionRecord | undefined => {
  const written = writtenRecordOf(job);
  return written.kind === 'Record' ? written.record : undefined;
};

describe('of a compact Job is told what would be told of the whole', () => {
  const NOW_MS = Date.parse('2026-01-01T01:00:00Z');
  const over = anAdmittedJob({
    metadata: {
      generateName: 'sum-',
      labels: { [QUEUE_NAME_LABEL]: 'main', [PRIORITY_CLASS_LABEL]: 'high' },
      annotations: {
        ...anAdmittedJob().metadata.annotations,
        [CREATED_BY_ANNOTATION]: 'ann',
        [LAST_FAILURE_ANNOTATION]: '{"pod":"a","phase":"Failed","exitCode":3}',
        [SUBMISSION_ANNOTATION]: '7',
        [SUBMITTED_AT_ANNOTATION]: '1767225600000',
        [TRACE_ID_ANNOTATION]: 'ab'.repeat(16),
        [TRACEPARENT_ANNOTATION]: `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`,
      },
    },
    spec: { completions: 3, completionMode: 'Indexed', activeDeadlineSeconds: 600, backoffLimit: 2, ttlSecondsAfterFinished: 60 },
    status: {
      startTime: '2026-01-01T00:00:10Z',
      succeeded: 2,
      failed: 1,
      completedIndexes: '0,2',
      failedIndexes: '1',
      conditions: [
        aCondition('Failed', { reason: 'BackoffLimitExceeded', message: 'it failed', lastTransitionTime: '2026-01-01T00:01:00Z' }),
      ],
    },
  });
  const waiting = aHomeJob({
    metadata: { ...over.metadata, annotations: { [SUBMISSION_ANNOTATION]: '7', [CREATED_BY_ANNOTATION]: 'ann' } },
  });
  const controller = { apiVersion: 'batch/v1', kind: 'CronJob', name: 'nightly', uid: 'c', controller: true };
  const other = { apiVersion: 'v1', kind: 'ConfigMap', name: 'settings', uid: 's' };
  const owned = (...ownerReferences: OwnerReference[]): Job => ({ ...over, metadata: { ...over.metadata, ownerReferences } });
  const seen = (job: DeepReadonly<Job>) => ({ kind: JOB_KIND, job, record: recordOf(job) });
  const instants = { began: (_: string, ms: number) => ms, ended: (_: string, ms: number) => ms };
  const tellers: Record<string, (job: DeepReadonly<Job>) => unknown> = {
    'its history': (job) => historyRecord(job, recordOf(job), { kind: JOB_KIND, namespace: undefined, nowMs: NOW_MS }),
    'how long it ran, and its like': (job) => runOf(JOB_KIND, job, recordOf(job)),
    'how long it may run': (job) => [runFactsOf(JOB_KIND, job).family, runFactsOf(JOB_KIND, job).longestMs(recordOf(job))],
    'its line': (job) => jobLine(job, JOB_KIND),
    'its page': (job) => jobView(job, aLine({ key: 'team/sum' }), JOB_KIND, [], 'https://traces.example/{traceId}'),
    'its outcome': (job) => outcomeOf(JOB_KIND, job),
    'its submission': submissionOf,
    'its story': (job) => storyEvents(seen(aHomeJob()), seen(job)),
    'its trace': (job) => jobSpans(seen(aHomeJob()), seen(job), 1, instants),
  };
  test.each(Object.entries(tellers))('%s', (_, told) => {
    for (const job of [over, waiting, owned(controller), owned(other, controller)]) expect(told(compactJob(job))).toEqual(told(job));
  });
});
