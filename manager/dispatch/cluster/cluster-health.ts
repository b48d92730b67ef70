import type { AnswerFault } from '../../../shared/kube/unusable-answer.ts';
import type { IdentityProblem } from './cluster-identities.ts';
import type { Contact } from '../mirror/mirror-group.ts';
import type { WorkerFinding } from './worker-finding.ts';

/** What is known of the connection to one worker cluster. Times are epoch milliseconds, unless said otherwise. */
export type ClusterHealth = {
  readonly contact: Contact;
  /** Its API server answered the last probe, if only to refuse it. */
  readonly connected: boolean;
  readonly reason: string;
  readonly message: string;
  /** First of the failures that have not ended yet. Losing a cluster is counted from here. */
  readonly failingSinceMs: number | undefined;
  readonly failures: number;
  readonly version: string | undefined;
  readonly roundTripMs: number | undefined;
  /** When the last renewal of our Lease was sent that its worker may have seen, on the clock's `monotonic`. */
  readonly renewalSentMs: number | undefined;
  /** Its watch has given no sign of life for longer than one may be silent, and cannot be opened anew: what becomes of its Jobs is not heard. */
  readonly unheard: boolean;
};

export type ProbeResult =
  | {
      readonly kind: 'Answered';
      readonly version: string;
      readonly roundTripMs: number;
      readonly synced: boolean;
      /** Its lists or watches cannot be used, so that what it has is not known. */
      readonly fault?: ClusterFault | undefined;
    }
  | ProbeFailure
  | ProbeRefusal;
/** It did not answer, or not as it should: that may be over in a moment. */
export type ProbeFailure = {
  readonly kind: 'Failed';
  readonly reason: 'ConnectionFailed' | 'AddressDenied' | AnswerFault;
  readonly message: string;
};
/** It answers, and may not be used. */
export type ProbeRefusal = {
  readonly kind: 'Refused';
  readonly reason: 'Unauthorized' | 'Forbidden' | 'OtherManager' | 'LeaseForbidden' | IdentityProblem['reason'];
  readonly message: string;
};
export type ClusterFault = { readonly reason: AnswerFault; readonly message: string };

/** A brief interruption is no loss: this many probes in a row must fail. */
export const FAILURES_UNTIL_LOST = 3;

export const NEVER_PROBED: ClusterHealth = {
  contact: 'Connecting',
  connected: false,
  reason: 'Connecting',
  message: 'no answer yet',
  failingSinceMs: undefined,
  failures: 0,
  version: undefined,
  roundTripMs: undefined,
  renewalSentMs: undefined,
  unheard: false,
};

/** What a probe makes of it. */
export function afterProbe(health: ClusterHealth, probe: ProbeResult, nowMs: number): ClusterHealth {
  if (probe.kind === 'Answered') {
    const { version, roundTripMs } = probe;
    if (probe.fault !== undefined) return { ...withFault(health, probe.fault, nowMs), connected: true, failures: 0, version, roundTripMs };
    // Once complete, the cache stays usable: the informer catches up by itself after an interruption.
    const contact = probe.synced ? 'Ready' : 'Connecting';
    return {
      renewalSentMs: health.renewalSentMs,
      unheard: health.unheard,
      ...(probe.synced
        ? { contact, reason: 'Connected', message: 'connected' }
        : { contact, reason: 'Listing', message: 'listing its Jobs' }),
      connected: true,
      failingSinceMs: undefined,
      failures: 0,
      version,
      roundTripMs,
    };
  }
  if (probe.kind === 'Refused') return { ...withFault(health, probe, nowMs), connected: true, failures: 0 };
  const failures = health.failures + 1;
  const lost = failures >= FAILURES_UNTIL_LOST;
  return {
    ...health,
    contact: lost ? 'Lost' : health.contact,
    connected: !lost && health.connected,
    reason: lost ? probe.reason : health.reason,
    message: lost ? probe.message : health.message,
    failingSinceMs: health.failingSinceMs ?? nowMs,
    failures,
  };
}

/** Not what fails once in a while, but an answer that no API server gives, or a refusal: the cluster counts as lost at once, and says why. */
export const withFault = (health: ClusterHealth, { reason, message }: ClusterFault | ProbeRefusal, nowMs: number): ClusterHealth => ({
  ...health,
  contact: 'Lost',
  reason,
  message,
  failingSinceMs: health.failingSinceMs ?? nowMs,
});

/** What others should hear of when it changes. */
export function newsOf(health: ClusterHealth, worker: WorkerFinding, priorityClasses: readonly string[] | undefined): string {
  const { contact, connected, reason, version, failingSinceMs, renewalSentMs, unheard } = health;
  const lastRenewalMs = contact === 'Ready' ? 0 : renewalSentMs;
  return JSON.stringify([contact, connected, reason, version, failingSinceMs, lastRenewalMs, unheard, worker, priorityClasses]);
}
