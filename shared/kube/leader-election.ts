import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Random } from '../runtime/random.ts';
import type { ReadClient, WriteClient } from './client.ts';

export type LeaderElectionOptions = {
  readonly client: ReadClient & WriteClient;
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly leaseDurationMs?: number; // 15 s
  readonly renewDeadlineMs?: number; // 10 s
  readonly retryPeriodMs?: number; // 2 s
};

/**
 * client-go's election on a Lease: expiry is judged by the local clock from when a change was last *seen*, so clock
 * skew between replicas does no harm. Waits for leadership, runs `lead` with a signal that aborts the moment
 * leadership is lost or cannot be renewed within the deadline, and releases the lease on the way out.
 * Resolves when `signal` aborts or leadership is lost (the program then exits and starts anew).
 */
export declare function runAsLeader(
  options: LeaderElectionOptions,
  lead: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void>;
