import { runAsLeader, type LeaderElectionOptions } from '../shared/kube/leader-election.ts';
import type { Clock } from '../shared/runtime/clock.ts';
import { given } from '../shared/runtime/given.ts';
import type { Logger } from '../shared/runtime/logger.ts';
import type { Random } from '../shared/runtime/random.ts';

/** `client` has a rate limit of its own or none, because renewing the Lease must not wait behind the work. */
export type Election = Pick<LeaderElectionOptions, 'client' | 'namespace' | 'name' | 'identity'>;

/** Leads at once where there is no election, else once it is elected; rejects when leadership is lost. */
export async function leadWhenElected(
  deps: Pick<LeaderElectionOptions, 'onWentBack' | 'onWaiting'> & {
    readonly leaderElection?: Election;
    readonly clock: Clock;
    readonly random: Random;
    readonly log: Logger;
  },
  lead: (signal: AbortSignal, lost?: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random, log, leaderElection, onWentBack, onWaiting } = deps;
  if (leaderElection === undefined) return lead(signal);
  await runAsLeader({ ...leaderElection, clock, random, log, ...given({ onWentBack, onWaiting }) }, lead, signal);
  if (!signal.aborted) throw new Error('leadership was lost');
}
