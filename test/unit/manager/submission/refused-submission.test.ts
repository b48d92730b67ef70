import { describe, expect, test } from 'vitest';
import { refusedSubmission } from '../../../../manager/submission/refused-submission.ts';
import { SubmissionRefused } from '../../../../manager/submission/submission-queue.ts';
import { sharedTenant } from '../../../../manager/submission/tenant.ts';

const shared = sharedTenant({ prefix: 'bull', queue: 'jobs' }, { namespaces: ['team'], bytesMax: 1_000 });
const invalid = new SubmissionRefused('Invalid', 'spec.template: is missing');
const refused = (data: unknown, error = invalid, id = '7') =>
  refusedSubmission(shared, { id, data }, error, (namespace) => (namespace === 'gone' ? undefined : `uid-${namespace}`), 5);

describe('a refused submission', () => {
  test('is kept with namespace, name and reason, and nothing else of its manifest', () => {
    const manifest = { metadata: { namespace: 'other', name: 'sum' }, spec: { secret: 'hidden' } };
    const kept = { id: '7', atMs: 5, namespace: 'other', namespaceUid: 'uid-other', name: 'sum', reason: 'Invalid' };
    for (const data of [manifest, { manifest }]) expect(refused(data)).toEqual({ ...kept, message: 'spec.template: is missing' });
    expect(refused({ metadata: { generateName: 'sum-' } })).toMatchObject({ namespace: 'team', namespaceUid: 'uid-team', name: 'sum-' });
    expect(refused({ metadata: { namespace: 'gone' } })).not.toHaveProperty('namespaceUid');
  });

  test('is of no namespace where its manifest is none, or names what can be none', () => {
    for (const data of [undefined, 'text', [7], { manifest: 7 }, { metadata: { namespace: 7 } }, { metadata: { namespace: 'a/b' } }])
      expect(refused(data)).not.toHaveProperty('namespace');
    expect(refused({ metadata: 7 })).toMatchObject({ namespace: 'team' });
  });

  test('takes the room of no hundred others, and steers no terminal', () => {
    const told = refused(
      { metadata: { name: 'n'.repeat(9_999) } },
      new SubmissionRefused('Rejected', 'x\u001b[2J'.repeat(999)),
      'i'.repeat(9_999),
    );
    expect([told.id.length, told.name?.length, told.message.length]).toEqual([128, 128, 512]);
    expect(JSON.stringify(told)).not.toContain('\\u001b');
  });
});
