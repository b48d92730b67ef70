/**
 * The serving certificate of the managers, made and replaced by switchyard-certificates: no API server ever has a reason to refuse what a
 * manager shows.
 */
import { X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { BUNDLE_HOLDERS, type BundleHolder } from '../../manager/certificates/ca-bundle.ts';
import { BACKDATED_MS, TRUSTED_AFTER_MS, VALID_MS } from '../../manager/certificates/decide-certificates.ts';
import { authoritiesIn, bundleOf, coversNames, readKeyPair } from '../../manager/certificates/key-pair.ts';
import { SECRETS, type Resource } from '../../shared/api/resources.ts';
import { isNotFound } from '../../shared/kube/api-error.ts';
import { seededRandom, type Random } from '../../shared/runtime/random.ts';
import { TestAuthority } from '../support/certificates.ts';
import { isSlow } from '../support/slow.ts';
import {
  bundlesNow,
  clock,
  cluster,
  CONFIGURATION,
  configurations,
  createConfiguration,
  DAY_MS,
  daysPass,
  passes,
  refusals,
  replicas,
  SECRET,
  secret,
  serials,
  setBundles,
  startReplica,
  writes,
  useCertificateWorld,
} from './certificate-world.ts';

useCertificateWorld();

const [SEEDS, ROUNDS] = isSlow ? [Array.from({ length: 12 }, (_, seed) => seed + 1), 60] : [[5, 10], 20];

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
