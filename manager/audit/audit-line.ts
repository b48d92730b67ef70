import type { KubeUser } from '../../shared/kube/access-reviews.ts';
import { sanitizeText } from '../api/sanitize-text.ts';

/** What was asked for, by whom, and what came of it. */
export type AuditEntry = {
  /** undefined: the caller is not known, because there was no token that is good. */
  readonly user: KubeUser | undefined;
  /**
   * A verb: `submit`, `cancel`, `hold`, `release`, `cordon`, `uncordon`, `drain`, `purge`, or of a change of a Job; `act` where the body
   * was not read.
   */
  readonly what: string;
  /** Value that was written, of verbs that write one. */
  readonly value?: string;
  readonly on: AuditedObject;
  readonly from: AuditOrigin;
  /** Why it was not done, or was done otherwise. Absent: there is nothing to say. */
  readonly reason?: string;
  readonly outcome: AuditOutcome;
};

export type AuditedObject = { readonly kind: string; readonly namespace?: string; readonly name?: string; readonly uid?: string };
/** `address`: of the connection, which is that of a proxy where there is one; of `cli` the name of the machine. */
export type AuditOrigin = { readonly door: 'http' | 'dashboard' | 'webhook' | 'cli'; readonly address: string | undefined };
/** Pending: taken, and not yet done. Missing: there is no such object, or it has ended. */
export type AuditOutcome = 'Done' | 'Pending' | 'Refused' | 'Missing' | 'Failed';

const NAME_LENGTH_MAX = 512;

/** One line of the audit log. Its fields are stable: all of them are in every line, and parts that are not known are null. */
export function auditLine({ user, what, value, on, from, reason, outcome }: AuditEntry, nowMs: number): string {
  const fields = {
    // Tells it from the other lines on standard output.
    log: 'audit',
    time: new Date(nowMs).toISOString(),
    who: { user: name(user?.username), uid: name(user?.uid), groups: user?.groups?.length ?? 0 },
    what,
    value: name(value),
    on: { kind: on.kind, namespace: name(on.namespace), name: name(on.name), uid: name(on.uid) },
    from: { door: from.door, address: name(from.address) },
    reason: reason === undefined ? null : sanitizeText(reason),
    outcome,
  };
  return `${JSON.stringify(fields)}\n`;
}

const name = (text: string | undefined): string | null => (text === undefined ? null : sanitizeText(text, NAME_LENGTH_MAX));
