import type { DeepReadonly, Node, PodSpec } from '../api/kubernetes.ts';

export type Taint = DeepReadonly<Pick<NonNullable<NonNullable<Node['spec']>['taints']>[number], 'key' | 'value' | 'effect'>>;
export type Toleration = DeepReadonly<NonNullable<PodSpec['tolerations']>[number]>;

/** Whether a toleration is about this taint. */
export function tolerates({ key = '', operator, value = '', effect = '' }: Toleration, taint: Taint): boolean {
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  switch (operator) {
    case 'Exists':
      return true;
    case 'Lt':
    case 'Gt':
      return compares(operator, taint.value ?? '', value);
    default:
      // Equal, also where nothing is said; only Exists is for all keys.
      return key !== '' && value === (taint.value ?? '');
  }
}

/** The first taint that keeps pods with these tolerations off a node, now or later. A mere preference does not. */
export const repellingTaint = <T extends Taint>(taints: readonly T[], tolerations: readonly Toleration[]): T | undefined =>
  taints.find((taint) => REPELLING.includes(taint.effect) && !tolerations.some((toleration) => tolerates(toleration, taint)));
const REPELLING: readonly string[] = ['NoSchedule', 'NoExecute'];

/** `gpu=yes:NoSchedule`, as kubectl writes it. */
export const formatTaint = ({ key, value = '', effect }: Taint): string => `${key}${value === '' ? '' : `=${value}`}:${effect}`;

/** KEP-5471: the taint is lower, or greater, than what the toleration says; neither holds of what is no integer. */
function compares(operator: 'Lt' | 'Gt', taint: string, bound: string): boolean {
  if (!INTEGER.test(taint) || !INTEGER.test(bound)) return false;
  return operator === 'Lt' ? BigInt(taint) < BigInt(bound) : BigInt(taint) > BigInt(bound);
}
const INTEGER = /^(0|-?[1-9]\d*)$/;
