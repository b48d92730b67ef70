import { expect, test } from 'vitest';
import { submissionKey } from '../../../../shared/api/submission-key.ts';

test('an id that its submitter chose is the key, also with colons, and at whatever time it is put on the queue again', () => {
  for (const id of ['nightly', 'a:b:c', 'repeat:nightly:1760000000000', '7a']) {
    expect(submissionKey({ id, submittedAt: 1_000 })).toBe(id);
    expect(submissionKey({ id, submittedAt: 2_000 })).toBe(id);
  }
});

test('an id that BullMQ counted is another submission after the queue was wiped', () => {
  expect(submissionKey({ id: '7', submittedAt: 1_000 })).toBe('7@1000');
  expect(submissionKey({ id: '7', submittedAt: 2_000 })).toBe('7@2000');
});
