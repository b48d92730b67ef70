import { describe, expect, test } from 'vitest';
import { nextWrite } from '../../../../manager/admission/waiting-reporter.ts';
import { aCondition, aHomeJob } from '../../../support/jobs.ts';

const now = Date.UTC(2026, 0, 1, 0, 1, 5);
const hindrance = { reason: 'InsufficientQuota', message: 'short of 1 cpu' } as const;
const told = (parts: object) =>
  aHomeJob({ status: { conditions: [aCondition('Suspended'), aCondition('QuotaReserved', { status: 'False', ...hindrance, ...parts })] } });

describe('telling a Job why it waits', () => {
  test('a Job that was told nothing is told, and shown as suspended', () => {
    const conditions = [
      {
        type: 'QuotaReserved',
        status: 'False',
        ...hindrance,
        lastProbeTime: '2026-01-01T00:01:05Z',
        lastTransitionTime: '2026-01-01T00:01:05Z',
      },
      expect.objectContaining({ type: 'Suspended', status: 'True', reason: 'JobSuspended' }) as object,
    ];
    expect(nextWrite(aHomeJob(), hindrance, now)).toEqual({ kind: 'Write', conditions });
  });
  test('a Job that was told the same is left alone', () => {
    expect(nextWrite(told({}), hindrance, now)).toEqual({ kind: 'Nothing' });
  });
  test('another text for the same reason waits until ten seconds are over', () => {
    expect(nextWrite(told({ message: 'short of 2 cpu' }), hindrance, now)).toEqual({ kind: 'Later', delayMs: 5_000 });
    expect(nextWrite(told({ message: 'short of 2 cpu' }), hindrance, now + 5_000).kind).toBe('Write');
  });
  test('another reason is told at once, and the time since when it waits stays', () => {
    const next = nextWrite(told({ reason: 'NoClusterFits' }), hindrance, now);
    expect(next).toMatchObject({
      kind: 'Write',
      conditions: [{ lastProbeTime: '2026-01-01T00:01:05Z', lastTransitionTime: '2026-01-01T00:01:00Z' }],
    });
  });
  test('a Job that had quota before begins to wait now', () => {
    expect(nextWrite(told({ status: 'True' }), hindrance, now)).toMatchObject({
      conditions: [{ lastTransitionTime: '2026-01-01T00:01:05Z' }],
    });
  });
});
