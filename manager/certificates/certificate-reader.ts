import type { DeepReadonly, ObjectKey, Secret } from '../../shared/api/kubernetes.ts';
import { SECRETS, type Resource } from '../../shared/api/resources.ts';
import type { ReadClient, WatchClient } from '../../shared/kube/client.ts';
import { createInformer, type Informer } from '../../shared/kube/informer.ts';
import { endsWithin, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Random } from '../../shared/runtime/random.ts';
import type { CertificateSource, ServingCertificate } from '../../shared/runtime/serving-certificate.ts';
import { allOrNone } from '../../shared/runtime/tasks.ts';
import { BUNDLE_HOLDERS, bundleIn, type BundleHolder } from './ca-bundle.ts';
import { readCertificateSecret, type CertificateSecret } from './certificate-secret.ts';
import { trusts } from './decide-certificates.ts';
import type { Authority, KeyPair } from './key-pair.ts';

export type CertificateReaderDeps = {
  readonly client: ReadClient & WatchClient;
  /** Secret of the serving certificate, shared by all replicas. */
  readonly secret: ObjectKey;
  /** Name of the webhook configurations, of both kinds, that are to trust it. */
  readonly configuration: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
};

/** The Secret and the webhook configurations as the watches show them. */
export type CertificateView = {
  /** Undefined: it is absent. */
  readonly secret: DeepReadonly<Secret> | undefined;
  readonly content: CertificateSecret | undefined;
  /** The certificate in use: the last one of the Secret that could be used. */
  readonly shown: KeyPair | undefined;
  /** Configurations that exist and have webhooks. */
  readonly configurations: readonly { readonly resource: Resource<BundleHolder>; readonly object: DeepReadonly<BundleHolder> }[];
  /** Authorities that each of them trusts. Undefined: not known yet. */
  readonly bundles: readonly (readonly Authority[])[] | undefined;
  /** For how long all of them have been seen to trust the authority of the next certificate; 0 when one does not. */
  readonly nextTrustedMs: number;
};

/** Follows the serving certificate of the Secret. It writes nothing. */
export interface CertificateReader extends CertificateSource {
  /** Watches until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Undefined until the Secret has been listed. */
  view(): CertificateView | undefined;
  /** Calls `listener` after each change. Add it before `run`. */
  onChange(listener: () => void): void;
  /** Why API servers refuse the certificate of this replica; undefined when they should accept it. */
  problem(): string | undefined;
  /** Conditions that an operator should look at. */
  warnings(): readonly string[];
}

/** Limit of the wait for API servers to trust a new certificate before it is used. */
const TRUST_WAIT_MS = 30_000;
/** A watch without a sign of life for this long, three bookmarks, no longer tells the present. */
const SILENT_MS = 180_000;

/** Nothing starts before `run`. */
export function createCertificateReader(deps: CertificateReaderDeps): CertificateReader {
  return new Reader(deps);
}

type Follower = { shown: ServingCertificate; readonly show: (certificate: ServingCertificate) => void };

class Reader implements CertificateReader {
  readonly #deps: CertificateReaderDeps;
  readonly #secrets: Informer<Secret>;
  readonly #holders: readonly Informer<BundleHolder>[];
  readonly #listeners: (() => void)[] = [];
  readonly #followers = new Set<Follower>();
  #shown: KeyPair | undefined;
  #hasShown = Promise.withResolvers<void>();
  #isTrusted = Promise.withResolvers<void>();
  /** Since when, on the clock's `monotonic`, all holders have been seen to trust this authority. */
  #nextTrusted: { readonly authority: Authority; readonly sinceMs: number } | undefined;

  constructor(deps: CertificateReaderDeps) {
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
    const changed = (): void => this.#changed();
    this.#secrets.addHandler({ added: changed, updated: changed, deleted: changed });
    for (const holder of this.#holders) holder.addHandler({ added: changed, updated: changed, deleted: changed });
  }

  async run(signal: AbortSignal): Promise<void> {
    const run = (informer: Informer<Secret> | Informer<BundleHolder>) => async (each: AbortSignal) => {
      const running = informer.run(each);
      // An empty first list calls no handler.
      await informer.waitForSync(each).then(
        () => this.#changed(),
        (error: unknown) => this.#deps.log.debug('the certificate is no longer followed', { error }),
      );
      await running;
    };
    await allOrNone(signal, [this.#secrets, ...this.#holders].map(run));
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  async first(signal?: AbortSignal): Promise<ServingCertificate> {
    const stopped = Promise.withResolvers<never>();
    const stop = (): void => stopped.reject(signal?.reason);
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, { once: true });
    try {
      await Promise.race([this.#hasShown.promise, stopped.promise]);
      // A server that starts earlier would be refused by API servers.
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
    const { secret, clock } = this.#deps;
    const named = `${secret.namespace}/${secret.name}`;
    if (this.#shown === undefined) return `Secret ${named} holds no serving certificate yet; switchyard-certificates creates it`;
    if (this.#shown.notAfterMs > clock.now()) return undefined;
    return `the serving certificate of Secret ${named} ended at ${new Date(this.#shown.notAfterMs).toISOString()}; look into the log of switchyard-certificates for why it was not replaced, or delete the Secret`;
  }

  warnings(): readonly string[] {
    const shown = this.#shown;
    if (shown === undefined) return [];
    return this.#holders.flatMap((holder) => {
      const [object] = configured(holder);
      const named = `the ${holder.resource.kind} ${this.#deps.configuration}`;
      if (!holder.hasSynced()) return [`${named} cannot be read: whether it trusts the serving certificate is not known`];
      if (object === undefined || trusts(bundleIn(object), shown.authority)) return [];
      return [`${named} does not trust the serving certificate: API servers refuse the webhook`];
    });
  }

  view(): CertificateView | undefined {
    if (!this.#secrets.hasSynced()) return undefined;
    const [secret] = this.#secrets.list();
    const content = secret && readCertificateSecret(secret.data);
    this.#adopt(content?.current);
    const isKnown = this.#holders.every((holder) => holder.hasSynced());
    const configurations = this.#holders.flatMap((holder) => configured(holder).map((object) => ({ resource: holder.resource, object })));
    const bundles = isKnown ? configurations.map(({ object }) => bundleIn(object)) : undefined;
    const shown = this.#shown;
    if (shown !== undefined && bundles?.every((bundle) => trusts(bundle, shown.authority))) this.#isTrusted.resolve();
    return { secret, content, shown, configurations, bundles, nextTrustedMs: this.#trustedMs(content?.next?.authority, bundles) };
  }

  #changed(): void {
    this.view();
    for (const listener of this.#listeners) listener();
  }

  #adopt(current: KeyPair | undefined): void {
    if (current === undefined || current.notAfterMs <= this.#deps.clock.now() || current.certPem === this.#shown?.certPem) return;
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
}

const configured = (holder: Informer<BundleHolder>): readonly DeepReadonly<BundleHolder>[] =>
  holder.list().filter(({ webhooks = [] }) => webhooks.length > 0);

const servedAs = ({ certPem, keyPem }: KeyPair): ServingCertificate => ({ cert: certPem, key: keyPem });
