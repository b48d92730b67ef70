import { describe, expect, test } from 'vitest';
import { manifestOf } from '../../../../manager/submission/consumer.ts';
import { SubmissionRefused, type Submission } from '../../../../manager/submission/submission-queue.ts';

const MANIFEST = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { labels: { 'switchyard.dev/queue-name': 'main' } },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } } },
};
const submission = (data: unknown, parts: Partial<Submission> = {}): Submission => ({
  id: '7',
  submittedAt: 1_000,
  name: 'sum',
  data,
  ...parts,
});
const named = (metadata: object, parts: Partial<Submission> = {}): string | undefined =>
  manifestOf(submission({ manifest: { ...MANIFEST, metadata: { ...MANIFEST.metadata, ...metadata } } }, parts), 'q').metadata.name;

describe('the Job of a submission', () => {
  test('is suspended, the manager’s, and says which submission it is', () => {
    const job = manifestOf(submission({ manifest: MANIFEST }), 'q');
    expect(job.spec).toMatchObject({ suspend: true, managedBy: 'switchyard.dev/manager' });
    expect(job.metadata).toMatchObject({
      namespace: 'default',
      annotations: { 'switchyard.dev/submission': '7', 'switchyard.dev/submitted-at': '1000' },
    });
  });

  test('comes from the bare manifest as well', () => {
    expect(manifestOf(submission(MANIFEST), 'q')).toEqual(manifestOf(submission({ manifest: MANIFEST }), 'q'));
  });

  test('keeps the name it has', () => {
    expect(named({ name: 'mine' })).toBe('mine');
  });

  test('without a name gets the same one for every delivery, and no other submission gets it', () => {
    expect(named({})).toBe(named({}));
    expect(named({})).toMatch(/^sum-[0-9a-f]{10}$/);
    expect(named({ generateName: 'etl-' })).toMatch(/^etl-[0-9a-f]{10}$/);
    const others = [named({}, { id: '8' }), named({}, { submittedAt: 1_001 }), manifestOf(submission(MANIFEST), 'other').metadata.name];
    expect(new Set([named({}), ...others]).size).toBe(4);
  });

  test('gets a valid name whatever the submission is called', () => {
    expect(named({}, { name: '__Nightly ETL (v2)!' })).toMatch(/^nightly-etl-v2-[0-9a-f]{10}$/);
    expect(named({}, { name: '***' })).toMatch(/^job-[0-9a-f]{10}$/);
    expect(named({}, { name: 'x'.repeat(100) })).toHaveLength(52);
  });
});

describe('a bad manifest', () => {
  test('is refused with the fields that are wrong', () => {
    const refuse = (data: unknown): string => {
      try {
        manifestOf(submission(data), 'q');
      } catch (error) {
        if (error instanceof SubmissionRefused) return error.message;
        throw error;
      }
      return 'accepted';
    };
    expect(refuse(undefined)).toMatch(/manifest: must be/);
    expect(refuse({ manifest: { ...MANIFEST, kind: 'Pod' } })).toMatch(/kind: must be Job/);
    expect(refuse({ ...MANIFEST, metadata: {} })).toMatch(/queue-name\]: is missing; set it/);
    expect(refuse({ ...MANIFEST, spec: { ...MANIFEST.spec, managedBy: 'acme.io/x' } })).toMatch(/spec\.managedBy: /);
  });
});
