import { runAsLeader, type LeaderElectionOptions } from '../../shared/kube/leader-election.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Random } from '../../shared/runtime/random.ts';

export type Election = Pick<LeaderElectionOptions, 'client' | 'namespace' | 'name' | 'identity' | 'leaseDurationMs'>;

/** Leads at once without an election, else once elected; rejects when leadership is lost. */
export async function leadWhenElected(
  deps: Pick<LeaderElectionOptions, 'onWentBack' | 'onWaiting' | 'onExpiring' | 'hold'> & {
    readonly leaderElection?: Election;
    readonly clock: Clock;
    readonly random: Random;
    readonly log: Logger;
  },
  lead: (signal: AbortSignal, lost?: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random, log, leaderElection, onWentBack, onWaiting, onExpiring, hold } = deps;
  if (leaderElection === undefined) return lead(signal);
  await runAsLeader({ ...leaderElection, clock, random, log, ...omitUndefined({ onWentBack, onWaiting, onExpiring, hold }) }, lead, signal);
  if (!signal.aborted) throw new Error('leadership was lost');
}
