/**
 * The serving certificate of the managers, made and replaced by switchyard-certificates: no API server ever has a reason to refuse what a
 * manager shows. A replica here is both programs: a keeper, which writes, and a manager, which reads what any keeper has written.
 */
import { X509Certificate } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { BUNDLE_HOLDERS, type BundleHolder } from '../../manager/certificates/ca-bundle.ts';
import { createCertificateKeeper } from '../../manager/certificates/certificate-keeper.ts';
import { createCertificateReader, type CertificateReader } from '../../manager/certificates/certificate-reader.ts';
import { BACKDATED_MS, TRUSTED_AFTER_MS, VALID_MS } from '../../manager/certificates/decide-certificates.ts';
import { authoritiesIn, bundleOf, coversNames, readKeyPair } from '../../manager/certificates/key-pair.ts';
import { makeKeyPair } from '../../manager/certificates/make-key-pair.ts';
import { NAMESPACES, SECRETS, type Resource } from '../../shared/api/resources.ts';
import type { Secret } from '../../shared/api/kubernetes.ts';
import { isNotFound } from '../../shared/kube/api-error.ts';
import type { KubeClient, WatchStream } from '../../shared/kube/client.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { seededRandom, type Random } from '../../shared/runtime/random.ts';
import type { ServingCertificate } from '../../shared/runtime/serving-certificate.ts';
import { TestAuthority } from '../support/certificates.ts';
import { startCluster, type EmbeddedCluster } from '../support/embedded-cluster.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { isSlow } from '../support/slow.ts';

const SECRET = { namespace: 'switchyard', name: 'manager-webhook-tls' };
const CONFIGURATION = 'manager';
const NAMES = ['manager.switchyard.svc', 'manager.switchyard'];
const DAY_MS = 86_400_000;
const [SEEDS, ROUNDS] = isSlow ? [Array.from({ length: 12 }, (_, seed) => seed + 1), 60] : [[5, 10], 20];

type Fault = 'refused' | 'lost' | undefined;
type Replica = {
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

let clock: FakeClock;
let cluster: EmbeddedCluster;
let replicas: Replica[];
let writes: string[];
const making = new Set<Promise<unknown>>();

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

/** As a chart renders it: without a bundle. */
async function createConfiguration(resource: Resource<BundleHolder>, caBundle?: string): Promise<void> {
  const clientConfig = {
    service: { name: 'manager', namespace: 'switchyard', path: '/', port: 443 },
    ...(caBundle === undefined ? {} : { caBundle }),
  };
  const webhooks = [{ name: 'jobs.switchyard.dev', admissionReviewVersions: ['v1'], sideEffects: 'None', clientConfig, rules: [] }];
  await cluster.client.create(resource, { metadata: { name: CONFIGURATION }, webhooks } as never);
}

type Programs = 'both' | 'keeper' | 'manager';
function startReplica(seed = 1, names = NAMES, programs: Programs = 'both'): Replica {
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

const secret = async (): Promise<Secret | undefined> => {
  try {
    return await cluster.client.get(SECRETS, SECRET);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
};
const configurations = async (): Promise<BundleHolder[]> =>
  (await Promise.all(BUNDLE_HOLDERS.map((resource) => cluster.client.list(resource)))).flatMap(({ items }) => items);
const bundlesNow = async (): Promise<string[]> =>
  (await configurations()).flatMap(({ webhooks = [] }) =>
    webhooks.map(({ clientConfig }) => Buffer.from(clientConfig?.caBundle ?? '', 'base64').toString()),
  );
/** Why an API server with these bundles refuses what a replica shows; empty when it does not. */
function refusals(bundles: readonly string[]): string[] {
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
const setBundles = async (caBundle: string): Promise<void> => {
  for (const resource of BUNDLE_HOLDERS) {
    const body = [{ op: 'add', path: '/webhooks/0/clientConfig/caBundle', value: caBundle }];
    await cluster.client.patch(resource, { namespace: '', name: CONFIGURATION }, { type: 'json', body });
  }
};
/** Time passes; what takes time of its own is waited for. */
async function passes(ms: number): Promise<void> {
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
async function daysPass(days: number): Promise<void> {
  clock.stepTimeOfDay(days * DAY_MS);
  await passes(4_500_000);
}
const serials = (): (string | undefined)[] => replicas.map((replica) => serialOf(replica.shown()));
const serialOf = (shown: ServingCertificate | undefined): string | undefined => shown && new X509Certificate(shown.cert).serialNumber;

describe('the first certificate', () => {
  test('is made by the keeper that comes first, shown by all managers, and trusted before a manager shows it', async () => {
    startReplica(1);
    startReplica(2);
    startReplica(3);
    for (let second = 0; second < 20; second++) {
      await passes(1_000);
      expect(refusals(await bundlesNow())).toEqual([]);
    }
    expect(new Set(serials()).size).toBe(1);
    expect(serials()[0]).toBeDefined();
    expect(writes.filter((write) => write === 'create secrets')).toHaveLength(1);
    const { type, data = {} } = (await secret()) ?? {};
    expect({ type, keys: Object.keys(data).toSorted() }).toEqual({ type: 'kubernetes.io/tls', keys: ['ca.crt', 'tls.crt', 'tls.key'] });
    expect(replicas.map(({ reader }) => [reader.problem(), reader.warnings()])).toEqual([
      [undefined, []],
      [undefined, []],
      [undefined, []],
    ]);
  });

  test('is not written again, by whatever restarts, and nothing is asked for in the steady state', async () => {
    startReplica();
    await passes(60_000);
    const before = writes.length;
    const serial = serials()[0];
    await replicas[0]?.kill();
    startReplica(2);
    await passes(7_200_000);
    expect({ writes: writes.length - before, serial: serials()[0] }).toEqual({ writes: 0, serial });
  });

  test('that a configuration does not trust is told, until it does again', async () => {
    const replica = startReplica();
    await passes(60_000);
    replica.hold();
    await setBundles('');
    await passes(1_000);
    expect(replica.reader.warnings()).toEqual([]);
    replica.fault = 'refused';
    replica.release();
    await passes(200);
    expect(replica.reader.warnings()).toEqual([
      'the MutatingWebhookConfiguration manager does not trust the serving certificate: API servers refuse the webhook',
      'the ValidatingWebhookConfiguration manager does not trust the serving certificate: API servers refuse the webhook',
    ]);
    await passes(30_000);
    expect([replica.reader.warnings(), refusals(await bundlesNow())]).toEqual([[], []]);
  });
});

describe('a certificate that comes to its end', () => {
  test('is replaced in time: first trusted, then shown, and the old authority goes when what it signed has ended', async () => {
    startReplica(1);
    startReplica(2);
    await passes(60_000);
    const [first] = serials();
    await daysPass(VALID_MS / DAY_MS - 30 + 1);
    expect(serials()).not.toContain(first);
    expect(new Set(serials()).size).toBe(1);
    expect((await bundlesNow()).map((bundle) => authoritiesIn(bundle).length)).toEqual([2, 2]);
    await daysPass(31);
    expect((await bundlesNow()).map((bundle) => authoritiesIn(bundle).length)).toEqual([1, 1]);
    expect(authoritiesIn(Buffer.from((await secret())?.data?.['ca.crt'] ?? '', 'base64').toString())).toHaveLength(1);
    expect(refusals(await bundlesNow())).toEqual([]);
  });

  test('is shown for ten minutes more after its successor is trusted: API servers hear of that by a watch', async () => {
    startReplica();
    await passes(60_000);
    const [first] = serials();
    clock.stepTimeOfDay(61 * DAY_MS);
    await setBundles((await configurations())[0]?.webhooks?.[0]?.clientConfig?.caBundle ?? '');
    // Whatever happens to the Secret wakes it.
    await cluster.client.patch(SECRETS, SECRET, { type: 'merge', body: { metadata: { labels: { touched: 'yes' } } } });
    await passes(10_000);
    expect((await bundlesNow()).map((bundle) => authoritiesIn(bundle).length)).toEqual([2, 2]);
    await passes(TRUSTED_AFTER_MS - 60_000);
    expect(serials()).toEqual([first]);
    await passes(120_000);
    expect(serials()).not.toEqual([first]);
  });

  test('that has ended while nobody ran is replaced at once', async () => {
    startReplica();
    await passes(60_000);
    await replicas[0]?.kill();
    clock.stepTimeOfDay(200 * DAY_MS);
    const replica = startReplica(2);
    await passes(30_000);
    expect([replica.reader.problem(), refusals(await bundlesNow()), replica.shown() === undefined]).toEqual([undefined, [], false]);
  });

  test('that nobody can replace is a problem of the replica once it has ended', async () => {
    const replica = startReplica();
    await passes(60_000);
    replica.hold();
    clock.stepTimeOfDay(VALID_MS + BACKDATED_MS);
    expect(replica.reader.problem()).toMatch(
      /^the serving certificate of Secret switchyard\/manager-webhook-tls ended at 2026-.*delete the Secret$/,
    );
  });
});

describe('a keeper that dies', () => {
  test('after it has made the certificate and before API servers trust it: no manager serves with it until the next keeper has published it', async () => {
    const first = startReplica(1, NAMES, 'keeper');
    const manager = startReplica(2, NAMES, 'manager');
    while ((await secret()) === undefined) await passes(200);
    await first.kill();
    expect(await bundlesNow()).toEqual(['', '']);
    await passes(20_000);
    expect([manager.shown(), manager.reader.problem(), manager.reader.warnings().length]).toEqual([undefined, undefined, 2]);
    startReplica(3, NAMES, 'keeper');
    await passes(5_000);
    expect([manager.shown() === undefined, manager.reader.warnings()]).toEqual([false, []]);
    expect(refusals(await bundlesNow())).toEqual([]);
  });

  test('between two configurations: the next one finishes', async () => {
    const first = startReplica(1, NAMES, 'keeper');
    while (!writes.some((write) => write.startsWith('patch '))) await passes(200);
    await first.kill();
    expect((await bundlesNow()).filter((bundle) => bundle !== '')).toHaveLength(1);
    startReplica(2);
    await passes(10_000);
    expect(refusals(await bundlesNow())).toEqual([]);
    expect(new Set(await bundlesNow()).size).toBe(1);
  });

  test('for two months costs nothing but time: the managers show what there is, and say when it has ended', async () => {
    const keeper = startReplica(1, NAMES, 'keeper');
    const manager = startReplica(2, NAMES, 'manager');
    await passes(60_000);
    await keeper.kill();
    await daysPass(80);
    expect([manager.reader.problem(), refusals(await bundlesNow())]).toEqual([undefined, []]);
    await daysPass(20);
    expect(manager.reader.problem()).toContain('look into the log of switchyard-certificates');
    startReplica(3, NAMES, 'keeper');
    await passes(10_000);
    expect([manager.reader.problem(), refusals(await bundlesNow())]).toEqual([undefined, []]);
  });
});

describe('an upgrade from managers that made the certificate themselves', () => {
  test('goes on with their certificate: nothing is written, and nothing is refused, while their rights go and after', async () => {
    const [one, other] = [startReplica(1), startReplica(2)];
    await passes(60_000);
    const before = writes.length;
    one.isForbidden = true;
    other.isForbidden = true;
    startReplica(3, NAMES, 'keeper');
    for (let second = 0; second < 60; second++) {
      await passes(1_000);
      expect(refusals(await bundlesNow())).toEqual([]);
    }
    await one.kill();
    startReplica(4, NAMES, 'manager');
    await passes(30_000);
    await other.kill();
    startReplica(5, NAMES, 'manager');
    await passes(30_000);
    expect([refusals(await bundlesNow()), writes.length - before, new Set(serials()).size]).toEqual([[], 0, 2]);
  });

  test('in the middle of a renewal finishes that renewal', async () => {
    const old = startReplica(1);
    await passes(60_000);
    const [first] = serials();
    clock.stepTimeOfDay(61 * DAY_MS);
    await cluster.client.patch(SECRETS, SECRET, { type: 'merge', body: { metadata: { labels: { touched: 'yes' } } } });
    await passes(10_000);
    expect(Object.keys((await secret())?.data ?? {})).toContain('next.crt');
    old.isForbidden = true;
    startReplica(2, NAMES, 'keeper');
    startReplica(3, NAMES, 'manager');
    for (let minute = 0; minute < 13; minute++) {
      await passes(60_000);
      expect(refusals(await bundlesNow())).toEqual([]);
    }
    expect(serials()).not.toContain(first);
  });
});

describe('an operator', () => {
  test('who deletes the Secret has it replaced without anybody noticing', async () => {
    startReplica(1);
    startReplica(2);
    await passes(60_000);
    const [first] = serials();
    await cluster.client.delete(SECRETS, SECRET);
    for (let minute = 0; minute < 15; minute++) {
      await passes(60_000);
      expect(refusals(await bundlesNow())).toEqual([]);
    }
    expect(new Set(serials()).size).toBe(1);
    expect(serials()).not.toContain(first);
  });

  test('whose GitOps empties the bundle again and again has it filled again within seconds, and not in a race', async () => {
    startReplica(1);
    startReplica(2);
    await passes(60_000);
    const before = writes.length;
    for (let time = 0; time < 5; time++) {
      await setBundles('');
      await passes(4_000);
      expect(refusals(await bundlesNow())).toEqual([]);
      await passes(180_000);
    }
    expect(writes.length - before).toBe(10);
  });

  test('who puts a Secret from a backup in its place has that shown, trusted within seconds', async () => {
    startReplica(1);
    await passes(60_000);
    const old = await secret();
    await daysPass(61);
    await cluster.client.patch(SECRETS, SECRET, { type: 'merge', body: { data: { ...old?.data, 'next.crt': null, 'next.key': null } } });
    await passes(10_000);
    expect(refusals(await bundlesNow())).toEqual([]);
    await daysPass(0.1);
    expect(serials()).not.toEqual([new X509Certificate(Buffer.from(old?.data?.['tls.crt'] ?? '', 'base64')).serialNumber]);
    expect(refusals(await bundlesNow())).toEqual([]);
  });

  test.each([
    ['half of a pair', { 'tls.key': Buffer.from('no key').toString('base64') }],
    ['something else', { 'tls.crt': Buffer.from('nothing').toString('base64') }],
    ['no authority', { 'ca.crt': null }],
  ])('who leaves %s in the Secret changes nothing of what is shown and trusted', async (_what, data) => {
    startReplica(1);
    startReplica(2);
    await passes(60_000);
    await cluster.client.patch(SECRETS, SECRET, { type: 'merge', body: { data } });
    for (let minute = 0; minute < 13; minute++) {
      await passes(60_000);
      expect(refusals(await bundlesNow())).toEqual([]);
    }
    expect(new Set(serials()).size).toBe(1);
  });

  test('who renames the Service has a certificate for the new name, and the old one until it is trusted', async () => {
    startReplica(1);
    await passes(60_000);
    await replicas[0]?.kill();
    startReplica(2, ['renamed.switchyard.svc', 'manager.switchyard.svc']);
    await passes(60_000 + TRUSTED_AFTER_MS);
    const shown = replicas[0]?.shown();
    const pair = shown && readKeyPair(shown.cert, shown.key, authoritiesIn((await bundlesNow())[0] ?? ''));
    expect(pair && coversNames(pair, ['renamed.switchyard.svc'])).toBe(true);
  });
});

describe('a chart of the version before, which has made the Secret itself', () => {
  test('leaves its certificate to the keeper: it is shown until the next one is trusted, and its authority goes a month later', async () => {
    const authority = await TestAuthority.create();
    const { certPem, keyPem } = await authority.sign('manager', ['manager.switchyard.svc']);
    const encoded = (text: string): string => Buffer.from(text).toString('base64');
    const data = { 'tls.crt': encoded(certPem), 'tls.key': encoded(keyPem), 'ca.crt': encoded(authority.certPem) };
    await cluster.client.create(SECRETS, { metadata: SECRET, type: 'kubernetes.io/tls', data });
    await setBundles(data['ca.crt']);
    startReplica(1);
    startReplica(2);
    await passes(30_000);
    expect(serials()).toEqual(Array(2).fill(new X509Certificate(certPem).serialNumber));
    for (let minute = 0; minute < 15; minute++) {
      await passes(60_000);
      expect(refusals(await bundlesNow())).toEqual([]);
    }
    expect(serials()).not.toContain(new X509Certificate(certPem).serialNumber);
    const theirs = bundleOf(authoritiesIn(authority.certPem));
    expect((await bundlesNow()).map((bundle) => bundle.includes(theirs))).toEqual([true, true]);
    await daysPass(31);
    expect((await bundlesNow()).map((bundle) => bundle.includes(theirs))).toEqual([false, false]);
    expect(refusals(await bundlesNow())).toEqual([]);
  });

  test('and an authority that others still show is left in the bundle meanwhile', async () => {
    const { certPem } = await TestAuthority.create();
    await setBundles(Buffer.from(certPem).toString('base64'));
    startReplica(1);
    await passes(60_000);
    expect((await bundlesNow()).map((bundle) => bundle.includes(bundleOf(authoritiesIn(certPem))))).toEqual([true, true]);
    expect(refusals(await bundlesNow())).toEqual([]);
  });
});

describe('whatever happens in between', () => {
  test.each(SEEDS)('no replica is refused for longer than it takes to repair what somebody broke (seed %i)', async (seed) => {
    const random = seededRandom(seed);
    startReplica(seed);
    startReplica(seed + 100);
    await passes(30_000);
    /** What API servers go by: they hear of a bundle up to two minutes late. */
    const late: { readonly atMs: number; readonly bundles: string[] }[] = [];
    let brokenUntilMs = 0;
    for (let round = 0; round < ROUNDS; round++) {
      if ((await happens(random, seed * 1000 + round)) === 'breaks') brokenUntilMs = clock.monotonic() + 420_000;
      for (let look = 0; look < 12; look++) {
        await passes(15_000);
        const bundles = await bundlesNow();
        late.push({ atMs: clock.monotonic(), bundles });
        if (clock.monotonic() < brokenUntilMs) continue;
        const old = late.findLast(({ atMs }) => atMs <= clock.monotonic() - 120_000 && atMs > clock.monotonic() - 150_000);
        expect({ seed, round, now: refusals(bundles), old: refusals(old?.bundles ?? []) }).toEqual({ seed, round, now: [], old: [] });
      }
      for (const replica of replicas) replica.release();
    }
    await passes(4_000_000);
    expect(new Set(serials()).size).toBe(1);
    expect(refusals(await bundlesNow())).toEqual([]);
  });

  /** `breaks`: nothing that a manager does could keep API servers from refusing it for a moment. */
  async function happens(random: Random, seed: number): Promise<'breaks' | undefined> {
    const one = replicas[Math.floor(random() * replicas.length)];
    switch (Math.floor(random() * 11)) {
      case 0:
        clock.stepTimeOfDay(Math.floor(random() * 9) * DAY_MS);
        await passes(4_500_000);
        return;
      case 1:
        one?.hold();
        return;
      case 2:
        if (one !== undefined) one.fault = 'lost';
        return;
      case 3:
        if (one !== undefined) one.fault = 'refused';
        return;
      case 4:
        await one?.kill();
        startReplica(seed);
        return replicas.length === 1 ? 'breaks' : undefined;
      case 5:
        await setBundles('');
        return 'breaks';
      case 6:
        if ((await secret()) !== undefined) await cluster.client.delete(SECRETS, SECRET);
        return;
      case 7: {
        const resource = BUNDLE_HOLDERS[Math.floor(random() * BUNDLE_HOLDERS.length)] ?? SECRETS;
        await cluster.client.delete(resource, { namespace: '', name: CONFIGURATION });
        await createConfiguration(resource as Resource<BundleHolder>);
        return 'breaks';
      }
      case 8:
        clock.stepTimeOfDay(20 * DAY_MS);
        await passes(4_500_000);
        return;
      case 9:
        await cluster.client
          .patch(SECRETS, SECRET, { type: 'merge', body: { metadata: { labels: { seed: String(seed) } } } })
          .catch((error: unknown) => expect(isNotFound(error)).toBe(true));
        return;
      default:
        return;
    }
  }
});
