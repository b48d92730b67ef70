import { describe, expect, test } from 'vitest';
import { NO_BACKOFF } from '../../../../worker/job/backoff.ts';
import { createJobMemory } from '../../../../worker/job/job-memory.ts';
import { nextSyncDelayMs } from '../../../../worker/job/pace.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const job = (uid: string) => ({ uid, namespace: 'ns' });
const aMemory = (cached = { jobs: '1', pods: '1' }) => createJobMemory(new FakeClock(), (resource) => cached[resource]);

/** A memory full of two Jobs. */
function aFullMemory() {
  const memory = aMemory();
  for (const uid of ['a', 'b']) {
    for (const set of [memory.finished, memory.delegated, memory.surveyed, memory.capped]) set.add(uid);
    memory.rememberBackoff(uid, { failuresAfterLastSuccess: 1 });
    memory.written.record(uid, 'jobs', '9');
    memory.expectations.expectCreations(uid, 1);
    memory.finalizerExpectations.expectRemoval(uid, ['pod']);
    memory.rememberGone(uid);
  }
  return memory;
}
const knows = (memory: ReturnType<typeof aFullMemory>, uid: string): string[] =>
  Object.entries({
    finished: memory.finished.has(uid),
    delegated: memory.delegated.has(uid),
    surveyed: memory.surveyed.has(uid),
    capped: memory.capped.has(uid),
    backoff: memory.backoff(uid) !== NO_BACKOFF,
    written: memory.written.behind(job(uid)).length > 0,
    expectations: !memory.expectations.satisfied(uid),
    finalizers: memory.finalizerExpectations.pending(uid).size > 0,
    gone: memory.goneForMs(uid) > 0,
  })
    .filter(([, known]) => known)
    .map(([what]) => what);
const EVERYTHING = ['finished', 'delegated', 'surveyed', 'capped', 'backoff', 'written', 'expectations', 'finalizers', 'gone'];

describe('the memory of a Job', () => {
  test('keeps everything by UID', () => {
    expect(knows(aFullMemory(), 'a')).toEqual(EVERYTHING);
    expect(knows(aFullMemory(), 'another Job of the same name')).toEqual([]);
  });

  test('that has its final status is of what it was and of the finalizers still to be seen off', () => {
    const memory = aFullMemory();
    memory.forgetProgress('a');
    expect(knows(memory, 'a')).toEqual(['finished', 'delegated', 'surveyed', 'finalizers', 'gone']);
    expect(knows(memory, 'b')).toEqual(EVERYTHING);
  });

  test('that is gone is empty', () => {
    const memory = aFullMemory();
    memory.forget('a');
    expect(knows(memory, 'a')).toEqual([]);
    expect(knows(memory, 'b')).toEqual(EVERYTHING);
  });

  test('holds no back-off once a success has come after the last failure', () => {
    const memory = aMemory();
    memory.rememberBackoff('a', { failuresAfterLastSuccess: 2, lastFailureMs: 5 });
    expect(memory.backoff('a')).toMatchObject({ failuresAfterLastSuccess: 2 });
    memory.rememberBackoff('a', { failuresAfterLastSuccess: 0 });
    expect(memory.backoff('a')).toBe(NO_BACKOFF);
  });
});

describe('the next sync of a Job', () => {
  const cached = { jobs: '1', pods: '1' };
  const capped = () => {
    const memory = aMemory(cached);
    memory.capped.add('a');
    return memory;
  };
  test('gathers the events of the batch period', () => {
    expect(nextSyncDelayMs(aMemory(), job('a'), 1000)).toBe(1000);
  });
  test('comes at once when the last one was capped', () => {
    expect(nextSyncDelayMs(capped(), job('a'), 1000)).toBe(0);
    expect(nextSyncDelayMs(capped(), job('b'), 1000)).toBe(1000);
  });
  test('gathers while the caches do not show yet what the capped one did', () => {
    const memory = capped();
    memory.expectations.expectCreations('a', 1);
    expect(nextSyncDelayMs(memory, job('a'), 1000)).toBe(1000);
    memory.expectations.creationObserved('a');
    expect(nextSyncDelayMs(memory, job('a'), 1000)).toBe(0);
    memory.written.record('a', 'pods', '2');
    expect(nextSyncDelayMs(memory, job('a'), 1000)).toBe(1000);
    cached.pods = '2';
    expect(nextSyncDelayMs(memory, job('a'), 1000)).toBe(0);
  });
});
