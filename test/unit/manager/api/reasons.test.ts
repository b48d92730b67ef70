import { expect, test } from 'vitest';
import { DispatchedReason, JobEventReason, QuotaReservedReason, SwitchyardCondition } from '../../../../manager/api/reasons.ts';

test('every reason is spelt like its name and fits the API: CamelCase, no spaces', () => {
  for (const catalogue of [SwitchyardCondition, QuotaReservedReason, DispatchedReason, JobEventReason]) {
    for (const [name, reason] of Object.entries(catalogue)) {
      expect(reason).toBe(name);
      expect(reason).toMatch(/^[A-Z][A-Za-z]+$/);
    }
  }
});
