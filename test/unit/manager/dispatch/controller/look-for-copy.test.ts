import { beforeEach, describe, expect, test } from 'vitest';
import { isListed } from '../../../../../manager/work-kind/copy-marks.ts';
import { createUnansweredWrites, type UnansweredWrites } from '../../../../../manager/dispatch/mirror/unanswered-writes.ts';
import { lookForCopy, unlistedMarks, type Found } from '../../../../../manager/dispatch/controller/look-for-copy.ts';
import type { RemoteCluster } from '../../../../../manager/dispatch/connection/remote-cluster-contract.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';
import { remoteJob } from '../../../../../manager/work-kind/job/copy/remote-job.ts';
import type { Job } from '../../../../../shared/api/kubernetes.ts';
import { ORIGIN_LABEL } from '../../../../../shared/api/names.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { anAdmittedJob } from '../../../../support/jobs.ts';

const KEY = 'team/sum';
const LOCAL = anAdmittedJob();
const SENT = remoteJob(LOCAL, { origin: 'm1', epoch: 3, jobController: 'switchyard.dev/worker', local: false, flavors: [] });
const COPY: Job = {
  ...SENT,
  status: {},
  metadata: {
    ...SENT.metadata,
    name: 'sum',
    namespace: 'team',
    uid: 'copy',
    resourceVersion: '5',
    creationTimestamp: '2026-01-01T00:00:00Z',
  },
};
type Metadata = Partial<Job['metadata']>;
const copyWith = (metadata: Metadata, job: Job = COPY): Job => ({ ...job, metadata: { ...job.metadata, ...metadata } });
/** As a release made it that did not name its manager in the template, or as another's Job is. */
const withEnv = (env: readonly { name: string; value: string }[]): Job => {
  const containers = [{ name: 'main', image: 'busybox', env: [...env] }];
  return { ...COPY, spec: { ...COPY.spec, template: { spec: { ...COPY.spec.template.spec, containers } } } };
};
const OLDER = withEnv([]);
const NO_MARKS = { labels: {}, annotations: {} };

let unanswered: UnansweredWrites;
let wrote: Job[];
let marked: number;
beforeEach(() => {
  unanswered = createUnansweredWrites(new FakeClock(), 0);
  [wrote, marked] = [[], 0];
});

/** Looks where `present` is; a mark becomes part of it unless `drops`. */
function look(present: Job | undefined, { wasDispatched = true, drops = false, pods = [] as readonly string[] } = {}): Promise<Found> {
  const cluster = {
    name: 'eu-1',
    unanswered,
    writer: {
      find: () => Promise.resolve(present),
      runningPods: () => Promise.resolve(pods),
      mark(copy: Job, { labels, annotations }: { labels: Record<string, string>; annotations: Record<string, string> }) {
        marked++;
        const { metadata } = copy;
        const with_ = { labels: { ...metadata.labels, ...labels }, annotations: { ...metadata.annotations, ...annotations } };
        return Promise.resolve(drops ? copy : copyWith(with_, copy));
      },
    },
    wrote(key: string, copy: Job) {
      wrote.push(copy);
      if (isListed(copy.metadata, 'm1')) unanswered.listed(key, copy);
      else unanswered.unlisted(key, copy);
    },
  } as unknown as RemoteCluster;
  return lookForCopy(JOB_KIND, cluster, KEY, { name: 'sum', originUid: LOCAL.metadata.uid, origin: 'm1', wasDispatched });
}
const absence = () => unanswered.absence(KEY, undefined);

describe('under the name of a copy that is not in the list', () => {
  test('are the pods that a user has left there: nobody takes the copy for gone, and the first of them are named, unless no pod can have their name', async () => {
    unanswered.unlisted(KEY, COPY);
    const found = await look(undefined, { pods: ['sum-a', '; rm -rf /', 'sum-b', 'sum-c', 'sum-d'] });
    expect(found).toMatchObject({ kind: 'Unclear', problem: { reason: 'PodsRemain' } });
    expect(JSON.stringify(found)).toMatch(/kubectl delete pod -n team sum-a sum-b sum-c"/);
    expect(absence()).toBe('Unlisted');
  });

  test('is nothing: the copy is gone, and nobody asks again', async () => {
    unanswered.unlisted(KEY, COPY);
    expect(await look(undefined)).toEqual({ kind: 'Absent' });
    expect([absence(), unanswered.unlistedCopy(KEY)]).toEqual([undefined, undefined]);
  });

  test.each([
    ['without its label', { labels: {} }],
    ['with the label of another manager', { labels: { [ORIGIN_LABEL]: 'm2' } }],
    ['without any marks', NO_MARKS],
  ])('is the copy, %s: it gets them back', async (_, metadata) => {
    expect(await look(copyWith(metadata))).toEqual({ kind: 'Listed' });
    expect(wrote[0]?.metadata).toMatchObject({
      labels: { [ORIGIN_LABEL]: 'm1' },
      annotations: { 'switchyard.dev/origin-uid': LOCAL.metadata.uid, 'switchyard.dev/dispatch-epoch': '3' },
    });
    expect([marked, unanswered.unlistedCopy(KEY)]).toEqual([1, undefined]);
  });

  test('is the copy as it should be: its event is late, and nothing is written', async () => {
    expect(await look(COPY)).toEqual({ kind: 'Listed' });
    expect(marked).toBe(0);
  });

  test('is a copy of an earlier release that says nothing any more, and is known by its UID: what it said before is put back', async () => {
    const before = copyWith({ annotations: { ...COPY.metadata.annotations, 'switchyard.dev/fencing': 'off' } }, OLDER);
    unanswered.unlisted(KEY, before);
    expect(await look(copyWith(NO_MARKS, OLDER))).toEqual({ kind: 'Listed' });
    expect(wrote[0]?.metadata.annotations).toMatchObject({ 'switchyard.dev/dispatch-epoch': '3', 'switchyard.dev/fencing': 'off' });
  });

  test('is the copy, whose cluster drops its marks: it is to go', async () => {
    const found = await look(copyWith(NO_MARKS), { drops: true });
    expect(found).toMatchObject({ kind: 'Unmarkable', epoch: 3, copy: { metadata: { uid: 'copy' } } });
    expect(found.kind === 'Unmarkable' && found.dropped).toContain(`metadata.labels[${ORIGIN_LABEL}]`);
    expect(absence()).toBe('Unlisted');
  });

  test('is a copy of an earlier release with the label of another manager: it is left to a user', async () => {
    const found = await look(copyWith({ labels: { [ORIGIN_LABEL]: 'm2' } }, OLDER));
    expect(found).toMatchObject({ kind: 'Unclear', problem: { reason: 'NameTaken' } });
    expect([marked, absence()]).toEqual([0, 'Unlisted']);
  });
});

describe('somebody’s Job under the name of a copy', () => {
  const foreign = copyWith({ ...NO_MARKS, uid: 'foreign' }, OLDER);

  test('proves nothing about a placement that was dispatched, where nobody remembers the copy', async () => {
    const found = await look(foreign);
    expect(found).toMatchObject({ kind: 'Unclear', problem: { reason: 'NameTaken' } });
    expect(found.kind === 'Unclear' && found.problem.message).toMatch(
      /^cluster "eu-1" has a Job of this name that does not say whose it is/,
    );
    expect(absence()).toBe('Open');
  });

  test('shows that the copy is gone where that had another UID', async () => {
    unanswered.unlisted(KEY, COPY);
    expect(await look(foreign)).toEqual({ kind: 'Absent' });
  });

  test('shows it where its own template says that it is another’s', async () => {
    const other = withEnv([
      { name: 'SWITCHYARD_EPOCH', value: '1' },
      { name: 'SWITCHYARD_JOB', value: 'team/sum' },
      { name: 'SWITCHYARD_JOB_UID', value: 'another' },
    ]);
    expect(await look(other)).toEqual({ kind: 'Absent' });
  });

  test('is nothing to a placement that was never dispatched', async () => {
    expect(await look(foreign, { wasDispatched: false })).toEqual({ kind: 'Absent' });
    expect(marked).toBe(0);
  });
});

describe('the answer to a create', () => {
  test('that has all that was sent lacks nothing', () => {
    expect(unlistedMarks(JOB_KIND, COPY, SENT)).toEqual([]);
  });

  test('lacks what a webhook has dropped', () => {
    const { [ORIGIN_LABEL]: _, ...labels } = COPY.metadata.labels ?? {};
    expect(unlistedMarks(JOB_KIND, copyWith({ labels }), SENT)).toEqual([`metadata.labels[${ORIGIN_LABEL}]`]);
    expect(unlistedMarks(JOB_KIND, copyWith({ annotations: {} }), SENT)).toContain('metadata.annotations[switchyard.dev/origin-uid]');
  });

  test('lacks the variables by which the copy is known, where a webhook has changed them', () => {
    expect(unlistedMarks(JOB_KIND, OLDER, SENT)).toEqual(['spec.template.spec.containers[0].env']);
    expect(unlistedMarks(JOB_KIND, withEnv([{ name: 'SWITCHYARD_EPOCH', value: '9' }]), SENT)).toEqual([
      'spec.template.spec.containers[0].env',
    ]);
  });
});
