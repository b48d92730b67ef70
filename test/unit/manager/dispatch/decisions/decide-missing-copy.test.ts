import { describe, expect, test } from 'vitest';
import { COPY_LOST_DELAY_MS } from '../../../../../manager/dispatch/mirror/missing-copy.ts';
import type { Job } from '../../../../../shared/api/kubernetes.ts';
import { aCondition, anAdmittedJob } from '../../../../support/jobs.ts';
import { actions, conditionsHome, DISPATCHED, plan, RESERVED } from './mirror-situation.ts';

describe('a copy that vanished', () => {
  const local = anAdmittedJob({ status: { active: 1, conditions: [RESERVED, DISPATCHED] } });

  test('is missed, and made again only when its pods have had time to stop', () => {
    const missed = plan(local, []);
    expect(actions(missed)).toEqual([]);
    expect(conditionsHome(missed)).toEqual(['QuotaReserved=True QuotaReserved', 'Dispatched=False CopyLost']);
    expect(missed.againAfterMs).toBe(COPY_LOST_DELAY_MS + 30_000);
    const lostAt = (time: string): Job =>
      anAdmittedJob({
        spec: { template: { spec: { containers: [], terminationGracePeriodSeconds: 120 } } },
        status: { conditions: [RESERVED, aCondition('Dispatched', { status: 'False', reason: 'CopyLost', lastTransitionTime: time })] },
      });
    expect(plan(lostAt('2026-01-01T00:57:57Z'), [])).toMatchObject({ remote: [], againAfterMs: 7_000 });
    expect(actions(plan(lostAt('2026-01-01T00:57:50Z'), []))).toEqual(['Create eu-1']);
  });
});
