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
import { createUsageLedger, writtenLedger, type UsageLedger } from '../fair-sharing/usage-ledger.ts';
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
  return new LocalQueueFairSharing(deps);
}

class LocalQueueFairSharing implements AdmissionFairSharing {
  readonly #deps: AdmissionFairSharingDeps;
  #ledger: UsageLedger;
  #sampledMs: number;
  readonly holdings: HoldingListener = {
    held: (reservation) => this.#count(reservation),
    released: (reservation) => this.#release(reservation),
  };

  constructor(deps: AdmissionFairSharingDeps) {
    this.#deps = deps;
    this.#ledger = createUsageLedger(deps.policy);
    this.#sampledMs = deps.clock.now();
  }

  usageOf(localQueue: string): number | undefined {
    const { policy, clock } = this.#deps;
    const asked = this.#weightIn(localQueue);
    if (asked === undefined) return undefined;
    const nowMs = clock.now();
    const halfLives = Math.min((nowMs - this.#sampledMs) / policy.halfLifeMs, HALF_LIVES_MAX);
    return this.#ledger.usage(localQueue, asked.weight, nowMs) * 2 ** halfLives;
  }

  forget(localQueue: string): void {
    this.#ledger.forget(localQueue);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { policy, clock } = this.#deps;
    this.#restore();
    while (!signal.aborted) {
      await this.#sample(signal);
      await sleep(clock, policy.samplingIntervalMs, signal);
    }
  }

  #count(reservation: Reservation): void {
    const { workload, record, held } = reservation;
    if (workload.queue === undefined) return;
    const nowMs = this.#deps.clock.now();
    if (this.#ledger.admitted(localQueueOf(workload), workload.key, held, record, nowMs)) this.#notify(reservation);
  }

  #release(reservation: Reservation): void {
    const { workload, assumed } = reservation;
    const nowMs = this.#deps.clock.now();
    if (assumed) this.#ledger.undone(workload.key, nowMs);
    else this.#ledger.ended(workload.key, nowMs);
    this.#notify(reservation);
  }

  #notify({ workload, record }: Reservation): void {
    this.#deps.changed(record.clusterQueue, localQueueOf(workload));
  }

  /** The LocalQueue's weight, if its ClusterQueue orders by usage. */
  #weightIn(localQueue: string): { readonly weight: number; readonly clusterQueue: string } | undefined {
    const { localQueues: setups, queues } = this.#deps.cache().queueing();
    const setup = setups.get(localQueue);
    const isAsked = setup !== undefined && queues.get(setup.clusterQueue)?.admissionMode === 'UsageBasedAdmissionFairSharing';
    return isAsked ? { weight: setup.weight, clusterQueue: setup.clusterQueue } : undefined;
  }

  /** Status and reservations together restore the usage. */
  #restore(): void {
    const { policy, cache, localQueues } = this.#deps;
    this.#ledger = writtenLedger(policy, localQueues.list());
    for (const reservation of cache().reservations()) this.#count(reservation);
  }

  async #sample(signal: AbortSignal): Promise<void> {
    const { localQueues, changed, metrics, clock } = this.#deps;
    const nowMs = clock.now();
    this.#sampledMs = nowMs;
    const unwritten = new Set(this.#ledger.unwritten(nowMs));
    const all = localQueues.list().flatMap((queue) => {
      const asked = this.#weightIn(keyOfObject(queue));
      return asked === undefined ? [] : [{ namespace: queue.metadata.namespace ?? '', name: queue.metadata.name, queue, asked }];
    });
    metrics.localQueueUsage.reset();
    for (const { namespace, name, queue, asked } of firstByName(all, metrics.localQueuesMax)) {
      const labels = { namespace, local_queue: name, cluster_queue: asked.clusterQueue };
      metrics.localQueueUsage.set(labels, this.#ledger.usage(keyOfObject(queue), asked.weight, nowMs));
    }
    for (const { queue } of all) if (unwritten.has(keyOfObject(queue)) && !signal.aborted) await this.#write(queue, nowMs);
    changed();
  }

  async #write(queue: DeepReadonly<LocalQueue>, nowMs: number): Promise<void> {
    const { client, log } = this.#deps;
    const localQueue = keyOfObject(queue);
    const consumedResources = formatConsumed(this.#ledger.consumed(localQueue, nowMs));
    const gone = Object.keys(queue.status?.fairSharing?.admissionFairSharingStatus?.consumedResources ?? {});
    const status = {
      // A merge patch keeps fields that it does not name.
      consumedResources: { ...Object.fromEntries(gone.map((resource) => [resource, null])), ...consumedResources },
      lastUpdate: toWireTime(nowMs),
    };
    try {
      const body = { status: { fairSharing: { admissionFairSharingStatus: status } } };
      await client.patchStatus(LOCAL_QUEUES, objectKey(queue), { type: 'merge', body }, { fieldManager: MANAGER_FIELD_MANAGER });
      this.#ledger.written(localQueue, nowMs);
    } catch (error) {
      if (isNotFound(error)) return;
      log.warn('what a local queue has used could not be written', { ...objectKey(queue), error });
    }
  }
}

/** Beyond this many half-lives no comparable usage is left. */
const HALF_LIVES_MAX = 500;
