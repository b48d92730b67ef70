import { Counter, type Registry } from 'prom-client';
import type { AddressRanges } from '../../shared/kube/address-ranges.ts';
import type { AnswerLimits } from '../../shared/kube/answer-limits.ts';
import type { KubeClient, StreamClient } from '../../shared/kube/client.ts';
import type { ClusterAccess } from '../../shared/kube/cluster-access.ts';
import { createHttpTransport } from '../../shared/kube/http-transport.ts';
import { createTrafficPace } from '../../shared/kube/traffic-pace.ts';
import { createByteRoom } from '../../shared/runtime/byte-room.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { ClientFactory } from './client-factory.ts';
import type { ApiRate } from '../../shared/kube/rate-limiter.ts';

export type WorkerConnectionOptions = {
  readonly clientOver: ClientFactory;
  /** Ranges of addresses that are never dialled. */
  readonly denied: AddressRanges;
  readonly rate: ApiRate;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly log: Logger;
  /** Default: {@link WORKER_LIMITS}. */
  readonly limits?: Omit<AnswerLimits, 'pace'>;
};

const MIB = 1024 * 1024;

/**
 * Bounds of the answers of a worker cluster, which is not trusted. An object in etcd has at most 1.5 MiB, somewhat more as JSON; pages
 * shrink where 500 objects exceed the bound. A value of an honest document takes 20 bytes of text or more on average.
 */
export const WORKER_LIMITS: Omit<AnswerLimits, 'pace'> = {
  pageBytes: 4 * MIB,
  objectBytes: 4 * MIB,
  eventLength: 4 * MIB,
  answerMs: 30_000,
  json: { depth: 64, values: 200_000 },
};
/** Memory for concurrent bodies above 64 KiB of one cluster. */
const ROOM_BYTES = 12 * MIB;
/** Traffic that a cluster may cause without writes of the manager: the first list, and the progress of running Jobs. */
const PACE = { bytesPerSecond: 4 * MIB, burstBytes: 24 * MIB };

/** Creates connections to worker clusters, each with its own memory and rate bounds. Call once for each registry. */
export function createWorkerConnector(
  options: WorkerConnectionOptions,
): (cluster: string, access: ClusterAccess) => KubeClient & StreamClient {
  const { clientOver, denied, rate, registry, clock, log, limits = WORKER_LIMITS } = options;
  const heldBack = new Counter({
    name: 'switchyard_cluster_held_back_seconds_total',
    help: 'Time in which a cluster was not read, because it had sent too much.',
    labelNames: ['cluster'],
    registers: [registry],
  });
  return (cluster, access) => {
    heldBack.inc({ cluster }, 0);
    const room = createByteRoom({ bytes: ROOM_BYTES, waitMs: limits.answerMs, clock });
    const pace = createTrafficPace({ ...PACE, clock, onHeldBack: (ms) => heldBack.inc({ cluster }, ms / 1000) });
    return clientOver(createHttpTransport(access, log, denied, room), access, rate, { limits: { ...limits, pace } });
  };
}
