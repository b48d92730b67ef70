import { describe, expect, test } from 'vitest';
import { decideEviction } from '../../../../../shared/controlplane/kinds/pod-eviction.ts';
import { StatusError } from '../../../../../shared/controlplane/apimachinery/status-error.ts';
import type { AnyObject } from '../../../../../shared/controlplane/apimachinery/object.ts';

const TIME = '2026-01-01T00:00:00Z';
const meta = (name: string, more: object = {}) => ({
  name,
  namespace: 'ns',
  uid: name,
  resourceVersion: '1',
  creationTimestamp: TIME,
  ...more,
});
const pod = (phase = 'Running', ready = 'True'): AnyObject => ({
  metadata: meta('p', { labels: { app: 'x' } }),
  status: { phase, conditions: [{ type: 'Ready', status: ready }] },
});
const budget = (status: object, name = 'b', spec: object = {}): AnyObject => ({
  metadata: meta(name, { generation: 1 }),
  spec: { minAvailable: 1, selector: { matchLabels: { app: 'x' } }, ...spec },
  status: { observedGeneration: 1, currentHealthy: 1, desiredHealthy: 1, ...status },
});
const refusal = (budgets: AnyObject[], of = pod()): StatusError => {
  try {
    decideEviction(of, budgets, TIME);
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
  throw new Error('the eviction was allowed');
};

describe('an eviction', () => {
  test('tells the pod why it goes', () => {
    expect(decideEviction(pod(), [], TIME)).toMatchObject({
      kind: 'evict',
      pod: {
        status: {
          conditions: [
            { type: 'Ready' },
            {
              type: 'DisruptionTarget',
              status: 'True',
              reason: 'EvictionByEvictionAPI',
              message: 'Eviction API: evicting',
              lastTransitionTime: TIME,
            },
          ],
        },
      },
    });
  });
  test('is paid for by the budget that covers the pod', () => {
    expect(decideEviction(pod(), [budget({ disruptionsAllowed: 1 })], TIME)).toMatchObject({
      kind: 'evict',
      budget: { status: { disruptionsAllowed: 0, disruptedPods: { p: TIME } } },
    });
  });
  test('is refused for now when the budget is spent', () => {
    const error = refusal([budget({ disruptionsAllowed: 0 })]);
    expect([error.code, error.details?.causes?.[0]?.message]).toEqual([
      429,
      'The disruption budget b needs 1 healthy pods and has 1 currently',
    ]);
  });
  test('is refused for now when the budget has not been computed', () => {
    expect(refusal([budget({ observedGeneration: 0, disruptionsAllowed: 1 })]).retryAfterSeconds).toBe(10);
  });
  test('is refused when two budgets cover the pod', () => {
    expect(decideEviction(pod(), [budget({}), budget({}, 'other')], TIME).kind).toBe('refuse');
  });
  test.each(['Pending', 'Succeeded', 'Failed'])('of a %s pod asks no budget', (phase) => {
    expect(decideEviction(pod(phase), [budget({ disruptionsAllowed: 0 })], TIME)).toMatchObject({ kind: 'evict' });
  });
  test('of a pod that serves nobody is free when the budget is met without it, or says so', () => {
    expect(decideEviction(pod('Running', 'False'), [budget({ disruptionsAllowed: 0 })], TIME)).toMatchObject({ kind: 'evict' });
    expect(refusal([budget({ disruptionsAllowed: 0, currentHealthy: 0 })], pod('Running', 'False')).code).toBe(429);
    const lenient = budget({ disruptionsAllowed: 0, currentHealthy: 0 }, 'b', { unhealthyPodEvictionPolicy: 'AlwaysAllow' });
    expect(decideEviction(pod('Running', 'False'), [lenient], TIME)).toMatchObject({ kind: 'evict' });
  });
});
