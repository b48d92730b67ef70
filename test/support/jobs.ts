/** Jobs for tests: a small valid one, to be varied. */
import type { Job, JobCondition, JobSpec, JobStatus } from '../../shared/api/kubernetes.ts';
import { ADMISSION_ANNOTATION, MANAGER_CONTROLLER_NAME, QUEUE_NAME_LABEL } from '../../shared/api/names.ts';
import { formatAdmissionRecord, type AdmissionRecord } from '../../manager/api/records.ts';

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
  ...parts,
});

/** The same Job after admission: recorded, not suspended. */
export function anAdmittedJob(parts: JobParts = {}, record: Partial<AdmissionRecord> = {}): Job {
  return aHomeJob({
    ...parts,
    metadata: {
      ...parts.metadata,
      annotations: { ...parts.metadata?.annotations, [ADMISSION_ANNOTATION]: formatAdmissionRecord(aRecord(record)) },
    },
    spec: { suspend: false, ...parts.spec },
  });
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
