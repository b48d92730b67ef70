import type { CronJob, CronJobSpec, CronJobStatus, Job } from '../../../../../../shared/api/kubernetes.ts';

/** A CronJob as the server stores it, created at the beginning of 2026. */
export const aCronJob = (
  schedule: string,
  spec: Partial<CronJobSpec> = {},
  status: CronJobStatus = {},
  createdAt = '2026-01-01T00:00:00Z',
): CronJob => ({
  metadata: { name: 'tick', namespace: 'ns', uid: 'u', resourceVersion: '1', creationTimestamp: createdAt },
  spec: { schedule, concurrencyPolicy: 'Allow', jobTemplate: { spec: { template: {} } }, ...spec },
  status,
});

export const aJob = (name: string, end?: 'Complete' | 'Failed', status: Partial<Job['status']> = {}): Job => ({
  metadata: { name, namespace: 'ns', uid: `uid of ${name}`, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { template: {} },
  status: { ...status, ...(end === undefined ? {} : { conditions: [{ type: end, status: 'True' }] }) },
});

export const reference = (name: string) => ({ kind: 'Job', apiVersion: 'batch/v1', namespace: 'ns', name, uid: `uid of ${name}` });
