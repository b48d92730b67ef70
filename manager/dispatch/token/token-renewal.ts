import type { DeepReadonly, ObjectKey, Secret } from '../../../shared/api/kubernetes.ts';
import { MANAGER_FIELD_MANAGER } from '../../../shared/api/names.ts';
import { SECRETS } from '../../../shared/api/resources.ts';
import { isConflict, isForbidden, isNotFound } from '../../../shared/kube/api-error.ts';
import type { RawClient, WriteClient } from '../../../shared/kube/client.ts';
import { runController, type ReconcileResult } from '../../../shared/kube/controller.ts';
import { createWorkqueue, type Workqueue } from '../../../shared/kube/workqueue.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { onAbort } from '../../../shared/runtime/tasks.ts';
import type { DispatchMetrics } from '../metrics/dispatch-metrics.ts';
import type { WorkerAccess } from './worker-access.ts';
import {
  accountTokenIn,
  chooseToken,
  endpointDigest,
  storedToken,
  refusedAdvice,
  renewalInMs,
  renewedKey,
  renewedText,
  type RenewedToken,
} from './worker-token.ts';

export type TokenRenewalDeps = {
  readonly home: WriteClient;
  /** Life of a requested token, in milliseconds; 0: no token is renewed. */
  readonly lifeMs: number;
  /** The token of a cluster has changed: the cluster is to be reconciled. */
  readonly onRenewed: (cluster: string) => void;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<DispatchMetrics, 'tokenExpires' | 'workqueues'>;
};

/** The Secret and the key of a cluster's kubeconfig. */
export type TokenSecret = { readonly secret: DeepReadonly<Secret>; readonly key: string };

/**
 * Renews the tokens of worker clusters before they expire. At half of its life each token is replaced by a new one (TokenRequest, on that
 * cluster, for the account itself), which is stored in the Secret of its kubeconfig. A failure of this blocks nothing else.
 */
export interface TokenRenewal {
  /** The access of a Secret with the newest token known. */
  newest(cluster: string, access: WorkerAccess, where: TokenSecret): WorkerAccess;
  /** Sets the client that renews the token of a cluster; undefined: the token is not renewed. */
  connected(cluster: string, client: RawClient | undefined): void;
  /** The cluster has answered its present token with 401. */
  refused(cluster: string): void;
  /** The remedy for a refused token. */
  advice(cluster: string): string;
  forget(cluster: string): void;
  run(signal: AbortSignal): Promise<void>;
}

/** Pause after an answer of 403 or 404. */
const FORBIDDEN_MS = 600_000;
const RETRY = { baseDelayMs: 5_000, maxDelayMs: 300_000 };
const CONCURRENCY = 8;
/** Bound of a TokenRequest's answer, because a worker cluster can send any amount. */
const ANSWER_BYTES_MAX = 64 * 1024;
/** The shortest life that a TokenRequest accepts, in seconds. */
const LIFE_MIN_S = 600;

type Known = {
  readonly endpoint: string;
  readonly secret: ObjectKey & { readonly resourceVersion: string };
  readonly key: string;
  /** The renewed token in the Secret. */
  readonly stored: RenewedToken | undefined;
  readonly used: string | undefined;
  /** When the token is to be renewed, on the clock's `monotonic`. */
  readonly dueMs: number;
};

/** Sends nothing before `run`. */
export function createTokenRenewal(deps: TokenRenewalDeps): TokenRenewal {
  return new Renewal(deps);
}

class Renewal implements TokenRenewal {
  readonly #deps: TokenRenewalDeps;
  readonly #queue: Workqueue;
  readonly #known = new Map<string, Known>();
  readonly #clients = new Map<string, RawClient>();
  /** The last token issued for each cluster by this process. */
  readonly #issued = new Map<string, RenewedToken>();
  readonly #refused = new Map<string, Set<string>>();
  /** Earliest next attempt to store a token in its Secret, on the clock's `monotonic`. */
  readonly #saveAfterMs = new Map<string, number>();

  constructor(deps: TokenRenewalDeps) {
    this.#deps = deps;
    const { clock, metrics } = deps;
    this.#queue = createWorkqueue({ name: 'worker-tokens', clock, rateLimit: RETRY, metrics: metrics.workqueues.of('worker-tokens') });
  }

  newest(cluster: string, access: WorkerAccess, { secret, key }: TokenSecret): WorkerAccess {
    const { clock, metrics, lifeMs } = this.#deps;
    const { token: given } = access.credentials;
    if (given === undefined) {
      this.forget(cluster);
      return access;
    }
    const endpoint = endpointDigest(access.endpoint);
    const stored = storedToken(secret.data, key);
    const renewed = [stored, this.#issued.get(cluster)];
    const nowMs = clock.now();
    const used = lifeMs === 0 ? given : chooseToken({ given, endpoint, renewed, refused: this.#refused.get(cluster) ?? new Set(), nowMs });
    const own = accountTokenIn(used);
    const before = this.#known.get(cluster);
    const dueMs =
      before?.used === used && before.endpoint === endpoint
        ? before.dueMs
        : own === undefined || lifeMs === 0
          ? Number.POSITIVE_INFINITY
          : clock.monotonic() + renewalInMs(own, nowMs, lifeMs);
    const { namespace, name, resourceVersion } = secret.metadata;
    this.#known.set(cluster, { endpoint, secret: { namespace, name, resourceVersion }, key, stored, used, dueMs });
    if (own?.expiryMs === undefined) metrics.tokenExpires.remove({ cluster });
    else metrics.tokenExpires.set({ cluster }, own.expiryMs / 1000);
    if (before?.dueMs !== dueMs || this.#isUnsaved(cluster)) this.#queue.add(cluster);
    return used === given ? access : { ...access, credentials: { ...access.credentials, token: used } };
  }

  connected(cluster: string, client: RawClient | undefined): void {
    if (client === undefined) this.#clients.delete(cluster);
    else {
      this.#clients.set(cluster, client);
      this.#queue.add(cluster);
    }
  }

  refused(cluster: string): void {
    const used = this.#known.get(cluster)?.used;
    if (used === undefined) return;
    // A few are enough: older tokens were replaced long ago.
    const refused = [...(this.#refused.get(cluster) ?? []), used].slice(-REFUSED_MAX);
    this.#refused.set(cluster, new Set(refused));
  }

  advice(cluster: string): string {
    return refusedAdvice(this.#known.get(cluster)?.used, cluster, this.#deps.clock.now());
  }

  forget(cluster: string): void {
    this.#known.delete(cluster);
    this.#issued.delete(cluster);
    this.#refused.delete(cluster);
    this.#saveAfterMs.delete(cluster);
    this.#deps.metrics.tokenExpires.remove({ cluster });
  }

  async run(signal: AbortSignal): Promise<void> {
    onAbort(signal, () => this.#queue.shutDown());
    const reconcile = (cluster: string): Promise<ReconcileResult> => this.#reconcile(cluster, signal);
    await runController({ name: 'worker-tokens', queue: this.#queue, concurrency: CONCURRENCY, reconcile, log: this.#deps.log });
  }

  /** 1. Stores an issued token in the Secret, where a restart finds it. 2. Requests the next token when it is due. */
  async #reconcile(cluster: string, signal: AbortSignal): Promise<ReconcileResult> {
    const known = this.#known.get(cluster);
    const client = this.#clients.get(cluster);
    if (known?.used === undefined || client === undefined) return;
    if (this.#isUnsaved(cluster)) await this.#save(cluster, known, signal); // 1
    const waitMs = known.dueMs - this.#deps.clock.monotonic();
    if (waitMs > 0) return Number.isFinite(waitMs) ? { requeueAfterMs: waitMs } : undefined;
    return this.#renew(cluster, known, client, signal); // 2
  }

  async #renew(cluster: string, known: Known, client: RawClient, signal: AbortSignal): Promise<ReconcileResult> {
    const { lifeMs, log, onRenewed } = this.#deps;
    const own = known.used === undefined ? undefined : accountTokenIn(known.used);
    if (own === undefined) return;
    const body = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: Math.max(LIFE_MIN_S, Math.round(lifeMs / 1000)) },
    };
    const path = `/api/v1/namespaces/${own.namespace}/serviceaccounts/${own.name}/token`;
    let token: string | undefined;
    try {
      token = tokenIn(await client.raw({ method: 'POST', path, body, signal, bodyMaxBytes: ANSWER_BYTES_MAX }));
    } catch (error) {
      if (signal.aborted) return;
      if (!isForbidden(error) && !isNotFound(error)) throw error;
      log.warn('the token of a worker cluster cannot be renewed: its account may not have tokens issued for itself', {
        cluster,
        account: `${own.namespace}/${own.name}`,
        error,
      });
      return { requeueAfterMs: FORBIDDEN_MS };
    }
    const issued = token === undefined ? undefined : accountTokenIn(token);
    // A worker cluster can return the token of any account.
    if (token === undefined || issued?.namespace !== own.namespace || issued.name !== own.name)
      throw new Error(`worker cluster ${cluster} has answered a TokenRequest with no token of the account`);
    this.#issued.set(cluster, { endpoint: known.endpoint, token });
    log.info('the token of a worker cluster was renewed', { cluster, ends: issued.expiryMs && new Date(issued.expiryMs).toISOString() });
    // The next reconcile reads the Secret, chooses the token, uses it, and stores it in the Secret.
    onRenewed(cluster);
  }

  /** The token in use was issued by this process and is not in the Secret. */
  #isUnsaved(cluster: string): boolean {
    const known = this.#known.get(cluster);
    const issued = this.#issued.get(cluster);
    if ((this.#saveAfterMs.get(cluster) ?? 0) > this.#deps.clock.monotonic()) return false;
    return known !== undefined && issued !== undefined && known.used === issued.token && known.stored?.token !== issued.token;
  }

  async #save(cluster: string, { secret, key, endpoint }: Known, signal: AbortSignal): Promise<void> {
    const issued = this.#issued.get(cluster);
    if (issued?.endpoint !== endpoint) return;
    const { resourceVersion, ...where } = secret;
    const data = { [renewedKey(key)]: Buffer.from(renewedText(issued)).toString('base64') };
    const options = { fieldManager: MANAGER_FIELD_MANAGER, signal };
    try {
      await this.#deps.home.patch(SECRETS, where, { type: 'merge', body: { metadata: { resourceVersion }, data } }, options);
    } catch (error) {
      if (signal.aborted) return;
      // The Secret is read again soon, and the next attempt uses its new version.
      if (isConflict(error) || isNotFound(error)) return;
      this.#saveAfterMs.set(cluster, this.#deps.clock.monotonic() + FORBIDDEN_MS);
      this.#deps.log.warn('the renewed token of a worker cluster cannot be kept in its Secret', { cluster, secret: where, error });
    }
  }
}

const REFUSED_MAX = 8;

function tokenIn(answer: string): string | undefined {
  const { status } = JSON.parse(answer) as { readonly status?: { readonly token?: unknown } | null };
  const token = status?.token;
  return typeof token === 'string' && /^[\x21-\x7e]+$/.test(token) ? token : undefined;
}
