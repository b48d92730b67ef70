import { DispatchedReason } from './reasons.ts';

/** Why a Job is not on its cluster, as its condition Dispatched says it. */
export type DispatchProblem = { readonly reason: DispatchedReason; readonly message: string };

/** What a cluster may refuse a Job for, so that trying again there at once is of no use. */
const REFUSALS: readonly string[] = [
  DispatchedReason.NameTaken,
  DispatchedReason.NamespaceMissing,
  DispatchedReason.Refused,
  DispatchedReason.FieldsUnknown,
  DispatchedReason.FieldsDropped,
];

/**
 * A problem that ends the placement of this number: its cluster has refused the Job, and nothing of it is there. The number stands in the message,
 * because the condition outlives the placement. Admission takes the Job elsewhere when it reads this, and dispatch does not try again.
 */
export const refusalOf = (epoch: number, { reason, message }: DispatchProblem): DispatchProblem => ({
  reason,
  message: `${placement(epoch)}${message}`,
});

/** Whether a condition, or a problem, ends the placement of this number. */
export const isRefusalOf = (epoch: number, told: { readonly reason?: string; readonly message?: string } | undefined): boolean =>
  told?.reason !== undefined && REFUSALS.includes(told.reason) && told.message?.startsWith(placement(epoch)) === true;

/** Whether it ends the placement that it is about. */
export const isRefusal = ({ reason, message }: DispatchProblem): boolean => REFUSALS.includes(reason) && /^placement \d+: /.test(message);

const placement = (epoch: number): string => `placement ${epoch}: `;
