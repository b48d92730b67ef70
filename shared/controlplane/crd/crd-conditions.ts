import type { CrdCondition, CrdStatus } from './crd.ts';

/** The status with one condition set; the time of transition changes only with the condition's status. */
export function withCondition(status: CrdStatus = {}, condition: CrdCondition, now: string): CrdStatus {
  const conditions = status.conditions ?? [];
  const index = conditions.findIndex(({ type }) => type === condition.type);
  const previous = conditions[index];
  const lastTransitionTime = previous?.status === condition.status ? (previous.lastTransitionTime ?? now) : now;
  const next = { ...condition, lastTransitionTime };
  return { ...status, conditions: index < 0 ? [...conditions, next] : conditions.with(index, next) };
}
