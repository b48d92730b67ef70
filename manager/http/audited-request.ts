import type { KubeUser } from '../../shared/kube/access-reviews.ts';
import type { ApiAnswer, Audited, Parameters } from './route.ts';
import { RequestRefused } from './route.ts';
import type { AuditEntry, AuditOrigin, AuditOutcome } from '../audit/audit-line.ts';

/** A request to an audited route, as far as known. */
export type AuditedRequest = {
  readonly audited: Audited;
  readonly parameters: Parameters;
  readonly user: KubeUser | undefined;
  readonly from: AuditOrigin;
};

/** The audit entry of an answer; undefined where the route has written it. */
export function entryOfAnswer({ audited, parameters, user, from }: AuditedRequest, answer: ApiAnswer): AuditEntry | undefined {
  if (audited.lines === 'Refusals' || answer.kind !== 'Json') return undefined;
  const { name, ...said } = answer.audited ?? {};
  const on = audited.on(parameters);
  return { user, what: audited.what, from, outcome: 'Done', ...said, on: name === undefined ? on : { ...on, name } };
}

/** The audit entry of a request that was refused, or failed. */
export function entryOfError({ audited, parameters, user, from }: AuditedRequest, error: unknown): AuditEntry {
  const isRefused = error instanceof RequestRefused;
  return {
    user,
    what: audited.what,
    on: audited.on(parameters),
    from,
    // Other errors go to the program's log.
    reason: isRefused
      ? `${error.status} ${error.reason}: ${error.message}`
      : 'something that is needed did not answer; whether it was done is not known',
    outcome: isRefused ? outcomeOf(error.status) : 'Failed',
  };
}

function outcomeOf(status: number): AuditOutcome {
  if (status === 404) return 'Missing';
  return status >= 500 ? 'Failed' : 'Refused';
}
