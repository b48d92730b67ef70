/**
 * The Lease by which a worker tells that it is alive, who it is, and what managers have to answer. One worker writes it: one that finds
 * another's words where its own were leaves it alone until that one has been silent for as long as the Lease lasts.
 */
import { readWorkerAnnouncement, workerAnnotations, workerLeaseName, type WorkerAnnouncement } from '../../shared/api/fence-leases.ts';
import type { Lease, Unsaved } from '../../shared/api/kubernetes.ts';
import { FENCE_TOKEN_ANNOTATION, WORKER_LABEL } from '../../shared/api/names.ts';
import { LEASES, NAMESPACES } from '../../shared/api/resources.ts';
import { parseWireTime, toWireMicroTime } from '../../shared/api/wire-time.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../shared/kube/api-error.ts';
import type { ReadClient, WriteClient } from '../../shared/kube/client.ts';
import { keyOf } from '../../shared/kube/keys.ts';
import { leaseWentBack, renewalTime } from '../../shared/kube/lease-history.ts';
import { isOlder } from '../../shared/kube/resource-version.ts';
import type { Clock } from '../../shared/runtime/clock.ts';

export type WorkerLeaseOptions = {
  readonly client: ReadClient & WriteClient;
  readonly clock: Clock;
  readonly namespace: string;
  readonly controllerName: string;
  /** Host or pod. */
  readonly identity: string;
  readonly renewEveryMs: number;
};

export interface WorkerLease {
  predecessor(signal: AbortSignal): Promise<Predecessor | undefined>;
  /** What workers of this controller name announced in other namespaces after that. Call after {@link predecessor}. */
  elsewhere(signal: AbortSignal): Promise<readonly Predecessor[]>;
  /**
   * Returns the resourceVersion of what was written. Throws {@link OtherWorkerError}; `LeaseWentBack` when what stands there is older than
   * what was written before, so that the cluster was restored; or what the server has answered.
   */
  renew(announcement: WorkerAnnouncement, signal: AbortSignal): Promise<string>;
}

/** What the worker before this one announced, and for how long it has not renewed that. */
export type Predecessor = { readonly announcement: WorkerAnnouncement; readonly downMs: number };

/** Somebody else renews this Lease. */
export class OtherWorkerError extends Error {
  override readonly name = 'OtherWorkerError';
}

/** The Lease lasts for so many renewals, and for so long at least: a busy machine is not a dead worker. */
const RENEWALS_MISSED_MAX = 4;
const DURATION_MS_MIN = 15_000;
const TOKENS_MAX = 20;

export function createWorkerLease({ client, clock, namespace, controllerName, identity, renewEveryMs }: WorkerLeaseOptions): WorkerLease {
  const name = workerLeaseName(controllerName);
  const durationMs = Math.max(RENEWALS_MISSED_MAX * renewEveryMs, DURATION_MS_MIN);
  /** As the server has it; undefined: it is to be read first. */
  let current: Lease | undefined;
  /** Tokens of ours that may stand there, also those of writes that were not answered. */
  let ours: readonly string[] = [];
  /** Our last write that was answered: from the first one on the Lease was ours. */
  let written: Lease | undefined;
  let rival: { readonly resourceVersion: string; readonly sinceMs: number } | undefined;

  return {
    async predecessor(signal) {
      current = await read(signal);
      return current && announcedIn(current);
    },
    async elsewhere(signal) {
      const { items } = await client.list(LEASES, { labelSelector: `${WORKER_LABEL}=true`, signal });
      const own = current?.metadata.resourceVersion;
      const others = items.filter(
        ({ metadata }) =>
          metadata.name === name && metadata.namespace !== namespace && (own === undefined || isOlder(own, metadata.resourceVersion)),
      );
      return others.flatMap((lease) => announcedIn(lease) ?? []);
    },
    async renew(announcement, signal) {
      try {
        return await write(announcement, signal);
      } catch (error) {
        // Somebody has written it, or taken it away, or a write of ours was carried out though its answer was lost.
        current = undefined;
        if (!isConflict(error) && !isAlreadyExists(error) && !isNotFound(error)) throw error;
        return await write(announcement, signal);
      }
    },
  };

  function announcedIn(lease: Lease): Predecessor | undefined {
    const announcement = readWorkerAnnouncement(lease);
    if (announcement === undefined) return undefined;
    const renewedMs = parseWireTime(lease.spec?.renewTime);
    return { announcement, downMs: renewedMs === undefined ? 0 : Math.max(0, clock.now() - renewedMs) };
  }

  async function write(announcement: WorkerAnnouncement, signal: AbortSignal): Promise<string> {
    current ??= await readNext(signal);
    if (current !== undefined) yieldToOthers(current);
    ours = [...ours.filter((token) => token !== announcement.fenceToken), announcement.fenceToken].slice(-TOKENS_MAX);
    const { labels, annotations, spec } = contentOf(announcement);
    current =
      current === undefined
        ? await make({ metadata: { namespace, name, labels, annotations }, spec }, signal)
        : await client.replace(LEASES, { ...current, metadata: { ...current.metadata, labels, annotations }, spec }, { signal });
    check(current);
    written = current;
    rival = undefined;
    return current.metadata.resourceVersion;
  }

  /** The chart makes the namespace; where a worker runs without it, and may, it does. */
  async function make(lease: Unsaved<Lease>, signal: AbortSignal): Promise<Lease> {
    try {
      return await client.create(LEASES, lease, { signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      const makingNamespace = client.create(NAMESPACES, { metadata: { name: namespace } }, { signal });
      await makingNamespace.catch((problem: unknown) => {
        if (isAlreadyExists(problem)) return;
        throw new Error(`namespace "${namespace}" of the Lease does not exist: make it, or name another one (--lease-namespace)`, {
          cause: error,
        });
      });
      return client.create(LEASES, lease, { signal });
    }
  }

  async function readNext(signal: AbortSignal): Promise<Lease | undefined> {
    const found = await read(signal);
    check(found);
    return found;
  }

  function check(lease: Lease | undefined): void {
    const wentBack = leaseWentBack(keyOf(namespace, name), written, lease);
    if (wentBack !== undefined) throw wentBack;
  }

  async function read(signal: AbortSignal): Promise<Lease | undefined> {
    try {
      return await client.get(LEASES, { namespace, name }, { signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Whoever starts takes the Lease; whoever finds that it was taken gives way, so that two that run at once do not take turns. */
  function yieldToOthers(lease: Lease): void {
    const token = lease.metadata.annotations?.[FENCE_TOKEN_ANNOTATION];
    if (written === undefined || token === undefined || ours.includes(token)) return;
    const nowMs = clock.monotonic();
    const { resourceVersion } = lease.metadata;
    if (rival?.resourceVersion !== resourceVersion) rival = { resourceVersion, sinceMs: nowMs };
    if (nowMs - rival.sinceMs >= durationMs) return;
    current = undefined;
    throw new OtherWorkerError(
      `${lease.spec?.holderIdentity ?? 'another worker'} renews Lease ${namespace}/${name}: two workers run the Jobs of ${controllerName} beside each ` +
        'other; start them with --leader-elect, or give each a --lease-namespace of its own, which its WorkerCluster names as spec.leaseNamespace',
    );
  }

  /** What others have written beside ours stays. */
  function contentOf(announcement: WorkerAnnouncement) {
    const { metadata, spec } = current ?? {};
    const time = toWireMicroTime(renewalTime(clock.now(), spec));
    const isNew = spec?.holderIdentity !== identity;
    return {
      labels: { ...metadata?.labels, [WORKER_LABEL]: 'true' },
      annotations: { ...metadata?.annotations, ...workerAnnotations(announcement) },
      spec: {
        holderIdentity: identity,
        leaseDurationSeconds: Math.ceil(durationMs / 1000),
        acquireTime: isNew ? time : (spec?.acquireTime ?? time),
        renewTime: time,
        leaseTransitions: (spec?.leaseTransitions ?? 0) + (isNew && spec !== undefined ? 1 : 0),
      },
    };
  }
}
