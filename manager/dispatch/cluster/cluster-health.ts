import type { AnswerFault } from '../../../shared/kube/unusable-answer.ts';
import type { IdentityProblem } from './cluster-identities.ts';
import type { Contact } from '../mirror/mirror-group.ts';
import type { WorkerFinding } from './worker-finding.ts';

/** The state of the connection to one worker cluster. Times are epoch milliseconds, unless noted otherwise. */
export type ClusterHealth = {
  readonly contact: Contact;
  /** The API server answered the last probe, if only with a refusal. */
  readonly connected: boolean;
  readonly reason: string;
  readonly message: string;
  /** The first of the failures that have not ended yet; the loss of a cluster is counted from it. */
  readonly failingSinceMs: number | undefined;
  readonly failures: number;
  readonly version: string | undefined;
  readonly roundTripMs: number | undefined;
  /** When the last Lease renewal that the worker may have seen was sent, on the clock's `monotonic`. */
  readonly renewalSentMs: number | undefined;
  /** The watch of copies is silent for longer than a healthy one can be, and cannot be reopened: changes of its Jobs are not seen. */
  readonly unheard: boolean;
  /** Served namespaces in which the manager may not list Jobs. The others are used. */
  readonly unreadable: readonly string[];
};

export type ProbeResult =
  | {
      readonly kind: 'Answered';
      readonly version: string;
      readonly roundTripMs: number;
      readonly synced: boolean;
      /** Lists or watches of the cluster are unusable, so that its copies are not known. */
      readonly fault?: ClusterFault | undefined;
    }
  | ProbeFailure
  | ProbeRefusal;
/** The cluster did not answer, or not correctly: this may be transient. */
export type ProbeFailure = {
  readonly kind: 'Failed';
  readonly reason: 'ConnectionFailed' | 'AddressDenied' | AnswerFault;
  readonly message: string;
};
/** The cluster answers, and must not be used. */
export type ProbeRefusal = {
  readonly kind: 'Refused';
  readonly reason: 'Unauthorized' | 'Forbidden' | 'OtherManager' | 'LeaseForbidden' | IdentityProblem['reason'];
  readonly message: string;
};
export type ClusterFault = { readonly reason: AnswerFault; readonly message: string };

/** A cluster counts as lost after this many failed probes in a row, so that a short interruption is no loss. */
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
  unreadable: [],
};

/**
 * Health after a probe that is late. It tells of a lost cluster nothing new: a message that changed with every probe would cost a status
 * write each time.
 */
export function afterLateAnswer(health: ClusterHealth, failure: ProbeFailure, nowMs: number): ClusterHealth {
  const next = afterProbe(health, failure, nowMs);
  return health.contact === 'Lost' ? { ...next, reason: health.reason, message: health.message } : next;
}

/** The health after a probe. */
export function afterProbe(health: ClusterHealth, probe: ProbeResult, nowMs: number): ClusterHealth {
  if (probe.kind === 'Answered') {
    const { version, roundTripMs } = probe;
    if (probe.fault !== undefined) return { ...withFault(health, probe.fault, nowMs), connected: true, failures: 0, version, roundTripMs };
    // A complete cache stays usable: the informer catches up by itself after an interruption.
    const contact = probe.synced ? 'Ready' : 'Connecting';
    return {
      renewalSentMs: health.renewalSentMs,
      unheard: health.unheard,
      unreadable: health.unreadable,
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

/** The health after a refusal, or an answer that no API server gives: the cluster counts as lost at once, with the reason. */
export const withFault = (health: ClusterHealth, { reason, message }: ClusterFault | ProbeRefusal, nowMs: number): ClusterHealth => ({
  ...health,
  contact: 'Lost',
  reason,
  message,
  failingSinceMs: health.failingSinceMs ?? nowMs,
});

/** The part of the health whose changes are reported. */
export function reportedState(health: ClusterHealth, worker: WorkerFinding, inventory: object): string {
  const { contact, connected, reason, version, failingSinceMs, renewalSentMs, unheard, unreadable } = health;
  const lastRenewalMs = contact === 'Ready' ? 0 : renewalSentMs;
  return JSON.stringify([contact, connected, reason, version, failingSinceMs, lastRenewalMs, unheard, unreadable, worker, inventory]);
}
