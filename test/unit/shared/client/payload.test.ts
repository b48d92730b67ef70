import { expect, test } from 'vitest';
import { bullmqJobOf, idOf, keyProblem } from '../../../../shared/client/payload.ts';
import { submissionKey } from '../../../../shared/api/submission-key.ts';

const MANIFEST = { metadata: { generateName: 'etl-' } };

test('a manifest is all that is needed', () => {
  expect(bullmqJobOf(MANIFEST, 'k', {})).toEqual({ name: 'etl', data: { manifest: MANIFEST }, opts: { jobId: 'k' } });
  expect(bullmqJobOf({}, 'k', {}).name).toBe('job');
  expect(bullmqJobOf({ metadata: { name: 'sum' } }, 'k', { name: 'total' }).name).toBe('total');
});

test('ConfigMaps go beside the manifest, and no list of none', () => {
  const attachments = [{ name: 'settings', data: { a: '1' } }];
  expect(bullmqJobOf(MANIFEST, 'k', { attachments }).data).toEqual({ manifest: MANIFEST, attachments });
  expect(bullmqJobOf(MANIFEST, 'k', { attachments: [] }).data).toEqual({ manifest: MANIFEST });
});

test('priority, delay and retries are BullMQ’s, and a retry is told in the payload, too', () => {
  expect(bullmqJobOf(MANIFEST, 'k', { priority: 3, delayMs: 500, retry: { attempts: 5, backoffMs: 100 } })).toMatchObject({
    data: { manifest: MANIFEST, options: { retry: true } },
    opts: { jobId: 'k', priority: 3, delay: 500, attempts: 5, backoff: { type: 'exponential', delay: 100 } },
  });
  expect(bullmqJobOf(MANIFEST, 'k', { retry: true }).opts).toMatchObject({ attempts: 3, backoff: { delay: 10_000 } });
});

test('a key that BullMQ would refuse or mistake for its own is refused, and says what to do', () => {
  for (const key of ['', '17', 'a:b', 'a:b:c:d', '0:b:c', 'meta', 'prioritized', 'x'.repeat(1025)])
    expect(keyProblem(key), key).toBeTypeOf('string');
  for (const key of ['nightly', 'a/b', 'a:b:c', '17@5', 'team-7']) expect(keyProblem(key), key).toBeUndefined();
});

test('the id of a submission is found by its key', () => {
  expect(idOf('a:b:c')).toEqual({ id: 'a:b:c' });
  expect(idOf(submissionKey({ id: '17', submittedAt: 5 }))).toEqual({ id: '17', submittedAt: 5 });
});
