/** `spec.successPolicy`: when an Indexed Job has succeeded before all of its indexes have (success_policy.go). */
import type { DeepReadonly, SuccessPolicy } from '../../shared/api/kubernetes.ts';
import { countShared, type IndexSet, parseIndexes } from './indexes.ts';

/** Why the Job has succeeded, or undefined. */
export function matchSuccessPolicy(
  policy: DeepReadonly<SuccessPolicy> | undefined,
  completions: number,
  succeeded: IndexSet,
): string | undefined {
  if (policy === undefined || succeeded.size === 0) return undefined;
  const position = (policy.rules ?? []).findIndex((rule) => matchesRule(rule, completions, succeeded));
  return position < 0 ? undefined : `Matched rules at index ${position}`;
}

function matchesRule(rule: DeepReadonly<SuccessPolicy>['rules'][number], completions: number, succeeded: IndexSet): boolean {
  const needed = rule.succeededCount ?? undefined;
  if (rule.succeededIndexes === undefined || rule.succeededIndexes === null) return needed !== undefined && succeeded.size >= needed;
  const asked = parseIndexes(rule.succeededIndexes, completions);
  if (asked.size === 0) return false;
  const met = countShared(asked, succeeded);
  return met === asked.size || (needed !== undefined && met >= needed);
}
