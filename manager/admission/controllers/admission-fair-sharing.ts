import { MANAGER_FIELD_MANAGER } from '../../../shared/api/names.ts';
import type { DeepReadonly } from '../../../shared/api/kubernetes.ts';
import { toWireTime } from '../../../shared/api/wire-time.ts';
import { isNotFound } from '../../../shared/kube/api-error.ts';
import type { StatusClient } from '../../../shared/kube/client.ts';
import type { Lister } from '../../../shared/kube/indexer.ts';
import { keyOfObject, objectKey } from '../../../shared/kube/keys.ts';
import { sleep, type Clock } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { LOCAL_QUEUES, type LocalQueue } from '../../api/local-queue.ts';
import type { AdmissionMetrics } from './admission-metrics.ts';
import type { AdmissionCache, HoldingListener } from '../cache/admission-cache.ts';
import { localQueueOf } from '../fair-sharing/local-queue-order.ts';
import { formatConsumed, type UsagePolicy } from '../fair-sharing/local-queue-usage.ts';
import type { Reservation } from '../workload/reservation.ts';
import { createUsageLedger, writtenLedger } from '../fair-sharing/usage-ledger.ts';
import { firstByName } from './state-metrics.ts';

/** Tracks the usage of LocalQueues, and writes it to their status so that it survives a restart. */
export interface AdmissionFairSharing {
  /** Receives the reservations. */
  readonly holdings: HoldingListener;
  /**
   * The usage by which a LocalQueue, as `namespace/name`, is compared with others of its ClusterQueue; undefined if the queue does not ask
   * for that. It is scaled to the last sample, so it stays constant while nothing is held, and values of different times compare.
   */
  usageOf(localQueue: string): number | undefined;
  /** A LocalQueue is deleted, and its usage with it. */
  forget(localQueue: string): void;
  /** Restores the usage from status, and writes it until `signal` aborts. Call it on the leader, with synced informers. */
  run(signal: AbortSignal): Promise<void>;
}

export type AdmissionFairSharingDeps = {
  readonly policy: UsagePolicy;
  readonly client: StatusClient;
  readonly cache: () => Pick<AdmissionCache, 'queueing' | 'reservations'>;
  readonly localQueues: Lister<LocalQueue>;
  /** The order may have changed: for this LocalQueue of the ClusterQueue, or for all. */
  readonly changed: (clusterQueue?: string, localQueue?: string) => void;
  readonly metrics: Pick<AdmissionMetrics, 'localQueueUsage' | 'localQueuesMax'>;
  readonly clock: Clock;
  readonly log: Logger;
};

export function createAdmissionFairSharing(deps: AdmissionFairSharingDeps): AdmissionFairSharing {
  const { policy, client, localQueues, metrics, clock, log } = deps;
  let ledger = createUsageLedger(policy);
  let sampledMs = clock.now();

  const count = (reservation: Reservation): void => {
    const { workload, record, held } = reservation;
    if (workload.queue === undefined) return;
    if (ledger.admitted(localQueueOf(workload), workload.key, held, record, clock.now())) tell(reservation);
  };
  const tell = ({ workload, record }: Reservation): void => deps.changed(record.clusterQueue, localQueueOf(workload));
  /** The LocalQueue's weight, if its ClusterQueue orders by usage. */
  const weightIn = (localQueue: string): { readonly weight: number; readonly clusterQueue: string } | undefined => {
    const { localQueues: setups, queues } = deps.cache().queueing();
    const setup = setups.get(localQueue);
    const isAsked = setup !== undefined && queues.get(setup.clusterQueue)?.admissionMode === 'UsageBasedAdmissionFairSharing';
    return isAsked ? { weight: setup.weight, clusterQueue: setup.clusterQueue } : undefined;
  };

  /** Status and reservations together restore the usage. */
  const restore = (): void => {
    ledger = writtenLedger(policy, localQueues.list());
    for (const reservation of deps.cache().reservations()) count(reservation);
  };

  const write = async (queue: DeepReadonly<LocalQueue>, nowMs: number): Promise<void> => {
    const localQueue = keyOfObject(queue);
    const consumedResources = formatConsumed(ledger.consumed(localQueue, nowMs));
    const gone = Object.keys(queue.status?.fairSharing?.admissionFairSharingStatus?.consumedResources ?? {});
    const status = {
      // A merge patch keeps fields that it does not name.
      consumedResources: { ...Object.fromEntries(gone.map((resource) => [resource, null])), ...consumedResources },
      lastUpdate: toWireTime(nowMs),
    };
    try {
      const body = { status: { fairSharing: { admissionFairSharingStatus: status } } };
      await client.patchStatus(LOCAL_QUEUES, objectKey(queue), { type: 'merge', body }, { fieldManager: MANAGER_FIELD_MANAGER });
      ledger.written(localQueue, nowMs);
    } catch (error) {
      if (isNotFound(error)) return;
      log.warn('what a local queue has used could not be written', { ...objectKey(queue), error });
    }
  };

  const sample = async (signal: AbortSignal): Promise<void> => {
    const nowMs = clock.now();
    sampledMs = nowMs;
    const unwritten = new Set(ledger.unwritten(nowMs));
    const all = localQueues.list().flatMap((queue) => {
      const asked = weightIn(keyOfObject(queue));
      return asked === undefined ? [] : [{ namespace: queue.metadata.namespace ?? '', name: queue.metadata.name, queue, asked }];
    });
    metrics.localQueueUsage.reset();
    for (const { namespace, name, queue, asked } of firstByName(all, metrics.localQueuesMax)) {
      const labels = { namespace, local_queue: name, cluster_queue: asked.clusterQueue };
      metrics.localQueueUsage.set(labels, ledger.usage(keyOfObject(queue), asked.weight, nowMs));
    }
    for (const { queue } of all) if (unwritten.has(keyOfObject(queue)) && !signal.aborted) await write(queue, nowMs);
    deps.changed();
  };

  return {
    holdings: {
      held: count,
      released: (reservation) => {
        const { workload, assumed } = reservation;
        if (assumed) ledger.neverWas(workload.key, clock.now());
        else ledger.ended(workload.key, clock.now());
        tell(reservation);
      },
    },
    usageOf: (localQueue) => {
      const asked = weightIn(localQueue);
      if (asked === undefined) return undefined;
      const nowMs = clock.now();
      const halfLives = Math.min((nowMs - sampledMs) / policy.halfLifeMs, HALF_LIVES_MAX);
      return ledger.usage(localQueue, asked.weight, nowMs) * 2 ** halfLives;
    },
    forget: (localQueue) => ledger.forget(localQueue),
    run: async (signal) => {
      restore();
      while (!signal.aborted) {
        await sample(signal);
        await sleep(clock, policy.samplingIntervalMs, signal);
      }
    },
  };
}

/** Beyond this many half-lives no comparable usage is left. */
const HALF_LIVES_MAX = 500;
