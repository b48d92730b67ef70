import { expect, test } from 'vitest';
import { requestProblem } from '../../../../manager/submission/control-queue.ts';
import type { CancelRequest } from '../../../../shared/api/control-queue.ts';

test('a request is read with the longest key, each of whose characters is escaped', () => {
  const request: CancelRequest = { key: '\u0001'.repeat(1024), signature: { user: 'u'.repeat(256), seal: 's'.repeat(64) } };
  expect(requestProblem(JSON.stringify(request))).toBeUndefined();
});

test('a request of more than 8 KiB is not parsed', () => {
  const ofBytes = (bytes: number): string => `"${'x'.repeat(bytes - 2)}"`;
  expect(requestProblem(ofBytes(8_192))).toBeUndefined();
  expect(requestProblem(ofBytes(8_193))).toMatch(/has 8193 bytes, and at most 8192 are read/);
});
