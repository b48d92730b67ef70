import type { DeepReadonly, ObjectKey, Secret } from '../../shared/api/kubernetes.ts';
import { MANAGER_FIELD_MANAGER } from '../../shared/api/names.ts';
import { SECRETS } from '../../shared/api/resources.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../shared/kube/api-error.ts';
import type { ReadClient, WatchClient, WriteClient } from '../../shared/kube/client.ts';
import { createInformer, type Informer } from '../../shared/kube/informer.ts';
import { createBackoff } from '../../shared/runtime/backoff.ts';
import { endsWithin, sleep, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Random } from '../../shared/runtime/random.ts';
import type { CertificateSource, ServingCertificate } from '../../shared/runtime/serving-certificate.ts';
import { allOrNone } from '../../shared/runtime/tasks.ts';
import { createWakeUp } from '../../shared/runtime/wake-up.ts';
import { BUNDLE_HOLDERS, bundleIn, bundlePatch, type BundleHolder } from './ca-bundle.ts';
import { certificateSecretData, newCertificateSecretData, readCertificateSecret, type CertificateSecret } from './certificate-secret.ts';
import { decideCertificates, trusts, type Step } from './decide-certificates.ts';
import type { Authority, KeyPair } from './key-pair.ts';

export type CertificateKeeperDeps = {
  readonly client: ReadClient & WriteClient & WatchClient;
  /** Shared by all replicas; made where it is absent. */
  readonly secret: ObjectKey;
  /** Name of the webhook configurations, of both kinds, that are to trust it. */
  readonly configuration: string;
  /** DNS names by which the server is called. */
  readonly names: readonly string[];
  readonly makeKeyPair: (names: readonly string[], nowMs: number) => Promise<KeyPair>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
};

/** Makes, publishes and replaces the serving certificate of the replicas, together with all others that do. */
export interface CertificateKeeper extends CertificateSource {
  /** Works until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Why API servers will not take what this replica shows; undefined when they should. */
  problem(): string | undefined;
  /** What somebody should look at. */
  warnings(): readonly string[];
}

/** However wrong things are, an API server is not asked more often. */
const PAUSE_MS = 1_000;
const BACKOFF = { baseMs: 1_000, maxMs: 30_000 };
/** Who shows a new certificate waits so long for API servers to trust it. */
const TRUST_WAIT_MS = 30_000;
/** A watch that says nothing for this long, though it is told the time every minute, tells nothing of the present. */
const SILENT_MS = 180_000;

/** Nothing starts before `run`. */
export function createCertificateKeeper(deps: CertificateKeeperDeps): CertificateKeeper {
  return new Keeper(deps);
}

type Follower = { shown: ServingCertificate; readonly show: (certificate: ServingCertificate) => void };

class Keeper implements CertificateKeeper {
  readonly #deps: CertificateKeeperDeps;
  readonly #secrets: Informer<Secret>;
  readonly #holders: readonly Informer<BundleHolder>[];
  readonly #wakeUp;
  readonly #followers = new Set<Follower>();
  #shown: KeyPair | undefined;
  #hasShown = Promise.withResolvers<void>();
  #isTrusted = Promise.withResolvers<void>();
  /** Since when, on the clock's `monotonic`, all holders have been seen to trust this authority. */
  #nextTrusted: { readonly authority: Authority; readonly sinceMs: number } | undefined;

  constructor(deps: CertificateKeeperDeps) {
    this.#deps = deps;
    const { client, secret, configuration, clock, random, log } = deps;
    const common = { client, clock, random, log };
    this.#secrets = createInformer({
      ...common,
      resource: SECRETS,
      namespace: secret.namespace,
      fieldSelector: `metadata.name=${secret.name}`,
    });
    this.#holders = BUNDLE_HOLDERS.map((resource) =>
      createInformer({ ...common, resource, fieldSelector: `metadata.name=${configuration}` }),
    );
    this.#wakeUp = createWakeUp(clock);
    const wake = (): void => this.#wakeUp.wake();
    this.#secrets.addHandler({ added: wake, updated: wake, deleted: wake });
    for (const holder of this.#holders) holder.addHandler({ added: wake, updated: wake, deleted: wake });
  }

  async run(signal: AbortSignal): Promise<void> {
    await allOrNone(signal, [
      ...[this.#secrets, ...this.#holders].map((informer) => (each: AbortSignal) => informer.run(each)),
      (each) => this.#look(each),
    ]);
  }

  async first(signal?: AbortSignal): Promise<ServingCertificate> {
    const stopped = Promise.withResolvers<never>();
    const stop = (): void => stopped.reject(signal?.reason);
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, { once: true });
    try {
      await Promise.race([this.#hasShown.promise, stopped.promise]);
      // Who is asked for it before would be refused.
      await Promise.race([endsWithin(this.#deps.clock, TRUST_WAIT_MS, this.#isTrusted.promise), stopped.promise]);
    } finally {
      signal?.removeEventListener('abort', stop);
      stopped.promise.catch((error: unknown) => this.#deps.log.debug('nobody waits for the certificate any more', { error }));
    }
    if (this.#shown === undefined) throw new Error('there is no certificate');
    return servedAs(this.#shown);
  }

  follow(shown: ServingCertificate, show: (certificate: ServingCertificate) => void): () => void {
    const follower = { shown, show };
    this.#followers.add(follower);
    this.#tell(follower);
    return () => this.#followers.delete(follower);
  }

  problem(): string | undefined {
    if (this.#shown === undefined) return `Secret ${this.#named()} holds no serving certificate yet`;
    if (this.#shown.notAfterMs > this.#deps.clock.now()) return undefined;
    return `the serving certificate of Secret ${this.#named()} ended at ${new Date(this.#shown.notAfterMs).toISOString()}; look into the log for why it was not replaced, or delete the Secret`;
  }

  warnings(): readonly string[] {
    const shown = this.#shown;
    if (shown === undefined) return [];
    return this.#holders.flatMap((holder) => {
      const [object] = this.#objects(holder);
      if (!holder.hasSynced())
        return [
          `the ${holder.resource.kind} ${this.#deps.configuration} cannot be read: whether it trusts the serving certificate is not known`,
        ];
      if (object === undefined || trusts(bundleIn(object), shown.authority)) return [];
      return [
        `the ${holder.resource.kind} ${this.#deps.configuration} does not trust the serving certificate: API servers refuse the webhook`,
      ];
    });
  }

  /** One step after the other, each on what is known by then. */
  async #look(signal: AbortSignal): Promise<void> {
    const { clock, random, log } = this.#deps;
    const backoff = createBackoff({ ...BACKOFF, random });
    let timer = clock.schedule(() => undefined, 0);
    const again = (delayMs: number): void => {
      timer.cancel();
      timer = clock.schedule(() => this.#wakeUp.wake(), delayMs);
    };
    try {
      await this.#wakeUp.run(async () => {
        try {
          if (!this.#secrets.hasSynced()) return again(PAUSE_MS);
          const step = this.#decide();
          if (step.kind === 'Wait') {
            backoff.reset();
            return again(step.forMs);
          }
          await this.#take(step, signal);
          backoff.reset();
          await sleep(clock, PAUSE_MS, signal);
          again(0);
        } catch (error) {
          if (signal.aborted) return;
          const delayMs = backoff.nextDelayMs();
          if (!isConflict(error) && !isAlreadyExists(error) && !isNotFound(error))
            log.error('the serving certificate cannot be looked after', { secret: this.#named(), error });
          // Otherwise another replica was faster, and what it did is on its way here.
          await sleep(clock, delayMs, signal);
          again(0);
        }
      }, signal);
    } finally {
      timer.cancel();
    }
  }

  #decide(): Step {
    const { clock, names } = this.#deps;
    const nowMs = clock.now();
    const secret = this.#content();
    this.#adopt(secret?.current, nowMs);
    const known = this.#holders.every((holder) => holder.hasSynced());
    const bundles = this.#targets().map(({ object }) => bundleIn(object));
    const shown = this.#shown;
    if (known && shown !== undefined && bundles.every((bundle) => trusts(bundle, shown.authority))) this.#isTrusted.resolve();
    const nextTrustedMs = this.#trustedMs(secret?.next?.authority, known ? bundles : undefined);
    return decideCertificates({ nowMs, secret, shown, bundles: known ? bundles : undefined, nextTrustedMs, names });
  }

  #content(): CertificateSecret | undefined {
    const [secret] = this.#secrets.list();
    return secret && readCertificateSecret(secret.data);
  }

  #adopt(current: KeyPair | undefined, nowMs: number): void {
    if (current === undefined || current.notAfterMs <= nowMs || current.certPem === this.#shown?.certPem) return;
    if (this.#shown !== undefined)
      this.#deps.log.info('the serving certificate was replaced', { ends: new Date(current.notAfterMs).toISOString() });
    this.#shown = current;
    this.#hasShown.resolve();
    for (const follower of this.#followers) this.#tell(follower);
  }

  #tell(follower: Follower): void {
    if (this.#shown === undefined || follower.shown.cert === this.#shown.certPem) return;
    const next = servedAs(this.#shown);
    follower.show(next);
    follower.shown = next;
  }

  #trustedMs(authority: Authority | undefined, bundles: readonly (readonly Authority[])[] | undefined): number {
    const nowMs = this.#deps.clock.monotonic();
    const isSilent = this.#holders.some((holder) => nowMs - holder.lastHeardMs() > SILENT_MS);
    if (authority === undefined || bundles === undefined || isSilent || !bundles.every((bundle) => trusts(bundle, authority))) {
      this.#nextTrusted = undefined;
      return 0;
    }
    if (this.#nextTrusted?.authority.certPem !== authority.certPem) this.#nextTrusted = { authority, sinceMs: nowMs };
    return nowMs - this.#nextTrusted.sinceMs;
  }

  /** Configurations that there are, and that name webhooks. */
  #targets(): readonly { readonly holder: Informer<BundleHolder>; readonly object: DeepReadonly<BundleHolder> }[] {
    return this.#holders.flatMap((holder) => this.#objects(holder).map((object) => ({ holder, object })));
  }

  #objects(holder: Informer<BundleHolder>): readonly DeepReadonly<BundleHolder>[] {
    return holder.list().filter(({ webhooks = [] }) => webhooks.length > 0);
  }

  async #take(step: Exclude<Step, { kind: 'Wait' }>, signal: AbortSignal): Promise<void> {
    const { client, secret, names, makeKeyPair, clock, log } = this.#deps;
    const options = { fieldManager: MANAGER_FIELD_MANAGER, signal };
    if (step.kind === 'Publish') {
      const target = this.#targets()[step.index];
      if (target === undefined) return;
      const { resource } = target.holder;
      const body = bundlePatch(target.object, step.authorities);
      await client.patch(resource, { namespace: '', name: this.#deps.configuration }, { type: 'json', body }, options);
      log.info('a webhook configuration trusts the serving certificate', { kind: resource.kind, authorities: step.authorities.length });
      return;
    }
    const made = async (pair: KeyPair | 'Made'): Promise<KeyPair> => (pair === 'Made' ? makeKeyPair(names, clock.now()) : pair);
    const [known] = this.#secrets.list();
    const current = await made(step.current);
    const next = step.next && (await made(step.next));
    const isNew = (pair: KeyPair | undefined): pair is KeyPair => pair !== undefined && !trusts(step.authorities, pair.authority);
    const authorities = [...step.authorities, ...[current, next].filter(isNew).map(({ authority }) => authority)];
    const content = { current, next, authorities };
    if (known === undefined) {
      const data = newCertificateSecretData(content);
      await client.create(SECRETS, { metadata: secret, type: 'kubernetes.io/tls', data }, options);
    } else {
      const body = { metadata: { resourceVersion: known.metadata.resourceVersion }, data: certificateSecretData(content) };
      await client.patch(SECRETS, secret, { type: 'merge', body }, options);
    }
    log.info('wrote the serving certificate', { secret: this.#named(), why: step.why });
  }

  #named(): string {
    return `${this.#deps.secret.namespace}/${this.#deps.secret.name}`;
  }
}

const servedAs = ({ certPem, keyPem }: KeyPair): ServingCertificate => ({ cert: certPem, key: keyPem });
