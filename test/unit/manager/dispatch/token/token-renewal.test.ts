import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTokenRenewal, type TokenRenewal, type TokenRenewalDeps } from '../../../../../manager/dispatch/token/token-renewal.ts';
import type { WorkerAccess } from '../../../../../manager/dispatch/token/worker-access.ts';
import { endpointDigest, renewedText } from '../../../../../manager/dispatch/token/worker-token.ts';
import { createManagerMetrics } from '../../../../../manager/metrics/metrics.ts';
import type { Secret } from '../../../../../shared/api/kubernetes.ts';
import { ApiError } from '../../../../../shared/kube/api-error.ts';
import { silentLogger } from '../../../../../shared/runtime/logger.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { unsignedToken } from '../../../../support/unsigned-token.ts';

const HOUR_MS = 3_600_000;
const SUB = 'system:serviceaccount:switchyard:manager';
const NOW_MS = Date.UTC(2026, 0, 1);
/** Issued so many hours after the beginning, and good for 24. */
const aToken = (fromHours: number, sub = SUB): string => {
  const iat = NOW_MS / 1000 + fromHours * 3600;
  return unsignedToken({ sub, iat, exp: iat + 24 * 3600 });
};
const access = (token?: string, server = 'https://east'): WorkerAccess =>
  ({ endpoint: { server }, credentials: token === undefined ? {} : { token } }) as unknown as WorkerAccess;
const secret = (resourceVersion: string, renewed?: { readonly token: string; readonly server?: string }): Secret => {
  const text = renewed && renewedText({ endpoint: endpointDigest(access('', renewed.server).endpoint), token: renewed.token });
  return {
    metadata: { namespace: 'system', name: 'east', uid: 'u', resourceVersion, creationTimestamp: '2026-01-01T00:00:00Z' },
    data: text === undefined ? {} : { 'kubeconfig.renewed': Buffer.from(text).toString('base64') },
  };
};
const where = (...given: Parameters<typeof secret>) => ({ secret: secret(...given), key: 'kubeconfig' });

let clock: FakeClock;
let registry: Registry;
let tokens: TokenRenewal;
let stop: () => Promise<void>;
/** What the worker cluster was asked for, what the Secret was given, and for which clusters there is a new token. */
let requests: unknown[];
let saves: unknown[];
let renewed: string[];
/** What the worker cluster issues, and what happens to writes of the Secret. */
let issue: () => unknown;
let refusal: Error | undefined;
const start = (lifeMs = 24 * HOUR_MS): void => {
  registry = new Registry();
  const home = {
    async patch(_of: unknown, key: unknown, { body }: { readonly body: unknown }) {
      saves.push([key, body]);
      if (refusal !== undefined) throw refusal;
    },
  };
  const deps: TokenRenewalDeps = {
    home: home as never,
    lifeMs,
    onRenewed: (cluster) => void renewed.push(cluster),
    clock,
    log: silentLogger,
    metrics: createManagerMetrics(registry).dispatch,
  };
  tokens = createTokenRenewal(deps);
  const stopping = new AbortController();
  const running = tokens.run(stopping.signal);
  stop = async () => {
    stopping.abort(new Error('the test is over'));
    await running;
  };
};
const client = {
  async raw(request: unknown) {
    requests.push(request);
    return JSON.stringify({ status: { token: issue() } });
  },
} as never;
beforeEach(() => {
  [clock, requests, saves, renewed, refusal] = [new FakeClock(NOW_MS), [], [], [], undefined];
  issue = () => aToken(12);
  start();
});
afterEach(() => stop());

const used = (given: string, at = where('1')): string | undefined => tokens.newest('east', access(given), at).credentials.token;
const expiry = async (): Promise<string | undefined> =>
  (await registry.metrics()).split('\n').find((line) => line.startsWith('switchyard_worker_token_expires_seconds{'));

describe('a token of an account', () => {
  test('is renewed at half of its life, for the account itself, and the cluster is looked at again', async () => {
    expect(used(aToken(0))).toBe(aToken(0));
    tokens.connected('east', client);
    await clock.advance(12 * HOUR_MS - 1);
    expect(requests).toEqual([]);
    await clock.advance(1);
    expect(requests).toMatchObject([
      {
        method: 'POST',
        path: '/api/v1/namespaces/switchyard/serviceaccounts/manager/token',
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 86_400 } },
        bodyMaxBytes: 65_536,
      },
    ]);
    expect([renewed, saves]).toEqual([['east'], []]);
  });

  const renew = async (): Promise<void> => {
    used(aToken(0));
    tokens.connected('east', client);
    await clock.advance(12 * HOUR_MS);
  };

  test('that was renewed is used, and stored beside the kubeconfig on the version that was read', async () => {
    await renew();
    expect(used(aToken(0), where('2'))).toBe(aToken(12));
    await clock.advance(0);
    expect(saves).toEqual([
      [
        { namespace: 'system', name: 'east' },
        { metadata: { resourceVersion: '2' }, data: secret('', { token: aToken(12) }).data },
      ],
    ]);
    expect(used(aToken(0), where('3', { token: aToken(12) }))).toBe(aToken(12));
    await clock.advance(HOUR_MS);
    expect([saves.length, requests.length]).toEqual([1, 1]);
  });

  test('that another leader has stored is used from the start, and only for its server', async () => {
    expect(used(aToken(0), where('1', { token: aToken(6) }))).toBe(aToken(6));
    expect(used(aToken(0), where('1', { token: aToken(6), server: 'https://west' }))).toBe(aToken(0));
  });

  test.each([
    [409, 'Conflict', 0],
    [404, 'NotFound', 0],
    [403, 'Forbidden', 600_000],
  ])('that cannot be stored (%i %s) is used all the same, and stored %i ms later', async (code, reason, laterMs) => {
    await renew();
    refusal = new ApiError(code, { reason });
    const look = async (): Promise<number> => {
      expect(used(aToken(0), where('2'))).toBe(aToken(12));
      await clock.advance(0);
      return saves.length;
    };
    expect(await look()).toBe(1);
    if (laterMs > 0) {
      await clock.advance(laterMs - 1);
      expect(await look()).toBe(1);
      await clock.advance(1);
    }
    expect(await look()).toBe(2);
  });

  test.each([
    [403, 'Forbidden'],
    [404, 'NotFound'],
  ])('that its account may not have issued (%i) is asked for again ten minutes later', async (code, reason) => {
    issue = () => {
      throw new ApiError(code, { reason });
    };
    await renew();
    await clock.advance(599_999);
    expect(requests).toHaveLength(1);
    await clock.advance(1);
    expect(requests).toHaveLength(2);
    expect(renewed).toEqual([]);
  });

  test.each<[string, unknown]>([
    ['of another account', aToken(12, 'system:serviceaccount:switchyard:admin')],
    ['of an account of another namespace', aToken(12, 'system:serviceaccount:other:manager')],
    ['that is no token of an account', 'opaque'],
    ['with characters that no header takes', `${aToken(12)}\n`],
    ['that is no text', 7],
  ])('a cluster that answers with a token %s is not believed, and is asked again later', async (_which, token) => {
    issue = () => token;
    await renew();
    expect([requests.length, renewed]).toEqual([1, []]);
    await clock.advance(5_000);
    expect([requests.length > 1, renewed, used(aToken(0))]).toEqual([true, [], aToken(0)]);
  });

  test('is not renewed before its cluster is connected, or when it is no longer', async () => {
    used(aToken(0));
    await clock.advance(13 * HOUR_MS);
    expect(requests).toEqual([]);
    tokens.connected('east', client);
    await clock.advance(0);
    expect(requests).toHaveLength(1);
    await stop();
    start();
    used(aToken(0));
    tokens.connected('east', client);
    tokens.connected('east', undefined);
    await clock.advance(13 * HOUR_MS);
    expect(requests).toHaveLength(1);
  });

  test('is asked for ten minutes of life at least, and for none where tokens are left alone', async () => {
    await stop();
    start(60_000);
    await renew();
    expect(requests[0]).toMatchObject({ body: { spec: { expirationSeconds: 600 } } });
    await stop();
    requests = [];
    start(0);
    expect(used(aToken(0), where('1', { token: aToken(6) }))).toBe(aToken(0));
    tokens.connected('east', client);
    await clock.advance(48 * HOUR_MS);
    expect(requests).toEqual([]);
  });

  test('that was refused gives way to the one of the kubeconfig, and the advice says what to do', async () => {
    tokens.refused('east');
    const stored = where('1', { token: aToken(6) });
    expect(used(aToken(0), stored)).toBe(aToken(6));
    tokens.refused('east');
    expect(used(aToken(0), stored)).toBe(aToken(0));
    expect(tokens.advice('east')).toMatch(/\w/);
    tokens.forget('east');
    expect(used(aToken(0), stored)).toBe(aToken(6));
  });

  test('has its end in a metric, as long as its cluster is known', async () => {
    used(aToken(0));
    expect(await expiry()).toMatch(new RegExp(` ${NOW_MS / 1000 + 86_400}$`));
    tokens.forget('east');
    expect(await expiry()).toBeUndefined();
    used('opaque');
    expect(await expiry()).toBeUndefined();
  });
});

test('an access without a token is left as it is, and so is a token of another kind', async () => {
  expect(tokens.newest('east', access(), where('1')).credentials.token).toBeUndefined();
  expect(used('opaque')).toBe('opaque');
  tokens.connected('east', client);
  await clock.advance(48 * HOUR_MS);
  expect(requests).toEqual([]);
});
