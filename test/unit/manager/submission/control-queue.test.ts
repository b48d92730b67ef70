import { expect, test } from 'vitest';
import { requestProblem } from '../../../../manager/submission/control-queue.ts';
import type { CancelRequest } from '../../../../shared/api/control-queue.ts';

test('a request is read with the longest key, each of whose characters is escaped', () => {
  const request: CancelRequest = { key: '\u0001'.repeat(1024), signature: { user: 'u'.repeat(256), seal: 's'.repeat(64) } };
  expect(requestProblem(JSON.stringify(request))).toBeUndefined();
});

const REMEDY = 'send {"key": KEY}, where KEY is the key of a submission';

test('a request of more than 8 KiB is not parsed, and whoever cancels reads how large it is, how large it may be, and what to send', () => {
  const ofBytes = (bytes: number): string => `"${'x'.repeat(bytes - 2)}"`;
  expect(requestProblem(ofBytes(8_192))).toBeUndefined();
  expect(requestProblem(ofBytes(8_193))).toBe(`the request has 8193 bytes, and at most 8192 are read; ${REMEDY}`);
});

test('a request that is no JSON, or nests too deeply, is not parsed, and whoever cancels reads what to send', () => {
  expect(requestProblem('{')).toBe(`the request is not JSON; ${REMEDY}`);
  expect(requestProblem(`${'['.repeat(65)}${']'.repeat(65)}`)).toBe(`the request nests more than 64 levels deep; ${REMEDY}`);
});
