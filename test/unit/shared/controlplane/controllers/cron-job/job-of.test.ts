import { expect, test } from 'vitest';
import { jobOf } from '../../../../../../shared/controlplane/controllers/cron-job/job-of.ts';
import { findTimeZone, UTC } from '../../../../../../shared/controlplane/kinds/time-zone.ts';
import { aCronJob } from './a-cron-job.ts';

test('a Job has the labels, annotations and spec of the template, its CronJob as controller, and the time it was due, in its zone', () => {
  const spec = { parallelism: 2, template: { spec: { restartPolicy: 'Never', containers: [] } } };
  const metadata = { labels: { team: 'blue' }, annotations: { note: 'nightly' } };
  const cronJob = aCronJob('@hourly', { jobTemplate: { metadata, spec } });
  expect(jobOf(cronJob, Date.parse('2026-01-01T05:00:00Z'), findTimeZone('Asia/Kolkata') ?? UTC)).toEqual({
    metadata: {
      name: 'tick-29454060',
      namespace: 'ns',
      labels: { team: 'blue' },
      annotations: { note: 'nightly', 'batch.kubernetes.io/cronjob-scheduled-timestamp': '2026-01-01T10:30:00+05:30' },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name: 'tick', uid: 'u', controller: true, blockOwnerDeletion: true }],
    },
    spec,
  });
});
