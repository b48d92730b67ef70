import { describe, expect, test } from 'vitest';
import { DEFAULT_JOB_RULES } from '../../../../manager/api/job-rules.ts';
import type { Submission } from '../../../../manager/submission/submission-queue.ts';
import { SubmissionRefused } from '../../../../manager/submission/submission-queue.ts';
import { manifestOf, type SubmittedAttempt } from '../../../../manager/submission/tenant-manifest.ts';
import type { Tenant } from '../../../../manager/submission/tenant.ts';
import { aSubmission, FIRST_MADE, submissionAnnotations } from '../../../support/submissions.ts';
import { testTenant } from '../../../support/submission-source.ts';
import { createKinds } from '../../../../manager/work-kind/kinds.ts';
import { aCrew, aCrewKind } from '../work-kind/described/described.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const MANIFEST = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { labels: { 'switchyard.dev/queue-name': 'main' } },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } } },
};
const SHARED = testTenant({ redis: { prefix: 'bull', queue: 'q' } });
const TEAM = testTenant({
  id: 'uid-of-team',
  label: 'team/batch',
  namespace: 'team',
  namespaces: ['team', 'team-test'],
  localQueues: ['small', 'large'],
  as: { namespace: 'team', name: 'submitter' },
  priorityClasses: [
    { upTo: 10, name: 'urgent' },
    { upTo: 100, name: 'usual' },
  ],
});
const submission = (data: unknown, parts: Partial<Submission> = {}): SubmittedAttempt => ({
  ...aSubmission({ id: '7', submittedAt: 1_000, name: 'sum', data, ...parts }),
  made: FIRST_MADE,
});
const withMetadata = (metadata: object): object => ({ manifest: { ...MANIFEST, metadata: { ...MANIFEST.metadata, ...metadata } } });
const named = (metadata: object, parts: Partial<Submission> = {}): string | undefined =>
  manifestOf(JOB_KIND, SHARED, submission(withMetadata(metadata), parts)).metadata.name;
const refusal = (tenant: Tenant, data: unknown, parts: Partial<Submission> = {}): string => {
  try {
    manifestOf(JOB_KIND, tenant, submission(data, parts));
  } catch (error) {
    if (error instanceof SubmissionRefused) return error.message;
    throw error;
  }
  return 'accepted';
};

test('the trace of a submission is that of its Job, unless the manifest names one', () => {
  const [given, own] = ['1', '2'].map((digit) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`);
  const traced = (annotations: Record<string, string>): unknown =>
    manifestOf(JOB_KIND, SHARED, submission(withMetadata({ annotations }), { traceparent: given ?? '' })).metadata.annotations?.[
      'switchyard.dev/traceparent'
    ];
  expect(traced({})).toBe(given);
  expect(traced({ 'switchyard.dev/traceparent': 'nonsense' })).toBe(given);
  expect(traced({ 'switchyard.dev/traceparent': own ?? '' })).toBe(own);
  expect(manifestOf(JOB_KIND, SHARED, submission(MANIFEST)).metadata.annotations).not.toHaveProperty('switchyard.dev/traceparent');
});

describe('the Job of a submission', () => {
  test('is suspended, the manager’s, and says which submission it is', () => {
    const job = manifestOf(JOB_KIND, SHARED, submission({ manifest: MANIFEST }));
    expect(job.spec).toMatchObject({ suspend: true, managedBy: 'switchyard.dev/manager' });
    expect(job.metadata).toMatchObject({
      namespace: 'default',
      annotations: { 'switchyard.dev/submission': '7', 'switchyard.dev/submitted-at': '1000' },
    });
  });

  test('comes from the bare manifest as well', () => {
    expect(manifestOf(JOB_KIND, SHARED, submission(MANIFEST))).toEqual(manifestOf(JOB_KIND, SHARED, submission({ manifest: MANIFEST })));
  });

  test('may name its queue by Kueue’s label where the administrator has it so', () => {
    const kueues = { ...MANIFEST, metadata: { ...MANIFEST.metadata, labels: { 'kueue.x-k8s.io/queue-name': 'main' } } };
    expect(() => manifestOf(JOB_KIND, SHARED, submission(kueues))).toThrow(/switchyard\.dev\/queue-name\]: is missing/);
    const { metadata } = manifestOf(JOB_KIND, SHARED, submission(kueues), { ...DEFAULT_JOB_RULES, kueueQueueLabel: true });
    expect(metadata.labels).toEqual({ 'kueue.x-k8s.io/queue-name': 'main', 'switchyard.dev/queue-name': 'main' });
  });

  test('keeps the name it has', () => {
    expect(named({ name: 'mine' })).toBe('mine');
  });

  test('without a name gets the same one for every delivery, and no other submission gets it', () => {
    expect(named({})).toBe(named({}));
    expect(named({})).toMatch(/^sum-[0-9a-f]{10}$/);
    expect(named({ generateName: 'etl-' })).toMatch(/^etl-[0-9a-f]{10}$/);
    const ofOtherQueue = manifestOf(JOB_KIND, testTenant({ redis: { prefix: 'bull', queue: 'other' } }), submission(MANIFEST)).metadata
      .name;
    const ofTenant = manifestOf(JOB_KIND, testTenant({ id: 'another' }), submission(MANIFEST)).metadata.name;
    const others = [named({}, { id: '8' }), named({}, { submittedAt: 1_001 }), ofOtherQueue, ofTenant];
    expect(new Set([named({}), ...others]).size).toBe(5);
  });

  test('gets a valid name whatever the submission is called', () => {
    expect(named({}, { name: '__Nightly ETL (v2)!' })).toMatch(/^nightly-etl-v2-[0-9a-f]{10}$/);
    expect(named({}, { name: '***' })).toMatch(/^job-[0-9a-f]{10}$/);
    expect(named({}, { name: 'x'.repeat(100) })).toHaveLength(52);
  });

  test('says whose it is, and no manifest says that it is of somebody else', () => {
    const forged = withMetadata({
      labels: { 'switchyard.dev/queue-name': 'small' },
      annotations: {
        'switchyard.dev/submission-tenant': 'rich',
        'switchyard.dev/submission': '1',
        'switchyard.dev/submitted-by': 'ann',
      },
    });
    const said = submissionAnnotations({ id: '7', tenant: 'uid-of-team' });
    expect(manifestOf(JOB_KIND, TEAM, submission(forged)).metadata.annotations).toEqual(said);
    expect(manifestOf(JOB_KIND, SHARED, submission(forged)).metadata.annotations).not.toHaveProperty('switchyard.dev/submission-tenant');
    expect(manifestOf(JOB_KIND, TEAM, { ...submission(forged), user: 'bob' }).metadata.annotations).toMatchObject({
      'switchyard.dev/submitted-by': 'bob',
    });
  });

  test('is in the namespace and the first queue of its tenant unless it names others that the tenant may use', () => {
    const bare = { ...MANIFEST, metadata: {} };
    expect(manifestOf(JOB_KIND, TEAM, submission(bare)).metadata).toMatchObject({
      namespace: 'team',
      labels: { 'switchyard.dev/queue-name': 'small' },
    });
    const other = { ...MANIFEST, metadata: { namespace: 'team-test', labels: { 'switchyard.dev/queue-name': 'large' } } };
    expect(manifestOf(JOB_KIND, TEAM, submission(other)).metadata).toMatchObject(other.metadata);
  });

  test.each([
    [0, undefined],
    [1, 'urgent'],
    [10, 'urgent'],
    [11, 'usual'],
    [101, undefined],
  ])('submitted with BullMQ’s priority %i has the class %s', (priority, name) => {
    const { metadata } = manifestOf(JOB_KIND, TEAM, submission({ ...MANIFEST, metadata: {} }, { priority }));
    expect(metadata.labels?.['switchyard.dev/priority-class']).toBe(name);
  });

  test('keeps the class that its manifest names, whatever BullMQ’s priority is', () => {
    const metadata = { labels: { 'switchyard.dev/priority-class': 'mine' } };
    const job = manifestOf(JOB_KIND, TEAM, submission({ ...MANIFEST, metadata }, { priority: 1 }));
    expect(job.metadata.labels).toMatchObject({ 'switchyard.dev/priority-class': 'mine' });
  });
});

describe('a submission', () => {
  test('that is wrong is Invalid, with the fields that are wrong', () => {
    expect(refusal(SHARED, undefined)).toMatch(/^Invalid: manifest: must be/);
    expect(refusal(SHARED, { manifest: { ...MANIFEST, kind: 'Pod' } })).toMatch(/^Invalid: kind: must be Job/);
    expect(refusal(SHARED, { ...MANIFEST, metadata: {} })).toMatch(/^Invalid: .*queue-name\]: is missing; set it/);
    expect(refusal(SHARED, { ...MANIFEST, spec: { ...MANIFEST.spec, managedBy: 'acme.io/x' } })).toMatch(/^Invalid: spec\.managedBy: /);
    expect(refusal(SHARED, MANIFEST, { id: 'x'.repeat(2_000) })).toMatch(/^Invalid: the id of the submission has 2000 characters/);
  });

  test.each(['rich', 'default', 'team-test2'])('for the namespace %s of others is Forbidden, and says who can change that', (namespace) => {
    expect(refusal(TEAM, withMetadata({ namespace }))).toMatch(
      /^Forbidden: metadata\.namespace: is ".*", and submissions of this queue go to team, team-test; leave it out for team, or ask an administrator to add it to spec\.namespaces/,
    );
  });

  test.each(['kube-system', 'kube-public', 'kube-node-lease'])('for %s is Forbidden to everybody', (namespace) => {
    for (const tenant of [SHARED, TEAM, testTenant({ namespaces: [namespace], namespace })])
      expect(refusal(tenant, withMetadata({ namespace }))).toMatch(
        /^Forbidden: .*, which is of Kubernetes itself and takes no submissions/,
      );
  });

  test('of the shared queue goes to the namespaces of its flag', () => {
    const shared = testTenant({ namespaces: ['default'] });
    expect(refusal(shared, withMetadata({ namespace: 'team' }))).toMatch(/^Forbidden: .*--submission-namespaces/);
    expect(refusal(shared, withMetadata({}))).toBe('accepted');
  });

  test('of a namespace that the manager denies is Invalid, with the flag that says so', () => {
    const rules = { ...DEFAULT_JOB_RULES, deniedNamespaces: ['kube-*', 'vault*'] };
    const shared = testTenant({ namespaces: '*' });
    expect(() => manifestOf(JOB_KIND, shared, submission(withMetadata({ namespace: 'vault-2' })), rules)).toThrow(
      /^Invalid: metadata\.namespace: is "vault-2", which is denied by --denied-namespaces \(vault\*\); /,
    );
    // Those of Kubernetes itself stay closed to submissions where the list is empty.
    const none = { ...DEFAULT_JOB_RULES, deniedNamespaces: [] };
    expect(() => manifestOf(JOB_KIND, shared, submission(withMetadata({ namespace: 'kube-system' })), none)).toThrow(
      /^Forbidden: .*of Kubernetes itself/,
    );
  });

  test('that names the LocalQueue of somebody else is Forbidden, by whichever label', () => {
    expect(refusal(TEAM, MANIFEST)).toMatch(
      /^Forbidden: metadata\.labels\[switchyard\.dev\/queue-name\]: is "main", and submissions of this queue may name small, large; /,
    );
    const kueues = submission({ ...MANIFEST, metadata: { labels: { 'kueue.x-k8s.io/queue-name': 'main' } } });
    expect(() => manifestOf(JOB_KIND, TEAM, kueues, { ...DEFAULT_JOB_RULES, kueueQueueLabel: true })).toThrow(/^Forbidden: .*is "main"/);
  });
});

describe('the object of another kind of a submission', () => {
  const kinds = createKinds(JOB_KIND, [aCrewKind()]);
  const crewOf = (metadata: object, parts: Partial<SubmittedAttempt> = {}) => {
    const { uid: _uid, name: _name, ...others } = aCrew().metadata;
    return manifestOf(kinds, SHARED, { ...submission({ ...aCrew(), metadata: { ...others, ...metadata } }), ...parts });
  };

  test('is prepared as its description says, under its qualified name', () => {
    const crew = crewOf({ name: 'argo' });
    expect(crew.spec).toMatchObject({ policy: { suspend: true, managedBy: 'example.com/elsewhere' } });
    expect(crew.spec).not.toHaveProperty('suspend');
    expect(crew).toMatchObject({
      apiVersion: 'example.com/v1',
      kind: 'Crew',
      metadata: { name: 'crews.example.com:argo', namespace: 'team' },
    });
    expect(crew.metadata.annotations?.['switchyard.dev/submission']).toBe('7');
  });

  test('without a name has one by its key, another for each attempt', () => {
    const [first, second] = [crewOf({ generateName: 'argo-' }), crewOf({}, { made: { ...FIRST_MADE, attempt: 2 } })];
    expect(first.metadata.name).toMatch(/^crews\.example\.com:argo-[0-9a-f]{10}$/);
    expect(first.metadata).not.toHaveProperty('generateName');
    expect(second.metadata.name).toMatch(/^crews\.example\.com:sum-[0-9a-f]{10}$/);
    expect(crewOf({ name: 'argo' }, { made: { ...FIRST_MADE, attempt: 2 } }).metadata.name).toMatch(
      /^crews\.example\.com:argo-[0-9a-f]{10}$/,
    );
  });
});
