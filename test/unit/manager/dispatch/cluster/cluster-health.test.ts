import { describe, expect, test } from 'vitest';
import {
  afterLateAnswer,
  afterProbe,
  FAILURES_UNTIL_LOST,
  NEVER_PROBED,
  withFault,
  type ClusterHealth,
  type ProbeResult,
} from '../../../../../manager/dispatch/cluster/cluster-health.ts';

const ANSWER: ProbeResult = { kind: 'Answered', version: 'v1.36.2', roundTripMs: 3, synced: true };
const FAILURE: ProbeResult = { kind: 'Failed', reason: 'ConnectionFailed', message: 'connection refused' };
const after = (...probes: ProbeResult[]): ClusterHealth =>
  probes.reduce((health, probe, index) => afterProbe(health, probe, 1000 * (index + 1)), NEVER_PROBED);

describe('a worker cluster', () => {
  test('is ready once it answers and its Jobs are listed', () => {
    expect(after({ ...ANSWER, synced: false })).toMatchObject({ contact: 'Connecting', connected: true, reason: 'Listing' });
    expect(after(ANSWER)).toMatchObject({ contact: 'Ready', connected: true, version: 'v1.36.2', roundTripMs: 3 });
  });

  test('is not lost by a brief interruption', () => {
    expect(after(ANSWER, FAILURE, FAILURE)).toMatchObject({ contact: 'Ready', connected: true, failingSinceMs: 2000 });
    expect(after(ANSWER, FAILURE, ANSWER)).toMatchObject({ contact: 'Ready', failures: 0 });
    expect(after(ANSWER, FAILURE, ANSWER).failingSinceMs).toBeUndefined();
  });

  test.each([true, false])(
    'that answers (listed: %s) keeps the proof of its fence: when the last renewal was sent, and that its watch is silent',
    (synced) => {
      const fenced: ClusterHealth = { ...after(ANSWER, FAILURE), renewalSentMs: 700, unheard: true };
      expect(afterProbe(fenced, { ...ANSWER, synced }, 3000)).toMatchObject({
        connected: true,
        failures: 0,
        renewalSentMs: 700,
        unheard: true,
      });
    },
  );

  test('that is lost says the same whether an answer is late or has not come', () => {
    const LATE = { kind: 'Failed', reason: 'ConnectionFailed', message: 'no answer within 5000 ms' } as const;
    const lost = after(ANSWER, FAILURE, FAILURE, FAILURE);
    expect(afterLateAnswer(lost, LATE, 9000)).toEqual({ ...lost, failures: lost.failures + 1 });
    expect(afterLateAnswer(after(ANSWER, FAILURE, FAILURE), LATE, 9000)).toMatchObject({ contact: 'Lost', message: LATE.message });
  });

  test('is lost when it stays silent, counted from the first failure', () => {
    const failures = Array.from({ length: FAILURES_UNTIL_LOST }, () => FAILURE);
    expect(after(ANSWER, ...failures)).toMatchObject({
      contact: 'Lost',
      connected: false,
      reason: 'ConnectionFailed',
      message: 'connection refused',
      failingSinceMs: 2000,
    });
    expect(after(...failures)).toMatchObject({ contact: 'Lost', failingSinceMs: 1000 });
  });

  test('that refuses us is lost at once, though it answers, and ready as soon as it takes us', () => {
    const refusal = { kind: 'Refused', reason: 'Forbidden', message: 'the manager may not list its Jobs there' } as const;
    const refused = after(ANSWER, FAILURE, refusal);
    const lost = { contact: 'Lost', connected: true, reason: 'Forbidden', message: refusal.message, failures: 0, failingSinceMs: 2000 };
    expect(refused).toMatchObject(lost);
    expect(afterProbe(refused, refusal, 4000)).toMatchObject(lost);
    expect(afterProbe(refused, ANSWER, 5000)).toMatchObject({ contact: 'Ready', reason: 'Connected', failingSinceMs: undefined });
  });

  test('whose answers cannot be used is lost at once, though it answers', () => {
    const fault = { reason: 'AnswerTooLarge', message: 'its jobs cannot be known' } as const;
    const faulty = withFault(after(ANSWER), fault, 2000);
    expect(faulty).toMatchObject({ contact: 'Lost', connected: true, reason: 'AnswerTooLarge', failingSinceMs: 2000 });
    expect(afterProbe(faulty, { ...ANSWER, fault }, 3000)).toMatchObject({
      contact: 'Lost',
      connected: true,
      ...fault,
      failingSinceMs: 2000,
    });
    expect(afterProbe(faulty, ANSWER, 4000)).toMatchObject({ contact: 'Ready', reason: 'Connected', failingSinceMs: undefined });
  });
});
