import { expect, test } from 'vitest';
import { essentialsOfAny, restoreLabels } from '../../../../../manager/dispatch/listing/copies-by-template.ts';
import { copyIdentity } from '../../../../../manager/work-kind/copy-marks.ts';
import { remoteJob } from '../../../../../manager/work-kind/job/copy/remote-job.ts';
import type { Job, WorkObject } from '../../../../../shared/api/kubernetes.ts';
import { silentLogger } from '../../../../../shared/runtime/logger.ts';
import { anAdmittedJob } from '../../../../support/jobs.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

const JOB = anAdmittedJob({ metadata: { name: 'sum', uid: 'u1' } });
/** The copy, without marks where it says no others. */
function copy({ local = false, metadata = {} }: { readonly local?: boolean; readonly metadata?: Partial<Job['metadata']> } = {}): Job {
  const made = remoteJob(JOB, { origin: 'm1', epoch: 2, jobController: 'x/y', local, flavors: [] });
  const { namespace = 'team', name = '' } = made.metadata;
  return { ...made, metadata: { namespace, name, uid: 'c', resourceVersion: '1', creationTimestamp: '', ...metadata }, status: {} } as Job;
}
const identityOf = (job: Job, local = false) => copyIdentity(essentialsOfAny(JOB_KIND, job, 'm1', local));

test('a copy without its marks is known by its pod template, beside its original as well', () => {
  expect(identityOf(copy())).toMatchObject({ originUid: 'u1', epoch: 2, localKey: { name: 'sum' } });
  expect(identityOf(copy({ local: true }), true)).toMatchObject({ originUid: 'u1', epoch: 2, localKey: { name: 'sum' } });
});

test.each([
  ['under another name, as a user makes one of the manifest of a copy', copy({ metadata: { name: 'sum-again' } })],
  ['in another namespace', copy({ metadata: { namespace: 'other' } })],
])('a Job with the template of a copy %s is none', (_, job) => {
  expect(identityOf(job)).toBeUndefined();
});

test('a copy of another manager is none of this one', () => {
  expect(copyIdentity(essentialsOfAny(JOB_KIND, copy(), 'm2', false))).toBeUndefined();
});

test('the copies that lack their label are marked, and one that cannot be keeps no other waiting', async () => {
  const listed = copy({ metadata: { name: 'listed', labels: { 'switchyard.dev/origin': 'm1' } } });
  const refusing = copy({ metadata: { uid: 'refusing' } });
  const marked: unknown[] = [];
  const known: string[] = [];
  const cluster = {
    name: 'eu-1',
    wrote: (key: string) => void known.push(key),
    writer: {
      mark: (job: WorkObject, marks: object) => {
        if (job.metadata.uid === 'refusing') return Promise.reject(new Error('conflict'));
        marked.push([job.metadata.name, marks]);
        return Promise.resolve(job);
      },
    },
  };
  await restoreLabels(cluster, [listed, refusing, copy()], 'm1', silentLogger);
  expect(known).toHaveLength(1);
  expect(marked).toEqual([['sum', { labels: { 'switchyard.dev/origin': 'm1' }, annotations: expect.any(Object) }]]);
});
