/**
 * The adversary reaches the port of metrics and health, and has no token, a wrong one, or one of somebody else. They want to read, or to
 * keep the API server busy.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ControlPlane, createControlPlane } from '../../shared/controlplane/control-plane.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { createMetricsGate } from '../../shared/kube/access-gate.ts';
import type { Transport } from '../../shared/kube/transport.ts';
import { createProgramHttp, listen } from '../../shared/runtime/http-server.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { seededRandom } from '../../shared/runtime/random.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { type Chart, ofKind, renderChart } from '../support/helm.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';

describe.each<Chart>(['manager', 'worker'])('the metrics of the %s, with authentication', (chart) => {
  let clock: FakeClock;
  let plane: ControlPlane;
  let transport: Transport;
  let port: Awaited<ReturnType<typeof listen>>;
  let asked: number;
  let broken: boolean;
  beforeEach(async () => {
    clock = new FakeClock();
    plane = await createControlPlane({ clock, random: seededRandom(1), log: silentLogger });
    transport = plane.transport();
    [asked, broken] = [0, false];
    // The program has the permissions of its chart.
    const rendered = renderChart(chart);
    await post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'switchyard' } });
    for (const kind of ['ClusterRole', 'ClusterRoleBinding']) {
      for (const object of ofKind(rendered, kind)) await post(`${RBAC}/${kind.toLowerCase()}s`, object);
    }
    const program = plane.transport({
      name: `system:serviceaccount:switchyard:test-switchyard-${chart}`,
      groups: ['system:serviceaccounts'],
    });
    const client = createKubeClient(
      {
        ...program,
        send: (request) => {
          asked++;
          return broken ? Promise.reject(new Error('connection refused')) : program.send(request);
        },
      },
      { userAgent: 'test', clock },
    );
    const http = createProgramHttp({
      metrics: { metrics: async () => 'secret_things 1\n', contentType: 'text/plain' },
      readiness: { caches: () => undefined },
      invariants: () => ({ violations: {}, dumps: [] }),
      metricsGate: createMetricsGate({ client, clock, log: silentLogger }),
    });
    port = await listen(http, '127.0.0.1:0');
  });
  afterEach(async () => {
    await port.close();
    await plane.close();
  });

  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const answer = await transport.send({
      method: 'POST',
      path,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(answer.status, answer.body).toBe(201);
    return JSON.parse(answer.body) as Record<string, unknown>;
  };
  /** A token of a new service account. */
  const tokenOf = async (name: string): Promise<string> => {
    await post('/api/v1/namespaces/default/serviceaccounts', { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } });
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
    const { status } = await post(`/api/v1/namespaces/default/serviceaccounts/${name}/token`, request);
    return (status as { token: string }).token;
  };
  const bindReader = (name: string): Promise<unknown> =>
    post(`${RBAC}/clusterrolebindings`, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: `metrics-${name}` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: `test-switchyard-${chart}-metrics-reader` },
      subjects: [{ kind: 'ServiceAccount', name, namespace: 'default' }],
    });
  const read = async (token?: string, path = '/metrics'): Promise<string> => {
    const response = await fetch(port.url + path, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } });
    return `${response.status} ${await response.text()}`;
  };

  test('are shown to an account that is bound to the role of the chart, and to no other', async () => {
    const [reader, stranger] = [await tokenOf('prometheus'), await tokenOf('stranger')];
    await bindReader('prometheus');
    expect(await read(reader)).toBe('200 secret_things 1\n');
    expect(await read(stranger)).toMatch(/^403 .*may not get the path \/metrics/);
    expect(await read(reader, '/debug/invariants')).toMatch(/^403 .*may not get the path \/debug\/invariants/);
    expect(await read(undefined, '/debug/invariants')).toMatch(/^401 /);
    expect(await read(`${reader}x`)).toMatch(/^401 /);
    expect(await read()).toMatch(/^401 /);
    expect((await fetch(`${port.url}/metrics`)).headers.get('www-authenticate')).toBe('Bearer');
  });

  test('cost the API server nothing for those without a token, and two calls a minute for a scraper', async () => {
    for (let round = 0; round < 30; round++) await Promise.all(Array.from({ length: 20 }, () => read()));
    expect(asked).toBe(0);
    const reader = await tokenOf('prometheus');
    await bindReader('prometheus');
    await Promise.all(Array.from({ length: 20 }, () => read(reader)));
    expect(asked).toBe(2);
    await clock.advance(60_000);
    await read(reader);
    expect(asked).toBe(4);
  });

  test('cost it no more than the limit when tokens are guessed, and a known scraper reads on', async () => {
    const reader = await tokenOf('prometheus');
    await bindReader('prometheus');
    await read(reader);
    await clock.advance(60_000);
    // As many as there are connections for; time stands still, so that only the first burst is asked about.
    const guesses = Array.from({ length: 36 }, (_, index) => read(`guess-${index}`));
    await expect.poll(() => asked, { timeout: 30_000 }).toBe(2 + 20);
    expect(await read(reader)).toBe('200 secret_things 1\n');
    await clock.advance(5_000);
    const statuses = (await Promise.all(guesses)).map((answer) => answer.slice(0, 3));
    expect(statuses.filter((status) => status !== '401' && status !== '503')).toEqual([]);
  });

  test('are shown to nobody while the API server cannot be asked; health is told all the same', async () => {
    const reader = await tokenOf('prometheus');
    await bindReader('prometheus');
    broken = true;
    const answer = await fetch(`${port.url}/metrics`, { headers: { authorization: `Bearer ${reader}` } });
    expect(`${answer.status} ${await answer.text()}`).toBe('503 cannot find out who asks: the API server did not answer\n');
    expect(answer.headers.get('retry-after')).toBe('5');
    for (const path of ['/healthz', '/readyz']) expect(await read(undefined, path)).toBe('200 ok');
    broken = false;
    expect(await read(reader)).toMatch(/^200/);
  });
});
