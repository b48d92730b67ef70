import type { KubeClient } from '../shared/kube/client.ts';
import { fencedClient } from '../shared/kube/fenced-client.ts';
import { createLeaseHold } from '../shared/kube/lease-hold.ts';
import { runAsLeader, type LeaderElectionOptions } from '../shared/kube/leader-election.ts';
import type { Logs, Presence } from './job-parts.ts';
import { createWorker, restoredError, type Worker, type WorkerDeps } from './worker.ts';

export type ElectedWorkerDeps = WorkerDeps & {
  readonly client: KubeClient;
  readonly eventClient: KubeClient;
  readonly presence?: Presence & { readonly client: KubeClient };
  readonly logs?: Logs & { readonly client: KubeClient };
  /** It leads from now on. */
  readonly onLeading?: () => void;
  readonly election: Pick<LeaderElectionOptions, 'client' | 'namespace' | 'name' | 'identity' | 'leaseDurationMs'>;
};

/**
 * A worker that works only while it holds the Lease, so that replicas can stand by. While the Lease cannot be renewed writes wait; once it
 * is lost nothing more is written, not even what was begun, and `run` rejects: the program ends and stands by anew. One that stands by is
 * ready: it would work if it were its turn.
 */
export function createElectedWorker(deps: ElectedWorkerDeps): Worker {
  const { client, clientOf, eventClient, presence, logs, election, clock, random, log } = deps;
  let worker: Worker | undefined;
  const hold = createLeaseHold(clock);
  const lead = (leading: AbortSignal, lost: AbortSignal): Promise<void> => {
    worker = createWorker({
      ...deps,
      client: fencedClient(client, lost, hold),
      ...(clientOf && { clientOf: (key) => fencedClient(clientOf(key), lost, hold) }),
      eventClient: fencedClient(eventClient, lost, hold),
      ...(logs && { logs: { ...logs, client: fencedClient(logs.client, lost, hold) } }),
      // Only who leads says that there is a worker.
      ...(presence && { presence: { ...presence, client: fencedClient(presence.client, lost, hold) } }),
    });
    deps.onLeading?.();
    return worker.run(leading);
  };
  return {
    async run(signal) {
      let wentBack: Error | undefined;
      const onWentBack = (error: Error): void => void (wentBack = error);
      await runAsLeader({ ...election, clock, random, log, hold, onWentBack }, lead, signal);
      if (!signal.aborted && wentBack !== undefined) throw restoredError(wentBack);
      if (!signal.aborted) throw new Error('leadership was lost');
    },
    problem: () => worker?.problem(),
    invariants: () => worker?.invariants(),
  };
}
