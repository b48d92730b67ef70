import { expect, test } from 'vitest';
import type { ConfigMap, Job } from '../../../../shared/api/kubernetes.ts';
import { ApiError } from '../../../../shared/kube/api-error.ts';
import type { WriteClient } from '../../../../shared/kube/client.ts';
import type { KeptCopy } from '../../../../worker/logs/keep-rule.ts';
import { createTailStore } from '../../../../worker/logs/tail-store.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const COPY = { metadata: { name: 'sum', namespace: 'team', uid: 'u1', labels: {} } } as unknown as Job;
type Write = {
  readonly verb: string;
  readonly metadata: Partial<ConfigMap['metadata']>;
  readonly keys: string[];
  answer(error?: Error): void;
};

/** An API server that answers when it is told to. */
function aServer(place: 'with the Leases' | 'beside the copy' = 'with the Leases') {
  const namespace = place === 'with the Leases' ? 'leases' : undefined;
  const writes: Write[] = [];
  const kept: string[] = [];
  const write = (verb: string, object: Partial<ConfigMap>): Promise<never> =>
    new Promise((resolve, reject) =>
      writes.push({
        verb,
        metadata: object.metadata ?? {},
        keys: Object.keys(object.binaryData ?? {}),
        answer: (error) => (error === undefined ? resolve(object as never) : reject(error)),
      }),
    );
  const client = {
    create: (_: unknown, object: ConfigMap) => write('create', object),
    patch: (_: unknown, metadata: ConfigMap['metadata'], { body }: { body: object }) => write('patch', { ...body, metadata }),
    delete: (_: unknown, metadata: ConfigMap['metadata']) => write('delete', { metadata }),
  } as unknown as Pick<WriteClient, 'create' | 'patch' | 'delete'>;
  const onKept = ({ metadata: { uid } }: KeptCopy): void => void kept.push(uid);
  return {
    writes,
    kept,
    store: createTailStore({ client, clock: new FakeClock(), controllerName: 'switchyard.dev/worker', namespace, onKept }),
  };
}
const settle = async (): Promise<void> => {
  for (let k = 0; k < 20; k++) await Promise.resolve();
};
const forEver = new AbortController().signal;

test('what comes while a write is under way goes together into the next', async () => {
  const { writes, store } = aServer();
  const first = store.keep(COPY, 'a', Buffer.from('1'), forEver);
  await settle();
  const others = ['b', 'c', 'd'].map((pod) => store.keep(COPY, pod, Buffer.from('1'), forEver));
  await settle();
  expect(writes.map(({ verb, keys }) => [verb, keys])).toEqual([['create', ['a']]]);
  writes[0]?.answer();
  expect(await first).toBe(true);
  await settle();
  expect(writes.map(({ verb, keys }) => [verb, keys])).toEqual([
    ['create', ['a']],
    ['patch', ['b', 'c', 'd']],
  ]);
  writes[1]?.answer();
  expect(await Promise.all(others)).toEqual([true, true, true]);
});

test('one that is there already is added to, and one that somebody has deleted is made anew', async () => {
  const { writes, store } = aServer();
  const first = store.keep(COPY, 'a', Buffer.from('1'), forEver);
  await settle();
  writes[0]?.answer(new ApiError(409, { reason: 'AlreadyExists' }));
  await settle();
  expect(writes[1]?.verb).toBe('patch');
  writes[1]?.answer(new ApiError(404, { reason: 'NotFound' }));
  await expect(first).rejects.toThrow();
  const second = store.keep(COPY, 'b', Buffer.from('1'), forEver);
  await settle();
  expect(writes[2]?.verb).toBe('create');
  writes[2]?.answer();
  expect(await second).toBe(true);
});

test('whoever has no more patience hears so at once, and the next write goes on', async () => {
  const { writes, store } = aServer();
  const patience = new AbortController();
  const first = store.keep(COPY, 'a', Buffer.from('1'), patience.signal);
  await settle();
  patience.abort(new Error('late'));
  await expect(first).rejects.toThrow('late');
  writes[0]?.answer();
  await settle();
  const second = store.keep(COPY, 'b', Buffer.from('1'), forEver);
  await settle();
  writes[1]?.answer();
  expect(await second).toBe(true);
});

test('what does not fit any more is not sent', async () => {
  const { writes, store } = aServer();
  expect(await store.keep(COPY, 'a', Buffer.alloc(701 * 1024), forEver)).toBe(false);
  expect(writes).toEqual([]);
});

test('they stand where the Leases are, with labels that say whose they are, or beside the copy, with which they go', async () => {
  const { writes, kept, store } = aServer();
  void store.keep(COPY, 'a', Buffer.from('1'), forEver);
  const beside = aServer('beside the copy');
  void beside.store.keep(COPY, 'a', Buffer.from('1'), forEver);
  await settle();
  expect(writes[0]?.metadata).toEqual({
    name: 'switchyard-logs-u1',
    namespace: 'leases',
    labels: {
      'switchyard.dev/origin': '',
      'switchyard.dev/log-tails': 'switchyard-worker',
      'switchyard.dev/job-namespace': 'team',
      'switchyard.dev/job-name': 'sum',
    },
  });
  expect(beside.writes[0]?.metadata).toMatchObject({
    name: 'switchyard-logs-u1',
    namespace: 'team',
    labels: { 'switchyard.dev/origin': '' },
    ownerReferences: [{ kind: 'Job', name: 'sum', uid: 'u1', controller: true }],
  });
  expect([kept, beside.kept]).toEqual([['u1'], []]);
});

test('a name that is too long for a label keeps nothing from being stored', async () => {
  const { writes, store } = aServer();
  const long = { metadata: { ...COPY.metadata, name: 'x'.repeat(64) } } as Job;
  void store.keep(long, 'a', Buffer.from('1'), forEver);
  await settle();
  expect(writes[0]?.metadata.labels).toEqual({
    'switchyard.dev/origin': '',
    'switchyard.dev/log-tails': 'switchyard-worker',
    'switchyard.dev/job-namespace': 'team',
  });
});

test('what is kept of a copy is removed after the last write of it, and only once', async () => {
  const { writes, store } = aServer();
  void store.keep(COPY, 'a', Buffer.from('1'), forEver);
  await settle();
  store.forget('u1');
  const removed = store.remove('u1');
  await settle();
  expect(writes.map(({ verb }) => verb)).toEqual(['create']);
  writes[0]?.answer();
  await settle();
  expect(writes.map(({ verb, metadata: { namespace, name } }) => [verb, namespace, name])).toEqual([
    ['create', 'leases', 'switchyard-logs-u1'],
    ['delete', 'leases', 'switchyard-logs-u1'],
  ]);
  writes[1]?.answer(new ApiError(404, { reason: 'NotFound' }));
  expect(await removed).toBe(true);
  const again = store.remove('u1');
  await settle();
  writes[2]?.answer(new ApiError(500, { reason: 'InternalError' }));
  await expect(again).rejects.toThrow();
});

test.each([
  ['had no answer', new Error('the connection was lost'), [false, true]],
  ['was answered by a server in trouble', new ApiError(504, { reason: 'Timeout' }), [false, true]],
  ['was refused', new ApiError(403, { reason: 'Forbidden' }), [true, true]],
])('what is removed after a write that %s may come back once', async (_what, error, removals) => {
  const { writes, store } = aServer();
  const kept = store.keep(COPY, 'a', Buffer.from('1'), forEver);
  await settle();
  writes[0]?.answer(error);
  await expect(kept).rejects.toThrow();
  const answers: boolean[] = [];
  for (const turn of [1, 2]) {
    const removed = store.remove('u1');
    await settle();
    writes[turn]?.answer();
    answers.push(await removed);
  }
  expect(answers).toEqual(removals);
});
