/** Jobs for tests: a small valid one, to be varied. */
import type { Job, JobCondition, JobSpec, JobStatus } from '../../shared/api/kubernetes.ts';
import { ADMISSION_ANNOTATION, MANAGER_CONTROLLER_NAME, QUEUE_NAME_LABEL } from '../../shared/api/names.ts';
import { formatRequests } from '../../manager/api/job-requests.ts';
import { createRecordKeeper } from '../../manager/api/record-keeper.ts';
import { sealRecord, type RecordKeys } from '../../manager/api/record-seal.ts';
import type { AdmissionRecord, ParsedRecord } from '../../manager/api/records.ts';
import { atRestMessage } from '../../manager/api/rest-proof.ts';
import { JOB_KIND } from '../../manager/work-kind/job/job-kind.ts';
import { requestsOf } from '../../manager/work-kind/pod-sets.ts';

export type JobParts = {
  readonly metadata?: Partial<Job['metadata']>;
  readonly spec?: Partial<JobSpec>;
  readonly status?: JobStatus;
};

/** A Job of the manager cluster as its API server stores it: not admitted, suspended. */
export function aHomeJob(parts: JobParts = {}): Job {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: 'sum',
      namespace: 'team',
      uid: 'uid-home-1',
      resourceVersion: '10',
      creationTimestamp: '2026-01-01T00:00:00Z',
      generation: 1,
      labels: { [QUEUE_NAME_LABEL]: 'main' },
      ...parts.metadata,
    },
    spec: {
      parallelism: 1,
      completions: 1,
      completionMode: 'NonIndexed',
      backoffLimit: 6,
      suspend: true,
      manualSelector: false,
      podReplacementPolicy: 'TerminatingOrFailed',
      managedBy: MANAGER_CONTROLLER_NAME,
      selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'uid-home-1' } },
      template: {
        metadata: {
          labels: {
            app: 'sum',
            'controller-uid': 'uid-home-1',
            'batch.kubernetes.io/controller-uid': 'uid-home-1',
            'job-name': 'sum',
            'batch.kubernetes.io/job-name': 'sum',
          },
        },
        spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox', command: ['true'] }] },
      },
      ...parts.spec,
    },
    status: parts.status ?? {},
  };
}

export const aRecord = (parts: Partial<AdmissionRecord> = {}): AdmissionRecord => ({
  clusterQueue: 'cq',
  flavors: {},
  cluster: 'eu-1',
  epoch: 1,
  since: '2026-01-01T00:00:00Z',
  requests: { pods: '1' },
  ...parts,
});

/** The keys of the managers in tests that write records themselves. */
export const TEST_RECORD_KEYS = { current: Buffer.alloc(32, 'k'), others: [] } satisfies RecordKeys;

/** The text of a record that such a manager has made for a Job. */
export const sealedFor = (job: Job, record: Partial<AdmissionRecord> = {}, written = '2026-01-01T00:00:00.000Z'): string =>
  sealRecord(TEST_RECORD_KEYS, job.metadata, aRecord(record), written);

/** What such a manager reads on a Job that it sees for the first time. */
export const recordOn = (job: Job): ParsedRecord => createRecordKeeper(TEST_RECORD_KEYS, JOB_KIND).read(job);

/** The same Job after admission: recorded with what it asks for, not suspended. */
export function anAdmittedJob(parts: JobParts = {}, record: Partial<AdmissionRecord> = {}): Job {
  const job = aHomeJob({ ...parts, spec: { suspend: false, ...parts.spec } });
  const requests = formatRequests(requestsOf(JOB_KIND.podSets(job)).requests);
  const annotations = { ...job.metadata.annotations, [ADMISSION_ANNOTATION]: sealedFor(job, { requests, ...record }) };
  return { ...job, metadata: { ...job.metadata, annotations } };
}

export const aCondition = (type: string, parts: Partial<JobCondition> = {}): JobCondition => ({
  type,
  status: 'True',
  reason: 'Reason',
  message: 'message',
  lastProbeTime: '2026-01-01T00:01:00Z',
  lastTransitionTime: '2026-01-01T00:01:00Z',
  ...parts,
});

/** What dispatch says of a suspended Job once nothing of this admission runs. */
export const restingAfter = (record: Partial<AdmissionRecord> = {}): JobCondition =>
  aCondition('Dispatched', { status: 'False', reason: 'AtRest', message: atRestMessage(aRecord(record)) });
