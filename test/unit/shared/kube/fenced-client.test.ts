import { expect, test } from 'vitest';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import { JOBS } from '../../../../shared/api/resources.ts';
import type { KubeClient } from '../../../../shared/kube/client.ts';
import { fencedClient } from '../../../../shared/kube/fenced-client.ts';

const KEY = { namespace: 'ns', name: 'job' };
const JOB: Job = {
  metadata: { ...KEY, uid: 'uid', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { template: {} },
};
const PATCH = { type: 'merge', body: {} } as const;

/** Every call of it waits until it is told to stop; `signals` has what it was given. */
function aWaitingClient(): { readonly client: KubeClient; readonly signals: AbortSignal[] } {
  const signals: AbortSignal[] = [];
  const wait = (options?: { readonly signal?: AbortSignal }): Promise<never> => {
    const { signal } = options ?? {};
    if (signal === undefined) return Promise.reject(new Error('the call can never be stopped'));
    signals.push(signal);
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
  };
  const client: KubeClient = {
    get: (_resource, _key, options) => wait(options),
    list: (_resource, options) => wait(options),
    create: (_resource, _object, options) => wait(options),
    replace: (_resource, _object, options) => wait(options),
    patch: (_resource, _key, _patch, options) => wait(options),
    delete: (_resource, _key, options) => wait(options),
    replaceStatus: (_resource, _object, options) => wait(options),
    patchStatus: (_resource, _key, _patch, options) => wait(options),
    watch: (_resource, options) => wait(options),
    raw: (request) => wait(request),
    close: () => Promise.resolve(),
  };
  return { client, signals };
}

const CALLS: readonly (readonly [string, (client: KubeClient, signal?: AbortSignal) => Promise<unknown>])[] = [
  ['get', (client, signal) => client.get(JOBS, KEY, signal && { signal })],
  ['list', (client, signal) => client.list(JOBS, signal && { signal })],
  ['create', (client, signal) => client.create(JOBS, JOB, signal && { signal })],
  ['replace', (client, signal) => client.replace(JOBS, JOB, signal && { signal })],
  ['patch', (client, signal) => client.patch(JOBS, KEY, PATCH, signal && { signal })],
  ['delete', (client, signal) => client.delete(JOBS, KEY, signal && { signal })],
  ['replaceStatus', (client, signal) => client.replaceStatus(JOBS, JOB, signal && { signal })],
  ['patchStatus', (client, signal) => client.patchStatus(JOBS, KEY, PATCH, signal && { signal })],
  ['watch', (client, signal) => client.watch(JOBS, { resourceVersion: '1', ...(signal && { signal }) })],
  ['raw', (client, signal) => client.raw({ method: 'GET', path: '/version', ...(signal && { signal }) })],
];

test.each(CALLS)('%s ends when the fence falls, whether or not the caller could stop it', async (_name, call) => {
  const fence = new AbortController();
  const { client, signals } = aWaitingClient();
  const fenced = fencedClient(client, fence.signal);
  const alone = call(fenced);
  const own = new AbortController();
  const withSignal = call(fenced, own.signal);
  fence.abort(new Error('leadership was lost'));
  await expect(alone).rejects.toThrow('leadership was lost');
  await expect(withSignal).rejects.toThrow('leadership was lost');
  expect(signals).toHaveLength(2);
});

test.each(CALLS)('%s still ends when its caller stops it', async (_name, call) => {
  const own = new AbortController();
  const waiting = call(fencedClient(aWaitingClient().client, new AbortController().signal), own.signal);
  own.abort(new Error('no longer wanted'));
  await expect(waiting).rejects.toThrow('no longer wanted');
});
