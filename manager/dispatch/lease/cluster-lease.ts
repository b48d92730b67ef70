import { formatOriginHolder, originLeaseName, parseOriginHolder, type OriginHolder } from '../../../shared/api/fence-leases.ts';
import { type FencedKind, formatFencedKinds } from '../../../shared/api/fenced-kinds.ts';
import type { Lease, Unsaved } from '../../../shared/api/kubernetes.ts';
import {
  HOME_VERSION_ANNOTATION,
  KINDS_ANNOTATION,
  MANAGER_FIELD_MANAGER,
  ORIGIN_LABEL,
  RECONCILED_ANNOTATION,
} from '../../../shared/api/names.ts';
import { LEASES } from '../../../shared/api/resources.ts';
import { toWireMicroTime } from '../../../shared/api/wire-time.ts';
import { ApiError, isAlreadyExists, isConflict, isNotFound } from '../../../shared/kube/api-error.ts';
import type { ReadClient, WriteClient } from '../../../shared/kube/client.ts';
import { neverConnected } from '../../../shared/kube/connection-failure.ts';
import { claimAgeMs, claimNow } from '../../../shared/kube/lease-hold.ts';
import { leaseVanished, leaseWentBack, LeaseWentBack, renewalTime } from '../../../shared/kube/lease-history.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { sanitizeText } from '../../api/sanitize-text.ts';
import type { ProbeFailure, ProbeRefusal } from '../cluster/cluster-health.ts';
import { failureOf } from '../cluster/cluster-probe.ts';
import { withDeadline } from '../../../shared/runtime/deadline.ts';
import type { LeaderTerm } from './leader-term.ts';
import { essentialsOfLease } from './lease-essentials.ts';
import { judgeLease, type KnownLease } from './lease-judgement.ts';

export type ClusterLeaseOptions = {
  readonly client: ReadClient & WriteClient;
  /** Namespace of the Lease. */
  readonly namespace: string;
  /** Id of this manager. */
  readonly origin: string;
  readonly term: LeaderTerm;
  /** Whether the operator has given the cluster up. The Lease of such a cluster says so, and confirms no fence token of its worker. */
  readonly givenUp: () => boolean;
  readonly renewIntervalMs: number;
  /** The kinds beside Jobs of which copies are made: the Lease names them to the worker. */
  readonly fencedKinds: readonly FencedKind[];
  readonly clock: Clock;
  readonly log: Logger;
};

/**
 * The Lease of this manager on one worker cluster. Its holder may write there. A renewal that confirms the fence token of the worker shows
 * the worker that its manager is in reach. Calls are made one at a time. After a failure the Lease is renewed only once the cluster has
 * answered another request, so that no renewal reaches the worker after the cluster counts as lost.
 */
export interface ClusterLease {
  /**
   * Creates, takes over or renews the Lease. WentBack: the Lease is older than the last write of this manager, so the cluster was restored.
   */
  keep(clusterUid: string, signal: AbortSignal): Promise<LeaseKept>;
  /** Milliseconds until the next call of {@link keep}; zero or less: now. */
  dueInMs(): number;
  /** The Lease is held: other managers wait until its duration has passed. */
  isHeld(): boolean;
  /** How often the Lease was held after a time in which it was not. */
  gains(): number;
  /** When the last renewal that the worker may count was sent, and may have been carried out, on the clock's `monotonic`. */
  sentMs(): number | undefined;
  /** The fence token of the worker that the Lease confirms: all copies of the cluster are in place. */
  confirmed(): string | undefined;
  /** Has the next renewal, due now, confirm this fence token; undefined: confirms none. */
  confirm(token: string | undefined): void;
  /** Releases the Lease, if one request can do so. */
  release(): Promise<void>;
}

export type LeaseKept = { readonly kind: 'Held' } | { readonly kind: 'WentBack'; readonly error: Error } | ProbeRefusal | ProbeFailure;

export const DEFAULT_RENEW_INTERVAL_MS = 10_000;
/**
 * The duration of a renewal counts from when it is sent, so a longer wait for its answer gives no extra time. The timeout is within the
 * margin for requests in flight that is kept when a cluster is lost (`fenced-off.ts`).
 */
const ANSWER_TIMEOUT_MS = 15_000;
/**
 * The age at which a renewal is no longer sent. The process may have stood still since the decision, and another leader may have counted
 * since then how long the cluster has been lost. The margin for requests in flight (`fenced-off.ts`) includes this time.
 */
const SENT_WITHIN_MS = 10_000;
/** Short, because the process is about to exit. */
const RELEASE_TIMEOUT_MS = 2_000;
const DURATION_MS_MIN = 15_000;
const DURATION_INTERVALS = 4;

export function createClusterLease(options: ClusterLeaseOptions): ClusterLease {
  return new OriginLease(options);
}

class OriginLease implements ClusterLease {
  readonly #options: ClusterLeaseOptions;
  readonly #name: string;
  readonly #durationMs: number;
  readonly #kinds: string | undefined;
  /** The Lease as last read or written. */
  #lease: Lease | undefined;
  /** The last write of the Lease that was answered. */
  #written: Lease | undefined;
  /** When `#lease` was last seen to change, on the clock's `monotonic`. */
  #unchangedSinceMs = 0;
  #held = false;
  #gains = 0;
  #answered = false;
  /** When the last renewal that was answered was sent. */
  #renewedMs = Number.NEGATIVE_INFINITY;
  #sentMs: number | undefined;
  #wanted: string | undefined;

  constructor(options: ClusterLeaseOptions) {
    this.#options = options;
    this.#name = originLeaseName(options.origin);
    this.#kinds = formatFencedKinds(options.fencedKinds);
    this.#durationMs = Math.max(DURATION_MS_MIN, DURATION_INTERVALS * options.renewIntervalMs);
  }

  async keep(clusterUid: string, signal: AbortSignal): Promise<LeaseKept> {
    const holder = this.#options.term.holder();
    if (holder === undefined)
      return { kind: 'Refused', reason: 'IdentityUnknown', message: 'the identity of the manager cluster is not known' };
    this.#answered = false;
    // A confirmation from before may be wrong when the cluster is taken back.
    if (this.#options.givenUp()) this.#wanted = undefined;
    try {
      const refusal = await this.#step(holder, clusterUid, signal);
      this.#answered = refusal === undefined;
      return refusal ?? { kind: 'Held' };
    } catch (error) {
      if (error instanceof LeaseWentBack) return { kind: 'WentBack', error };
      return this.#refusalOf(error) ?? failureOf(error);
    }
  }

  dueInMs(): number {
    const isWanted = !this.#options.givenUp() && this.#wanted !== undefined && this.#wanted !== this.confirmed();
    if (!this.#held || !this.#answered || isWanted) return 0;
    return this.#renewedMs + this.#options.renewIntervalMs - this.#options.clock.monotonic();
  }

  gains(): number {
    return this.#gains;
  }

  isHeld(): boolean {
    return this.#held && this.#options.clock.monotonic() - this.#renewedMs < this.#durationMs;
  }

  sentMs(): number | undefined {
    return this.#sentMs;
  }

  confirmed(): string | undefined {
    return this.#held ? this.#lease?.metadata.annotations?.[RECONCILED_ANNOTATION] : undefined;
  }

  confirm(token: string | undefined): void {
    this.#wanted = token;
  }

  async release(): Promise<void> {
    const lease = this.#lease;
    if (!this.#held || !this.#answered || lease === undefined) return;
    this.#held = false;
    const { client, clock, log } = this.#options;
    // The renew time stays: a release is no renewal.
    const spec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1 };
    const released = { metadata: this.#metadata(lease, lease.metadata.annotations), spec };
    try {
      await withDeadline(clock, RELEASE_TIMEOUT_MS, undefined, (signal) =>
        client.replace(LEASES, released as Lease, { fieldManager: MANAGER_FIELD_MANAGER, signal }),
      );
    } catch (error) {
      log.warn('the Lease on a cluster could not be let go of: it will expire', { lease: this.#name, error });
    }
  }

  /** Why the Lease must not be held; undefined when it is held. */
  async #step(us: OriginHolder, clusterUid: string, signal: AbortSignal, isSecondLook = false): Promise<ProbeRefusal | undefined> {
    if (!this.#held) await this.#readLease(signal);
    const { term, clock, log } = this.#options;
    const lease = this.#lease;
    const step = judgeLease(lease && this.#known(lease), us, term.hasHeld(clusterUid));
    if (step === 'Refuse') return this.#heldByOther(us, lease);
    try {
      const startedMs = clock.monotonic();
      this.#see(await this.#write(us, step === 'Create' ? undefined : lease, signal));
      this.#written = this.#lease;
      if (!this.isHeld()) this.#gains++;
      this.#renewedMs = startedMs;
    } catch (error) {
      // Another manager wrote first, or the Lease was deleted. A create is not found where its namespace is missing: another look does not
      // change that.
      const isOvertaken = isConflict(error) || isAlreadyExists(error) || (isNotFound(error) && step !== 'Create');
      if (isSecondLook || !isOvertaken) throw error;
      this.#held = false;
      return this.#step(us, clusterUid, signal, true);
    }
    if (!this.#held)
      log.info('holding the Lease on a cluster', { lease: this.#name, from: sanitizeText(lease?.spec?.holderIdentity ?? '', 300) });
    this.#held = true;
    term.held(clusterUid);
    return undefined;
  }

  /** The stored version of the manager cluster is read from the Lease before the Lease is overwritten. */
  async #readLease(signal: AbortSignal): Promise<void> {
    const { namespace, term } = this.#options;
    this.#see(await this.#read(signal));
    const name = `${namespace}/${this.#name}`;
    const wentBack = leaseWentBack(name, this.#written, this.#lease) ?? leaseVanished(name, this.#written, this.#lease);
    if (wentBack !== undefined) throw wentBack;
    term.takeHomeVersion(this.#lease?.metadata.annotations?.[HOME_VERSION_ANNOTATION]);
  }

  #known({ spec }: Lease): KnownLease {
    const { holderIdentity, leaseDurationSeconds = 0 } = spec ?? {};
    return {
      holder: parseOriginHolder(holderIdentity),
      released: holderIdentity === undefined || holderIdentity === '',
      unchangedMs: this.#options.clock.monotonic() - this.#unchangedSinceMs,
      durationMs: leaseDurationSeconds * 1000,
    };
  }

  #see(lease: Lease | undefined): void {
    const { uid, resourceVersion } = lease?.metadata ?? {};
    const before = this.#lease?.metadata;
    if (before?.uid !== uid || before?.resourceVersion !== resourceVersion) this.#unchangedSinceMs = this.#options.clock.monotonic();
    this.#lease = lease && essentialsOfLease(lease, [RECONCILED_ANNOTATION, HOME_VERSION_ANNOTATION, KINDS_ANNOTATION]);
  }

  async #read(signal: AbortSignal): Promise<Lease | undefined> {
    const { client, namespace } = this.#options;
    try {
      return await this.#within(signal, (each) => client.get(LEASES, { namespace, name: this.#name }, { signal: each }));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async #write(us: OriginHolder, current: Lease | undefined, signal: AbortSignal): Promise<Lease> {
    const { client, clock } = this.#options;
    const lease = this.#claim(us, current);
    const fieldManager = MANAGER_FIELD_MANAGER;
    // A renewal that confirms no token is no sign of the manager to the worker.
    const sentMs = this.#options.givenUp() ? this.#sentMs : clock.monotonic();
    const claim = claimNow(clock, this.#durationMs);
    const beforeSend = async (): Promise<void> => {
      const ageMs = claimAgeMs(clock, claim);
      if (ageMs > SENT_WITHIN_MS) throw new Error(`the renewal was decided ${ageMs} ms ago and is not sent any more`);
    };
    try {
      const written = await this.#within(signal, (each) =>
        current === undefined
          ? client.create(LEASES, lease, { fieldManager, signal: each, beforeSend })
          : client.replace(LEASES, lease as Lease, { fieldManager, signal: each, beforeSend }),
      );
      this.#sentMs = sentMs;
      return written;
    } catch (error) {
      const isRefused = error instanceof ApiError && error.code < 500 && error.code !== 408;
      if (!isRefused && !neverConnected(error)) this.#sentMs = sentMs;
      throw error;
    }
  }

  /** The Lease as this manager holds it. A confirmed token stays, if a leader of the same manager cluster confirmed it. */
  #claim(us: OriginHolder, current: Lease | undefined): Unsaved<Lease> {
    const { term, clock } = this.#options;
    const previous = current?.spec;
    const holderIdentity = formatOriginHolder(us);
    const isOurs = previous?.holderIdentity === holderIdentity;
    const said = this.#isWrittenByOurHome(us, current) ? current?.metadata.annotations?.[RECONCILED_ANNOTATION] : undefined;
    const reconciled = this.#options.givenUp() ? undefined : (this.#wanted ?? said);
    const homeVersion = term.homeVersion();
    const annotations = omitUndefined({
      [RECONCILED_ANNOTATION]: reconciled,
      [HOME_VERSION_ANNOTATION]: homeVersion,
      [KINDS_ANNOTATION]: this.#kinds,
    });
    // A worker takes a renew time that goes back for a restored cluster, and the clocks of managers differ.
    const renewTime = toWireMicroTime(renewalTime(clock.now(), previous));
    const { leaseTransitions = 0, acquireTime = renewTime } = previous ?? {};
    return {
      metadata: this.#metadata(current, annotations),
      spec: {
        holderIdentity,
        leaseDurationSeconds: Math.ceil(this.#durationMs / 1000),
        acquireTime: isOurs ? acquireTime : renewTime,
        renewTime,
        leaseTransitions: isOurs || previous === undefined ? leaseTransitions : leaseTransitions + 1,
      },
    };
  }

  /** A write over an existing Lease is conditional on its version. */
  #metadata(current: Lease | undefined, annotations: Lease['metadata']['annotations']): Unsaved<Lease>['metadata'] {
    const { namespace, origin } = this.#options;
    const { uid, resourceVersion } = current?.metadata ?? {};
    return { namespace, name: this.#name, labels: { [ORIGIN_LABEL]: origin }, ...omitUndefined({ annotations, uid, resourceVersion }) };
  }

  /**
   * The annotations of the Lease come from a leader of the same manager cluster: its holder, or, after a release, the leader that sealed
   * the version.
   */
  #isWrittenByOurHome({ homeUid }: OriginHolder, lease: Lease | undefined): boolean {
    const holder = parseOriginHolder(lease?.spec?.holderIdentity);
    if (holder !== undefined) return holder.homeUid === homeUid;
    return this.#options.term.isHomeVersion(lease?.metadata.annotations?.[HOME_VERSION_ANNOTATION]);
  }

  #heldByOther(us: OriginHolder, lease: Lease | undefined): ProbeRefusal {
    this.#held = false;
    const { namespace, origin } = this.#options;
    const where = `Lease ${namespace}/${this.#name}`;
    const holder = parseOriginHolder(lease?.spec?.holderIdentity);
    const refused = (message: string): ProbeRefusal => ({ kind: 'Refused', reason: 'OtherManager', message });
    if (holder === undefined)
      return refused(
        `it is held by ${sanitizeText(JSON.stringify(lease?.spec?.holderIdentity), 300)}, which is no manager (${where}); delete that Lease, or wait until it expires`,
      );
    if (holder.homeUid === us.homeUid)
      return refused(
        `another manager of the same manager cluster, or of a clone of it, has taken it over (${sanitizeText(holder.instance, 100)} in ${where}); ` +
          'stop one of the two',
      );
    return refused(
      `the manager of another cluster, whose namespace kube-system has UID ${sanitizeText(holder.homeUid, 128)}, holds it under the same id, "${origin}" (${where}); ` +
        'give one of the two another --manager-id, or take this cluster from one of them',
    );
  }

  #refusalOf(error: unknown): ProbeRefusal | undefined {
    if (!(error instanceof ApiError)) return undefined;
    const { namespace } = this.#options;
    const said = sanitizeText(error.message);
    if (error.code === 401) return { kind: 'Refused', reason: 'Unauthorized', message: `it does not know the manager’s user: ${said}` };
    if (error.code === 404)
      return {
        kind: 'Refused',
        reason: 'LeaseForbidden',
        message: `the manager’s Lease cannot be made in namespace "${namespace}" there; name one that exists in spec.leaseNamespace: ${said}`,
      };
    if (error.code !== 403 && error.code !== 400 && error.code !== 422) return undefined;
    return {
      kind: 'Refused',
      reason: 'LeaseForbidden',
      message:
        `the manager may not keep its Lease there: it needs the verbs get, list, watch, create and update on leases (coordination.k8s.io) ` +
        `in namespace "${namespace}" (spec.leaseNamespace): ${said}`,
    };
  }

  #within<T>(signal: AbortSignal, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return withDeadline(this.#options.clock, ANSWER_TIMEOUT_MS, signal, call);
  }
}
