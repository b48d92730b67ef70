import { beforeEach, describe, expect, test } from 'vitest';
import type { WorkerCluster, WorkerClusterSpec } from '../../../../../manager/api/worker-cluster.ts';
import { createAccessReader, type Access } from '../../../../../manager/dispatch/connection/access-reader.ts';
import type { Secret } from '../../../../../shared/api/kubernetes.ts';
import { kubeconfigFor } from '../../../../../shared/controlplane/server/kubeconfig-file.ts';
import { ApiError } from '../../../../../shared/kube/api-error.ts';
import { unsignedToken } from '../../../../support/unsigned-token.ts';

const aKubeconfig = (server = 'https://192.0.2.1:6443', token = 't0ken'): string => kubeconfigFor({ url: server }, token);
const aSecret = (kubeconfig: string, resourceVersion = '1', key = 'kubeconfig'): Secret => ({
  metadata: { namespace: 'system', name: 'east', uid: 'u', resourceVersion, creationTimestamp: '2026-01-01T00:00:00Z' },
  data: { [key]: Buffer.from(kubeconfig).toString('base64') },
});
const REF = { kubeconfigSecretRef: { namespace: 'system', name: 'east' } };
const aCluster = (spec: Partial<WorkerClusterSpec> = REF, uid = 'uid-1'): WorkerCluster =>
  ({ metadata: { name: 'east', uid, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' }, spec }) as WorkerCluster;
const { signal } = new AbortController();

/** The stored Secret, or what the API server says instead. */
let stored: Secret | Error;
beforeEach(() => (stored = aSecret(aKubeconfig())));
const reader = (secretsNamespace?: string) =>
  createAccessReader(
    {
      get: async () => {
        if (stored instanceof Error) throw stored;
        return stored as never;
      },
    },
    secretsNamespace,
    // One that has issued nothing.
    { newest: (_cluster, access) => access },
  );
const read = (cluster = aCluster(), access = reader()): Promise<Access> => access.read(cluster, signal);
const fingerprintOf = async (cluster?: WorkerCluster): Promise<string> => {
  const access = await read(cluster);
  return access.kind === 'Access' ? access.fingerprint : access.problem.message;
};

describe('how a worker cluster is reached', () => {
  test('stands in its Secret; the manager cluster itself needs none', async () => {
    expect(await read()).toMatchObject({
      kind: 'Access',
      worker: { endpoint: { server: 'https://192.0.2.1:6443' }, credentials: { token: 't0ken' } },
    });
    stored = new Error('nobody asks');
    expect(await read(aCluster({ local: true }))).toMatchObject({ kind: 'Access', worker: undefined });
  });

  test('wants a new connection where server, object or what is made there is another, and not for a new token', async () => {
    const before = await fingerprintOf();
    expect(await fingerprintOf(aCluster({ ...REF, state: 'Cordoned' }))).toBe(before);
    stored = aSecret(aKubeconfig(undefined, 'other'), '2');
    expect(await fingerprintOf()).toBe(before);
    const others = [
      aCluster(REF, 'uid-2'),
      aCluster({ ...REF, jobController: 'kubernetes.io/job-controller' }),
      aCluster({ ...REF, namespaces: 'Create' }),
      aCluster({ ...REF, namespaceLabels: ['a'] }),
      aCluster({ ...REF, servedNamespaces: ['team'] }),
      aCluster({ ...REF, leaseNamespace: 'leases' }),
    ];
    const fingerprints = await Promise.all(others.map((each) => fingerprintOf(each)));
    stored = aSecret(aKubeconfig('https://192.0.2.2:6443'), '3');
    expect(new Set([before, ...fingerprints, await fingerprintOf(), await fingerprintOf(aCluster({ local: true }))]).size).toBe(9);
  });

  test('is parsed again for each version of the Secret, and after the cluster was forgotten', async () => {
    const access = reader();
    const serverNow = async (): Promise<unknown> => {
      const found = await read(aCluster(), access);
      return found.kind === 'Access' ? found.worker?.endpoint.server : found;
    };
    await serverNow();
    stored = aSecret(aKubeconfig('https://192.0.2.2:6443'), '1');
    expect(await serverNow()).toBe('https://192.0.2.1:6443');
    stored = aSecret(aKubeconfig('https://192.0.2.2:6443'), '2');
    expect(await serverNow()).toBe('https://192.0.2.2:6443');
    stored = aSecret(aKubeconfig('https://192.0.2.3:6443'), '2');
    access.forget('east');
    expect(await serverNow()).toBe('https://192.0.2.3:6443');
  });

  test.each<[string, Secret | Error, Partial<WorkerClusterSpec>, string, RegExp]>([
    ['names no Secret', new Error('nobody asks'), {}, 'KubeconfigMissing', /^spec\.kubeconfigSecretRef is not set; name the Secret/],
    [
      'names one that is not there',
      new ApiError(404, { reason: 'NotFound' }),
      REF,
      'KubeconfigMissing',
      /^Secret system\/east does not exist$/,
    ],
    ['may not be read', new ApiError(403, { reason: 'Forbidden', message: 'no' }), REF, 'KubeconfigMissing', /may not be read: no$/],
    ['has another key', aSecret('', '1', 'other'), REF, 'KubeconfigMissing', /^key "kubeconfig" of Secret system\/east does not exist$/],
    ['has no kubeconfig', aSecret('{}'), REF, 'KubeconfigInvalid', /^key "kubeconfig" of Secret system\/east: /],
  ])('is a problem of its configuration where it %s', async (_where, secret, spec, reason, message) => {
    stored = secret;
    const found = await read(aCluster(spec));
    expect(found).toEqual({ kind: 'Problem', problem: { reason, message: expect.stringMatching(message) as string } });
    expect(reader().nextReadMs(found, 0)).toBe(5_000);
  });

  test('may only stand in the namespace of such Secrets, where there is one', async () => {
    const message = 'spec.kubeconfigSecretRef names namespace system; put the Secret into safe';
    expect(await read(aCluster(), reader('safe'))).toMatchObject({ kind: 'Problem', problem: { message } });
    expect(await read(aCluster(), reader('system'))).toMatchObject({ kind: 'Access' });
  });

  test('cannot be told while the API server does not answer', async () => {
    stored = new ApiError(500, { message: 'broken' });
    await expect(read()).rejects.toThrow('broken');
  });

  test('is looked at every half minute, and before its token ends', async () => {
    expect(reader().nextReadMs(await read(), 0)).toBe(30_000);
    const token = unsignedToken({ exp: 100 });
    stored = aSecret(aKubeconfig(undefined, token));
    const access = await read();
    expect([0, 70_000, 100_000].map((nowMs) => reader().nextReadMs(access, nowMs))).toEqual([30_000, 20_000, 5_000]);
  });
});
