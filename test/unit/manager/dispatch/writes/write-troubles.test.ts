import { describe, expect, test } from 'vitest';
import { createWriteTroubles, troubleOf, type Trouble } from '../../../../../manager/dispatch/writes/write-troubles.ts';
import { ApiError } from '../../../../../shared/kube/api-error.ts';
import { UnusableAnswer } from '../../../../../shared/kube/unusable-answer.ts';

const trouble = (message: string, reason: Trouble['problem']['reason'] = 'ClusterError', patienceMs = 1_000): Trouble => ({
  problem: { reason, message },
  patienceMs,
});

describe('what is told of writes that fail', () => {
  test('nothing where the next try succeeds within a second', () => {
    const troubles = createWriteTroubles();
    expect(troubles.failed('a/b', trouble('down'), 0)).toEqual({ reported: false, first: false });
    expect(troubles.failed('a/b', trouble('down'), 999).reported).toBe(false);
    expect(troubles.reported('a/b')).toBeUndefined();
    troubles.over('a/b');
    expect(troubles.keys()).toEqual([]);
    expect(troubles.failed('a/b', trouble('down'), 1_500).reported).toBe(false);
  });

  test('once what is the same but for its numbers', () => {
    const troubles = createWriteTroubles();
    troubles.failed('a/b', trouble('port 1'), 0);
    expect(troubles.failed('a/b', trouble('port 2'), 1_000)).toEqual({ reported: true, first: true });
    for (let second = 2; second < 100; second++)
      expect(troubles.failed('a/b', trouble(`port ${second}f`), second * 1_000).reported).toBe(false);
    expect(troubles.reported('a/b')?.message).toBe('port 2');
  });

  test('at most once in ten seconds where the words change all the time, and as news where the reason was not told before', () => {
    const troubles = createWriteTroubles();
    const told: string[] = [];
    for (let ms = 0; ms <= 60_000; ms += 500) {
      const turn = (ms / 500) % 2 === 0;
      const news = troubles.failed('a/b', trouble(turn ? 'down' : 'away', turn ? 'ClusterError' : 'NoAnswer'), ms);
      if (news.reported) told.push(`${ms} ${news.first}`);
    }
    expect(told.length).toBeLessThanOrEqual(6);
    expect(told.filter((each) => each.endsWith('true'))).toHaveLength(2);
  });

  test('later where only a busy cluster or a quarrel is behind it', () => {
    const troubles = createWriteTroubles();
    const busy = trouble('busy', 'Throttled', 10_000);
    troubles.failed('a/b', busy, 0);
    expect(troubles.failed('a/b', busy, 9_999).reported).toBe(false);
    expect(troubles.failed('a/b', busy, 10_000).reported).toBe(true);
  });
});

describe('the reason', () => {
  const api = (code: number, message = 'no', reason = ''): ApiError => new ApiError(code, { message, reason });
  test.each([
    [api(500, 'failed calling webhook "x"'), 'ClusterError', 'failed calling webhook "x" (500)'],
    [api(503), 'ClusterError', 'no (503)'],
    [api(401), 'NotAllowed', 'no (401)'],
    [api(403), 'NotAllowed', 'no (403)'],
    [api(429), 'Throttled', 'no (429)'],
    [api(409), 'WriteConflict', 'no (409)'],
    [api(404), 'WriteConflict', 'no (404)'],
    [new UnusableAnswer('NotKubernetes', 'no object'), 'ClusterError', 'no object'],
    [
      Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:6443'), { code: 'ECONNREFUSED' }),
      'NoAnswer',
      'the connection was refused (ECONNREFUSED)',
    ],
    [new Error('no answer within 15000 ms'), 'NoAnswer', 'there was no answer'],
  ])('%s', (error, reason, words) => {
    const { problem } = troubleOf(error, 'eu-1', 'Create');
    expect(problem).toEqual({ reason, message: `the copy on cluster "eu-1" cannot be created now, which is tried again: ${words}` });
  });

  test('is told in words that are bounded, on one line', () => {
    const { problem } = troubleOf(api(500, `\u001b[31mx\n${'y'.repeat(100_000)}`), 'eu-1', 'Delete');
    expect(problem.message.length).toBeLessThan(1_200);
    expect(problem.message).toMatch(/^the copy on cluster "eu-1" cannot be deleted now, which is tried again:  \[31mx y+… \(500\)$/);
  });
});
