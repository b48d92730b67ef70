import { QuantityError } from '../../shared/kube/quantity.ts';
import { formatAmount, parseAmount, plus, ZERO, type Amount } from '../api/amount.ts';
import type { Fill } from './views.ts';

/** The amount of a quantity in an object; zero where it is malformed, as any user who may write the object can have written it. */
export function amountIn(resource: string, quantity: string | number | undefined): Amount {
  if (quantity === undefined) return ZERO;
  try {
    return parseAmount(resource, quantity);
  } catch (error) {
    if (error instanceof QuantityError) return ZERO;
    throw error;
  }
}

export const sumOf = (amounts: readonly Amount[]): Amount => amounts.reduce<Amount>((sum, each) => plus(sum, each), ZERO);

/** The use of a resource. `of` undefined: there is no limit. */
export function fillOf(resource: string, used: Amount, of: Amount | undefined): Fill {
  return {
    resource,
    used: formatAmount(resource, used),
    of: of === undefined ? 'unlimited' : formatAmount(resource, of),
    ...(of === undefined ? {} : { share: shareOf(used, of) }),
  };
}

/** Rounded to three digits: a bar shows no more, and fewer changes are sent. */
export const shareOf = (used: Amount, of: Amount): number => (of > ZERO ? Math.round((used / of) * 1000) / 1000 : used > ZERO ? 1 : 0);

/** Orders cpu, memory and devices first, the number of pods last. */
export function byImportance(a: string, b: string): number {
  const rank = (resource: string): number => ({ cpu: 0, memory: 1, 'ephemeral-storage': 3, pods: 4 })[resource] ?? 2;
  return rank(a) - rank(b) || (a < b ? -1 : a > b ? 1 : 0);
}
