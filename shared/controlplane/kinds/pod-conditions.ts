import type { DecodedPodCondition, DecodedPodStatus } from './decoded.ts';

/**
 * A status with one condition set (UpdatePodCondition): its transition time stays while its truth does. The status given is not changed.
 */
export const withPodCondition = (status: DecodedPodStatus, condition: DecodedPodCondition, time: string): DecodedPodStatus => {
  const conditions = status.conditions ?? [];
  const index = conditions.findIndex(({ type }) => type === condition.type);
  const existing = conditions[index];
  const since = existing !== undefined && existing.status === condition.status ? existing.lastTransitionTime : time;
  const next = { ...condition, lastProbeTime: null, lastTransitionTime: since };
  return { ...status, conditions: existing === undefined ? [...conditions, next] : conditions.with(index, next) };
};
