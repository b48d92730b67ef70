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

export function createWorkerLease(options: WorkerLeaseOptions): WorkerLease {
  return new OwnLease(options);
}

class OwnLease implements WorkerLease {
  readonly #options: WorkerLeaseOptions;
  readonly #name: string;
  readonly #durationMs: number;
  /** As the server has it; undefined: it is to be read first. */
  #current: Lease | undefined;
  /** Tokens of ours that may stand there, also those of writes that were not answered. */
  #ours: readonly string[] = [];
  /** Our last write that was answered: from the first one on the Lease was ours. */
  #written: Lease | undefined;
  #rival: { readonly resourceVersion: string; readonly sinceMs: number } | undefined;

  constructor(options: WorkerLeaseOptions) {
    this.#options = options;
    this.#name = workerLeaseName(options.controllerName);
    this.#durationMs = Math.max(RENEWALS_MISSED_MAX * options.renewEveryMs, DURATION_MS_MIN);
  }

  async predecessor(signal: AbortSignal): Promise<Predecessor | undefined> {
    this.#current = await this.#read(signal);
    return this.#current && this.#announcedIn(this.#current);
  }

  async #read(signal: AbortSignal): Promise<Lease | undefined> {
    const { client, namespace } = this.#options;
    try {
      return await client.get(LEASES, { namespace, name: this.#name }, { signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  #announcedIn(lease: Lease): Predecessor | undefined {
    const announcement = readWorkerAnnouncement(lease);
    if (announcement === undefined) return undefined;
    const renewedMs = parseWireTime(lease.spec?.renewTime);
    return { announcement, downMs: renewedMs === undefined ? 0 : Math.max(0, this.#options.clock.now() - renewedMs) };
  }

  async elsewhere(signal: AbortSignal): Promise<readonly Predecessor[]> {
    const { client, namespace } = this.#options;
    const { items } = await client.list(LEASES, { labelSelector: `${WORKER_LABEL}=true`, signal });
    const own = this.#current?.metadata.resourceVersion;
    const others = items.filter(
      ({ metadata }) =>
        metadata.name === this.#name && metadata.namespace !== namespace && (own === undefined || isOlder(own, metadata.resourceVersion)),
    );
    return others.flatMap((lease) => this.#announcedIn(lease) ?? []);
  }

  async renew(announcement: WorkerAnnouncement, signal: AbortSignal): Promise<string> {
    try {
      return await this.#write(announcement, signal);
    } catch (error) {
      // Somebody has written it, or taken it away, or a write of ours was carried out though its answer was lost.
      this.#current = undefined;
      if (!isConflict(error) && !isAlreadyExists(error) && !isNotFound(error)) throw error;
      return await this.#write(announcement, signal);
    }
  }

  async #write(announcement: WorkerAnnouncement, signal: AbortSignal): Promise<string> {
    const { namespace, client } = this.#options;
    this.#current ??= await this.#readNext(signal);
    if (this.#current !== undefined) this.#yieldToOthers(this.#current);
    this.#ours = [...this.#ours.filter((token) => token !== announcement.fenceToken), announcement.fenceToken].slice(-TOKENS_MAX);
    const { labels, annotations, spec } = this.#contentOf(announcement);
    this.#current =
      this.#current === undefined
        ? await this.#make({ metadata: { namespace, name: this.#name, labels, annotations }, spec }, signal)
        : await client.replace(
            LEASES,
            { ...this.#current, metadata: { ...this.#current.metadata, labels, annotations }, spec },
            { signal },
          );
    this.#check(this.#current);
    this.#written = this.#current;
    this.#rival = undefined;
    return this.#current.metadata.resourceVersion;
  }

  async #readNext(signal: AbortSignal): Promise<Lease | undefined> {
    const found = await this.#read(signal);
    this.#check(found);
    return found;
  }

  #check(lease: Lease | undefined): void {
    const wentBack = leaseWentBack(keyOf(this.#options.namespace, this.#name), this.#written, lease);
    if (wentBack !== undefined) throw wentBack;
  }

  /** Whoever starts takes the Lease; whoever finds that it was taken gives way, so that two that run at once do not take turns. */
  #yieldToOthers(lease: Lease): void {
    const { clock, namespace, controllerName } = this.#options;
    const token = lease.metadata.annotations?.[FENCE_TOKEN_ANNOTATION];
    if (this.#written === undefined || token === undefined || this.#ours.includes(token)) return;
    const nowMs = clock.monotonic();
    const { resourceVersion } = lease.metadata;
    if (this.#rival?.resourceVersion !== resourceVersion) this.#rival = { resourceVersion, sinceMs: nowMs };
    if (nowMs - this.#rival.sinceMs >= this.#durationMs) return;
    this.#current = undefined;
    throw new OtherWorkerError(
      `${lease.spec?.holderIdentity ?? 'another worker'} renews Lease ${namespace}/${this.#name}: two workers run the Jobs of ${controllerName} beside each ` +
        'other; start them with --leader-elect, or give each a --lease-namespace of its own, which its WorkerCluster names as spec.leaseNamespace',
    );
  }

  /** What others have written beside ours stays. */
  #contentOf(announcement: WorkerAnnouncement) {
    const { clock, identity } = this.#options;
    const { metadata, spec } = this.#current ?? {};
    const time = toWireMicroTime(renewalTime(clock.now(), spec));
    const isNew = spec?.holderIdentity !== identity;
    return {
      labels: { ...metadata?.labels, [WORKER_LABEL]: 'true' },
      annotations: { ...metadata?.annotations, ...workerAnnotations(announcement) },
      spec: {
        holderIdentity: identity,
        leaseDurationSeconds: Math.ceil(this.#durationMs / 1000),
        acquireTime: isNew ? time : (spec?.acquireTime ?? time),
        renewTime: time,
        leaseTransitions: (spec?.leaseTransitions ?? 0) + (isNew && spec !== undefined ? 1 : 0),
      },
    };
  }

  /** The chart makes the namespace; where a worker runs without it, and may, it does. */
  async #make(lease: Unsaved<Lease>, signal: AbortSignal): Promise<Lease> {
    const { client, namespace } = this.#options;
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
}
