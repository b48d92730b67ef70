import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { firstAbort } from '../../../../shared/runtime/first-abort.ts';

test('the signal aborts with the first of them, for its reason', () => {
  const [one, other] = [new AbortController(), new AbortController()];
  const { signal } = firstAbort([one.signal, other.signal]);
  expect(signal.aborted).toBe(false);
  other.abort(new Error('the other'));
  one.abort(new Error('the one'));
  expect(signal.reason).toEqual(new Error('the other'));
});

test('where one has aborted already the signal has, too', () => {
  const { signal } = firstAbort([new AbortController().signal, AbortSignal.abort(new Error('before'))]);
  expect(signal.reason).toEqual(new Error('before'));
});

test('once released it hears nothing, and nothing is left with those that live on', () => {
  const [one, other] = [new AbortController(), new AbortController()];
  const { signal, release } = firstAbort([one.signal, other.signal]);
  release();
  expect([one, other].flatMap((each) => getEventListeners(each.signal, 'abort'))).toEqual([]);
  one.abort();
  expect(signal.aborted).toBe(false);
});

test('once it has aborted nothing is left with the others', () => {
  const [one, other] = [new AbortController(), new AbortController()];
  firstAbort([one.signal, other.signal]);
  one.abort();
  expect(getEventListeners(other.signal, 'abort')).toEqual([]);
});
