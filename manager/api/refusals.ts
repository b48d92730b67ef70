import { DispatchedReason } from './reasons.ts';
import { sanitizeText } from './sanitize-text.ts';

/** Why a Job is not on its cluster: reason and message of its condition Dispatched. */
export type DispatchProblem = { readonly reason: DispatchedReason; readonly message: string };

/** Reasons for which a cluster may refuse a Job, where an immediate retry on that cluster is of no use. */
const REFUSALS: readonly string[] = [
  DispatchedReason.NameTaken,
  DispatchedReason.NamespaceMissing,
  DispatchedReason.Refused,
  DispatchedReason.FieldsUnknown,
  DispatchedReason.FieldsDropped,
];

/**
 * A problem that ends the placement of this number: its cluster has refused the Job, and has no copy of it. The number is in the message,
 * because the condition outlives the placement. Admission then moves the Job, and dispatch does not retry.
 */
export const refusalOf = (epoch: number, { reason, message }: DispatchProblem): DispatchProblem => ({
  reason,
  message: `${placement(epoch)}${message}`,
});

/** Whether a condition, or a problem, ends the placement of this number. */
export const isRefusalOf = (epoch: number, told: { readonly reason?: string; readonly message?: string } | undefined): boolean =>
  told?.reason !== undefined && REFUSALS.includes(told.reason) && told.message?.startsWith(placement(epoch)) === true;

/** Whether a problem ends the placement that it names. */
export const isRefusal = ({ reason, message }: DispatchProblem): boolean => REFUSALS.includes(reason) && /^placement \d+: /.test(message);

const placement = (epoch: number): string => `placement ${epoch}: `;

/** The problem that the Job reports. */
export const fieldsDropped = (cluster: string, fields: readonly string[]): DispatchProblem => ({
  reason: DispatchedReason.FieldsDropped,
  message:
    `cluster "${cluster}" has not kept ${sanitizeText(fields.join(', '))} of the Job, and the copy was deleted; bring that cluster to a version that has these fields, ` +
    'switch their features on there, or leave them out',
});
