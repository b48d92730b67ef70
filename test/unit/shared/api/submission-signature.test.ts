import { expect, test } from 'vitest';
import { signedText } from '../../../../shared/api/submission-signature.ts';

test('what is signed is five lines, and no key makes it the text of another', () => {
  const text = signedText({ queue: 'team/batch', key: 'nightly', payloadHash: 'abc', expires: '2026-01-01T00:00:00Z' });
  expect(text).toBe('switchyard.dev/submission/v1\nteam/batch\nnightly\nabc\n2026-01-01T00:00:00Z');
  const sly = signedText({ queue: 'team/batch', key: 'nightly\nabc', payloadHash: 'def', expires: 'x' });
  expect(sly.split('\n')).toHaveLength(6);
});
