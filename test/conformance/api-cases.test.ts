/**
 * HTTP exchanges recorded from kube-apiserver v1.36, had again over HTTPS: the embedded control plane, or a real one, gives the same
 * answers.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { KubeObject } from '../../shared/api/kubernetes.ts';
import type { Resource } from '../../shared/api/resources.ts';
import { areControllersReal, isServerReal, type ServerUnderTest, startServerUnderTest } from '../support/server-under-test.ts';
import { type Answer, type ApiCase, loadApiCases, type Need } from './support/api-case.ts';
import { expectedForm, normalForm } from './support/api-case-normal-form.ts';
import { playApiCase } from './support/api-case-player.ts';
import { differences } from './support/difference.ts';
import { type HookServer, startHookServer } from './support/hook-server.ts';
import { createRawHttp, type RawHttp } from './support/raw-http.ts';

const CASE_LIMIT_MS = 60_000;
const START_LIMIT_MS = 300_000;
const resources = new AsyncDisposableStack();
let http: RawHttp;
/**
 * Of a real server beside which kube-controller-manager aggregates ClusterRoles; it also puts objects of its own in every namespace, which
 * other cases do not expect.
 */
let aggregating: RawHttp | undefined;
let hooks: HookServer;

beforeAll(async () => {
  http = await connectTo(await startServerUnderTest({ whoseControllers: 'ours' }));
  hooks = await startHookServer();
  resources.defer(() => hooks.close());
  if (!areControllersReal()) return;
  const server = await startServerUnderTest({ controllers: [] });
  aggregating = await connectTo(server);
  const rulesOf = async (name: string): Promise<object> => (await server.client.get(CLUSTER_ROLES, { namespace: '', name })).rules ?? [];
  for (const name of ['view', 'edit', 'admin'])
    await vi.waitFor(async () => expect(await rulesOf(name)).not.toEqual([]), { timeout: CASE_LIMIT_MS, interval: 100 });
}, START_LIMIT_MS);

afterAll(() => resources.disposeAsync());

async function connectTo(server: ServerUnderTest): Promise<RawHttp> {
  resources.defer(() => server.close());
  const connected = await createRawHttp(server.access);
  resources.defer(() => connected.close());
  return connected;
}

const CLUSTER_ROLES: Resource<KubeObject & { rules?: readonly object[] | null }> = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'clusterroles',
  kind: 'ClusterRole',
  namespaced: false,
};

describe.concurrent('kube-apiserver v1.36', () => {
  for (const [position, apiCase] of loadApiCases().entries()) {
    test(`${apiCase.name}: ${apiCase.about}`, { timeout: CASE_LIMIT_MS, concurrent: !ALONE.has(apiCase.name) }, async ({ skip }) => {
      const missing = apiCase.needs?.find((need) => LACKING[need] !== undefined);
      if (missing !== undefined) skip(LACKING[missing]);
      const toAsk = apiCase.needs?.includes('role-aggregation') ? (aggregating ?? http) : http;
      const played = await playApiCase(toAsk, hooks, apiCase, idOf(position));
      expect(differencesOf(apiCase, normalForm(played, apiCase, Date.now()))).toEqual([]);
    });
  }
});

/** Its webhook for all definitions is on a real server also called when controllers write the status of those that other cases make. */
const ALONE: ReadonlySet<string> = new Set(isServerReal() ? ['k-hook-match-policy'] : []);

/** What the server under test cannot have beside it, and why. */
const LACKING: Readonly<Partial<Record<Need, string>>> = isServerReal()
  ? {
      compaction: 'etcd is compacted after five minutes only',
      ...(areControllersReal() ? {} : { 'role-aggregation': 'KUBEBUILDER_ASSETS names no directory with kube-controller-manager' }),
    }
  : {};

/** Short, and with no letters in it that a generated name could have been made of. */
const idOf = (position: number): string => `q${String(position).padStart(3, '0')}`;

const differencesOf = (apiCase: ApiCase, answers: readonly Answer[]): string[] =>
  apiCase.exchanges.flatMap((exchange, position) => {
    const asked = 'watch' in exchange ? `WATCH ${exchange.watch}` : 'method' in exchange ? `${exchange.method} ${exchange.path}` : '';
    const label = `#${position} ${asked}${exchange.note === undefined ? '' : ` (${exchange.note})`}`;
    return differences(expectedForm(exchange), answers[position]).map((line) => `${label}: ${line}`);
  });
