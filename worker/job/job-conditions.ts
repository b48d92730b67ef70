/** Conditions of a Job as upstream keeps them: in the order they came, replaced as a whole when anything differs. */
import type { DeepReadonly, JobCondition } from '../../shared/api/kubernetes.ts';
import { toWireTime } from '../../shared/api/wire-time.ts';

type ConditionText = { readonly type: string; readonly status: 'True' | 'False'; readonly reason: string; readonly message: string };

export const newCondition = <T extends ConditionText>(text: T, nowMs: number): JobCondition & T => ({
  ...text,
  lastProbeTime: toWireTime(nowMs),
  lastTransitionTime: toWireTime(nowMs),
});

/** The conditions with this one true to its text. One that is missing is not added only to say False. */
export function ensureCondition(
  conditions: readonly DeepReadonly<JobCondition>[],
  text: ConditionText,
  nowMs: number,
): { readonly conditions: readonly DeepReadonly<JobCondition>[]; readonly changed: boolean } {
  const position = conditions.findIndex(({ type }) => type === text.type);
  const existing = conditions[position];
  if (existing === undefined) {
    return text.status === 'False'
      ? { conditions, changed: false }
      : { conditions: [...conditions, newCondition(text, nowMs)], changed: true };
  }
  if (existing.status === text.status && existing.reason === text.reason && existing.message === text.message) {
    return { conditions, changed: false };
  }
  return { conditions: conditions.with(position, newCondition(text, nowMs)), changed: true };
}
