import type { CronJob, DeepReadonly, Job, JobSpec, Unsaved } from '../../../api/kubernetes.ts';
import { apiVersionOf, CRON_JOBS } from '../../../api/resources.ts';
import type { TimeZone } from '../../kinds/time-zone.ts';
import { jobName } from './decide-start.ts';

const SCHEDULED_TIMESTAMP = 'batch.kubernetes.io/cronjob-scheduled-timestamp';

/** The Job that a CronJob starts for a time of its schedule. */
export function jobOf({ metadata, spec }: DeepReadonly<CronJob>, scheduledMs: number, zone: TimeZone): Unsaved<Job> {
  const { metadata: template, spec: jobSpec } = spec.jobTemplate;
  return {
    metadata: {
      name: jobName(metadata.name, scheduledMs),
      namespace: metadata.namespace,
      labels: { ...template?.labels },
      annotations: { ...template?.annotations, [SCHEDULED_TIMESTAMP]: zone.format(scheduledMs) },
      ownerReferences: [
        {
          apiVersion: apiVersionOf(CRON_JOBS),
          kind: CRON_JOBS.kind,
          name: metadata.name,
          uid: metadata.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    // Only sent: nobody writes to it.
    spec: (jobSpec ?? {}) as JobSpec,
  };
}
