/**
 * An API server with the webhook configurations of a release, and the programs that make and show its certificate. A replica is both: a
 * keeper, which writes, and a manager, which reads what any keeper has written. Each test has a world of its own.
 */
import { X509Certificate } from 'node:crypto';
import { afterEach, beforeEach, expect } from 'vitest';
import { BUNDLE_HOLDERS, type BundleHolder } from '../../manager/certificates/ca-bundle.ts';
import { createCertificateKeeper } from '../../manager/certificates/certificate-keeper.ts';
import { createCertificateReader, type CertificateReader } from '../../manager/certificates/certificate-reader.ts';
import { authoritiesIn, coversNames, readKeyPair } from '../../manager/certificates/key-pair.ts';
import { makeKeyPair } from '../../manager/certificates/make-key-pair.ts';
import { NAMESPACES, SECRETS, type Resource } from '../../shared/api/resources.ts';
import type { Secret } from '../../shared/api/kubernetes.ts';
import { isNotFound } from '../../shared/kube/api-error.ts';
import type { KubeClient, WatchStream } from '../../shared/kube/client.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { seededRandom } from '../../shared/runtime/random.ts';
import type { ServingCertificate } from '../../shared/runtime/serving-certificate.ts';
import { startCluster, type EmbeddedCluster } from '../support/embedded-cluster.ts';
import { FakeClock } from '../support/fake-clock.ts';

export const SECRET = { namespace: 'switchyard', name: 'manager-webhook-tls' };
export const CONFIGURATION = 'manager';
export const NAMES = ['manager.switchyard.svc', 'manager.switchyard'];
export const DAY_MS = 86_400_000;

type Fault = 'refused' | 'lost' | undefined;
export type Replica = {
  /** Of the manager. */
  readonly reader: CertificateReader;
  /** The certificate that the manager shows. */
  shown(): ServingCertificate | undefined;
  /** The fault of the keeper's next write. */
  fault: Fault;
  /** Whether the keeper has lost its rights: all of its writes are refused. */
  isForbidden: boolean;
  /** Keeps back what its watches have to tell. */
  hold(): void;
  release(): void;
  kill(): Promise<void>;
};

export let clock: FakeClock;
export let cluster: EmbeddedCluster;
export let replicas: Replica[];
export let writes: string[];
const making = new Set<Promise<unknown>>();

/** Called by each file of tests, because files share modules, and hooks are of the file that registers them. */
export function useCertificateWorld(): void {
  beforeEach(async () => {
    clock = new FakeClock();
    cluster = await startCluster(clock, []);
    replicas = [];
    writes = [];
    await cluster.client.create(NAMESPACES, { metadata: { name: SECRET.namespace } });
    for (const resource of BUNDLE_HOLDERS) await createConfiguration(resource);
  });
  afterEach(async () => {
    for (const replica of replicas) {
      replica.release();
      await replica.kill();
    }
    await cluster.plane.close();
  });
}

/** As a chart renders it: without a bundle. */
export async function createConfiguration(resource: Resource<BundleHolder>, caBundle?: string): Promise<void> {
  const clientConfig = {
    service: { name: 'manager', namespace: 'switchyard', path: '/', port: 443 },
    ...(caBundle === undefined ? {} : { caBundle }),
  };
  const webhooks = [{ name: 'jobs.switchyard.dev', admissionReviewVersions: ['v1'], sideEffects: 'None', clientConfig, rules: [] }];
  await cluster.client.create(resource, { metadata: { name: CONFIGURATION }, webhooks } as never);
}

type Programs = 'both' | 'keeper' | 'manager';
export function startReplica(seed = 1, names = NAMES, programs: Programs = 'both'): Replica {
  const through = createKubeClient(cluster.plane.transport(), { userAgent: 'test', clock });
  let gate: PromiseWithResolvers<void> | undefined;
  const write = async <T>(what: string, call: () => Promise<T>): Promise<T> => {
    const fault = replica.fault;
    replica.fault = undefined;
    if (replica.isForbidden) throw new Error('forbidden');
    if (fault === 'refused') throw new Error('the connection was refused');
    const answer = await call();
    writes.push(what);
    if (fault === 'lost') throw new Error('the connection was cut before the answer');
    return answer;
  };
  async function* gated<T>(stream: WatchStream<T>): WatchStream<T> {
    for await (const events of stream) {
      while (gate !== undefined) await gate.promise;
      yield events;
    }
  }
  const client: KubeClient = {
    ...through,
    get: (...args) => through.get(...args),
    list: (...args) => through.list(...args),
    watch: async (resource, options) => gated(await through.watch(resource, options)),
    create: (resource, object, options) => write(`create ${resource.plural}`, () => through.create(resource, object, options)),
    patch: (resource, key, patch, options) => write(`patch ${resource.plural}`, () => through.patch(resource, key, patch, options)),
  };
  const common = { client, secret: SECRET, configuration: CONFIGURATION, clock, log: silentLogger };
  const keeper = createCertificateKeeper({
    ...common,
    names,
    // Keys take time that no fake clock knows of.
    makeKeyPair: (...args) => {
      const made = makeKeyPair(...args);
      making.add(made);
      return made.finally(() => making.delete(made));
    },
    random: seededRandom(seed),
  });
  const reader = createCertificateReader({ ...common, random: seededRandom(seed + 50) });
  const stop = new AbortController();
  const running = [programs !== 'manager' && keeper.run(stop.signal), programs !== 'keeper' && reader.run(stop.signal)];
  let shown: ServingCertificate | undefined;
  const serving = reader.first(stop.signal).then(
    (first) => {
      shown = first;
      reader.follow(first, (next) => (shown = next));
    },
    (error: unknown) => expect(stop.signal.aborted, String(error)).toBe(true),
  );
  const replica: Replica = {
    reader,
    shown: () => shown,
    fault: undefined,
    isForbidden: false,
    hold: () => (gate ??= Promise.withResolvers()),
    release() {
      gate?.resolve();
      gate = undefined;
    },
    async kill() {
      replicas = replicas.filter((each) => each !== replica);
      stop.abort(new Error('the test is over'));
      replica.release();
      await passes(0);
      await Promise.all([...running, serving]);
    },
  };
  replicas.push(replica);
  return replica;
}

export const secret = async (): Promise<Secret | undefined> => {
  try {
    return await cluster.client.get(SECRETS, SECRET);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
};
export const configurations = async (): Promise<BundleHolder[]> =>
  (await Promise.all(BUNDLE_HOLDERS.map((resource) => cluster.client.list(resource)))).flatMap(({ items }) => items);
export const bundlesNow = async (): Promise<string[]> =>
  (await configurations()).flatMap(({ webhooks = [] }) =>
    webhooks.map(({ clientConfig }) => Buffer.from(clientConfig?.caBundle ?? '', 'base64').toString()),
  );
/** Why an API server with these bundles refuses what a replica shows; empty when it does not. */
export function refusals(bundles: readonly string[]): string[] {
  return replicas.flatMap((replica, index) => {
    const shown = replica.shown();
    if (shown === undefined) return [];
    return bundles.flatMap((bundle) => {
      const pair = readKeyPair(shown.cert, shown.key, authoritiesIn(bundle));
      if (pair === undefined) return [`replica ${index}: signed by an unknown authority`];
      if (pair.notAfterMs <= clock.now() || pair.notBeforeMs > clock.now()) return [`replica ${index}: not valid now`];
      return coversNames(pair, ['manager.switchyard.svc']) ? [] : [`replica ${index}: of another name`];
    });
  });
}
export const setBundles = async (caBundle: string): Promise<void> => {
  for (const resource of BUNDLE_HOLDERS) {
    const body = [{ op: 'add', path: '/webhooks/0/clientConfig/caBundle', value: caBundle }];
    await cluster.client.patch(resource, { namespace: '', name: CONFIGURATION }, { type: 'json', body });
  }
};
/** Time passes; what takes time of its own is waited for. */
export async function passes(ms: number): Promise<void> {
  for (let leftMs = ms, slice = 0; ; slice++) {
    const sliceMs = Math.min(leftMs, slice < 60 ? 1_000 : 60_000);
    await clock.advance(sliceMs);
    while (making.size > 0) {
      await Promise.all(making);
      await clock.settle();
    }
    leftMs -= sliceMs;
    if (leftMs <= 0) return;
  }
}
/** Days pass; then those who look every hour have looked. */
export async function daysPass(days: number): Promise<void> {
  clock.stepTimeOfDay(days * DAY_MS);
  await passes(4_500_000);
}
export const serials = (): (string | undefined)[] => replicas.map((replica) => serialOf(replica.shown()));
const serialOf = (shown: ServingCertificate | undefined): string | undefined => shown && new X509Certificate(shown.cert).serialNumber;
