/** The client through which the manager knows a JobSet as `jobsets.jobset.x-k8s.io:NAME`, over a client that notes what it is asked. */
import { expect, test } from 'vitest';
import type { DeepReadonly, JobCondition, KubeObject, ObjectKey, WorkObject, WorkStatus } from '../../../../shared/api/kubernetes.ts';
import { CONFIG_MAPS, EVENTS, JOBS, type Resource } from '../../../../shared/api/resources.ts';
import { ApiError } from '../../../../shared/kube/api-error.ts';
import type { KubeClient, WatchEvent } from '../../../../shared/kube/client.ts';
import { createKindsClient } from '../../../../manager/work-kind/kinds-client.ts';
import type { SingleKind } from '../../../../manager/work-kind/work-kind.ts';

const JOB_SETS: Resource<WorkObject> = {
  group: 'jobset.x-k8s.io',
  version: 'v1alpha2',
  plural: 'jobsets',
  kind: 'JobSet',
  namespaced: true,
};
const CONDITIONS = 'test/conditions';
/** Its conditions are in an annotation. */
const kind = {
  resource: JOB_SETS,
  cache: {
    whole: (object: WorkObject): WorkObject => {
      const conditions = JSON.parse(object.metadata.annotations?.[CONDITIONS] ?? '[]') as JobCondition[];
      return { ...object, status: { ...object.status, conditions } };
    },
  },
  home: {
    stored: ({ conditions, ...status }: DeepReadonly<WorkStatus>) => ({
      status,
      ...(conditions === undefined ? {} : { annotations: { [CONDITIONS]: JSON.stringify(conditions) } }),
    }),
  },
} as unknown as SingleKind;
const NAME = 'jobsets.jobset.x-k8s.io:train';
const KEY: ObjectKey = { namespace: 'team', name: NAME };
const stored = (more: object = {}): WorkObject =>
  ({ metadata: { namespace: 'team', name: 'train', uid: 'u', resourceVersion: '7', ...more }, spec: {} }) as unknown as WorkObject;
const queued = { type: 'QuotaReserved', status: 'False', reason: 'Pending' } as JobCondition;

type Call = readonly [method: string, resource: string, key: string, body?: unknown];
function noting(answer: (call: Call) => unknown = () => stored()): { client: KubeClient; calls: Call[] } {
  const calls: Call[] = [];
  const note = async (method: string, { plural }: Resource, key: ObjectKey | KubeObject | undefined, body?: unknown): Promise<never> => {
    const { namespace = '', name = '' } = key === undefined ? {} : 'metadata' in key ? key.metadata : key;
    const call: Call = body === undefined ? [method, plural, `${namespace}/${name}`] : [method, plural, `${namespace}/${name}`, body];
    calls.push(call);
    return answer(call) as never;
  };
  const client = {
    get: (resource: Resource, key: ObjectKey) => note('get', resource, key),
    list: (resource: Resource) => note('list', resource, undefined),
    watch: (resource: Resource) => note('watch', resource, undefined),
    create: (resource: Resource, object: KubeObject) => note('create', resource, object, object),
    patch: (resource: Resource, key: ObjectKey, { body }: { body: unknown }) => note('patch', resource, key, body),
    patchStatus: (resource: Resource, key: ObjectKey, { body }: { body: unknown }) => note('patchStatus', resource, key, body),
    delete: (resource: Resource, key: ObjectKey) => note('delete', resource, key),
  } as unknown as KubeClient;
  return { client, calls };
}

test('without further kinds it is the client itself', () => {
  const { client } = noting();
  expect(createKindsClient(client, [])).toBe(client);
});

test('a Job of a qualified name is the object that the name says, and its answer has the qualified name', async () => {
  const { client, calls } = noting();
  const kinds = createKindsClient(client, [kind]);
  expect((await kinds.get(JOBS, KEY)).metadata.name).toBe(NAME);
  await kinds.delete(JOBS, KEY);
  const made = { metadata: { namespace: 'team', name: NAME }, spec: { replicatedJobs: [] } } as never;
  expect((await kinds.create(JOBS, made)).metadata.name).toBe(NAME);
  await kinds.patch(JOBS, KEY, { type: 'merge', body: { spec: { suspend: true } } });
  expect(calls).toEqual([
    ['get', 'jobsets', 'team/train'],
    ['delete', 'jobsets', 'team/train'],
    [
      'create',
      'jobsets',
      'team/train',
      {
        apiVersion: 'jobset.x-k8s.io/v1alpha2',
        kind: 'JobSet',
        metadata: { namespace: 'team', name: 'train' },
        spec: { replicatedJobs: [] },
      },
    ],
    ['patch', 'jobsets', 'team/train', { spec: { suspend: true } }],
  ]);
});

test('Jobs, and names of kinds that are not known, go where they went', async () => {
  const { client, calls } = noting();
  const kinds = createKindsClient(client, [kind]);
  await kinds.get(JOBS, { namespace: 'team', name: 'train' });
  await kinds.get(CONFIG_MAPS, { namespace: 'team', name: 'train' });
  expect(calls).toEqual([
    ['get', 'jobs', 'team/train'],
    ['get', 'configmaps', 'team/train'],
  ]);
});

test('lists and watches of the kind return qualified names and all conditions', async () => {
  const object = stored({ annotations: { [CONDITIONS]: JSON.stringify([queued]) } });
  const bookmark = { type: 'BOOKMARK', object: { metadata: { resourceVersion: '9' } } };
  const { client } = noting(([method]) =>
    method === 'list'
      ? { items: [object], resourceVersion: '8' }
      : (async function* () {
          yield [{ type: 'ADDED', object }, bookmark];
        })(),
  );
  const kinds = createKindsClient(client, [kind]);
  const { items } = await kinds.list(JOB_SETS);
  expect(items.map(({ metadata, status }) => [metadata.name, status?.conditions])).toEqual([[NAME, [queued]]]);
  const events: WatchEvent<WorkObject>[] = [];
  for await (const batch of await kinds.watch(JOB_SETS, { resourceVersion: '8' })) events.push(...batch);
  expect(events).toEqual([
    { type: 'ADDED', object: expect.objectContaining({ metadata: expect.objectContaining({ name: NAME }) }) },
    bookmark,
  ]);
});

test('an Event and an owner reference name the object as its API server does', async () => {
  const { client, calls } = noting();
  const kinds = createKindsClient(client, [kind]);
  const involvedObject = { apiVersion: 'batch/v1', kind: 'Job', name: NAME, namespace: 'team' };
  await kinds.create(EVENTS, { metadata: { namespace: 'team', name: `${NAME}.1f` }, involvedObject } as never);
  await kinds.patch(EVENTS, { namespace: 'team', name: `${NAME}.1f` }, { type: 'merge', body: { count: 2 } });
  const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'Job', name: NAME, uid: 'u' }];
  await kinds.create(CONFIG_MAPS, { metadata: { namespace: 'team', name: 'settings', ownerReferences } } as never);
  const reference = { apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet', name: 'train' };
  expect(calls).toEqual([
    [
      'create',
      'events',
      'team/train.1f',
      { metadata: { namespace: 'team', name: 'train.1f' }, involvedObject: { ...reference, namespace: 'team' } },
    ],
    ['patch', 'events', 'team/train.1f', { count: 2 }],
    [
      'create',
      'configmaps',
      'team/settings',
      { metadata: { namespace: 'team', name: 'settings', ownerReferences: [{ ...reference, uid: 'u' }] } },
    ],
  ]);
});

test('a condition is merged by type into those of the cached object, on the version that was read', async () => {
  const { client, calls } = noting();
  const other = { type: 'Dispatched', status: 'True' } as JobCondition;
  const kinds = createKindsClient(client, [kind], () => ({ ...stored(), status: { conditions: [other, { ...queued, status: 'True' }] } }));
  await kinds.patchStatus(JOBS, KEY, { type: 'strategic', body: { metadata: { uid: 'u' }, status: { conditions: [queued] } } });
  expect(calls).toEqual([
    [
      'patch',
      'jobsets',
      'team/train',
      { metadata: { uid: 'u', resourceVersion: '7', annotations: { [CONDITIONS]: JSON.stringify([other, queued]) } } },
    ],
  ]);
});

test('a conflict is answered by the present object, a few times', async () => {
  let conflicts = 0;
  const { client, calls } = noting(([method]) => {
    if (method === 'patch' && conflicts++ < 2) throw new ApiError(409, { reason: 'Conflict' });
    return stored({ resourceVersion: String(10 + conflicts) });
  });
  const kinds = createKindsClient(client, [kind]);
  await kinds.patchStatus(JOBS, KEY, { type: 'strategic', body: { metadata: { uid: 'u' }, status: { conditions: [queued] } } });
  expect(calls.map(([method]) => method)).toEqual(['get', 'patch', 'get', 'patch', 'get', 'patch']);

  conflicts = Number.NEGATIVE_INFINITY;
  await expect(kinds.patchStatus(JOBS, KEY, { type: 'strategic', body: { status: { conditions: [queued] } } })).rejects.toThrow();
});

test('a final status is written before the finalizer goes, which is conditional on it', async () => {
  const { client, calls } = noting(([method]) => stored({ resourceVersion: method === 'patchStatus' ? '8' : '9' }));
  const kinds = createKindsClient(client, [kind]);
  const body = { metadata: { uid: 'u', resourceVersion: '7', finalizers: [] }, status: { state: 'Done' } };
  await kinds.patchStatus(JOBS, KEY, { type: 'merge', body });
  expect(calls).toEqual([
    ['patchStatus', 'jobsets', 'team/train', { metadata: { uid: 'u', resourceVersion: '7' }, status: { state: 'Done' } }],
    ['patch', 'jobsets', 'team/train', { metadata: { uid: 'u', resourceVersion: '8', finalizers: [] } }],
  ]);
});

test('an object without a name is created for its API server to name it', async () => {
  const { client, calls } = noting();
  const metadata = { namespace: 'team', name: 'jobsets.jobset.x-k8s.io:', generateName: 'train-' };
  await createKindsClient(client, [kind]).create(JOBS, { metadata, spec: {} } as never);
  expect(calls).toEqual([
    [
      'create',
      'jobsets',
      'team/',
      { apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet', metadata: { namespace: 'team', generateName: 'train-' }, spec: {} },
    ],
  ]);
});

test('an Event of a Job names objects of other kinds in its message as people do', async () => {
  const { client, calls } = noting();
  const event = {
    metadata: { namespace: 'team', name: 'a.1' },
    involvedObject: { kind: 'Job', name: 'a' },
    message: `made room for team/${NAME}`,
  };
  await createKindsClient(client, [kind]).create(EVENTS, event as never);
  expect(calls[0]?.[3]).toMatchObject({ involvedObject: { name: 'a' }, message: 'made room for JobSet team/train' });
});
