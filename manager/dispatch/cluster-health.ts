import type { Contact } from './decide-mirror.ts';

/** What is known of the connection to one worker cluster. Times are epoch milliseconds. */
export type ClusterHealth = {
  readonly contact: Contact;
  /** Its API server answered the last probe. */
  readonly connected: boolean;
  readonly reason: string;
  readonly message: string;
  /** First of the failures that have not ended yet. Losing a cluster is counted from here. */
  readonly failingSinceMs: number | undefined;
  readonly failures: number;
  readonly version: string | undefined;
  readonly roundTripMs: number | undefined;
};

export type ProbeResult =
  | { readonly kind: 'Answered'; readonly version: string; readonly roundTripMs: number; readonly synced: boolean }
  | { readonly kind: 'Failed'; readonly reason: 'ConnectionFailed' | 'AddressDenied'; readonly message: string };

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
};

/** What a probe makes of it. */
export function afterProbe(health: ClusterHealth, probe: ProbeResult, nowMs: number): ClusterHealth {
  if (probe.kind === 'Answered') {
    // Once complete, the cache stays usable: the informer catches up by itself after an interruption.
    const contact = probe.synced ? 'Ready' : 'Connecting';
    return {
      ...(probe.synced
        ? { contact, reason: 'Connected', message: 'connected' }
        : { contact, reason: 'Listing', message: 'listing its Jobs' }),
      connected: true,
      failingSinceMs: undefined,
      failures: 0,
      version: probe.version,
      roundTripMs: probe.roundTripMs,
    };
  }
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
