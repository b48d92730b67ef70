/**
 * Goal: a write to a worker cluster that fails is told on the Job, once for each piece of news, and a copy that was not made as sent does
 * not stay.
 */
import { afterEach, expect, test } from 'vitest';
import { CLUSTERS_ANNOTATION } from '../../shared/api/names.ts';
import type { Job, Unsaved } from '../../shared/api/kubernetes.ts';
import { EVENTS, JOBS } from '../../shared/api/resources.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { fencedClient } from '../../shared/kube/fenced-client.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import { conditionsOf, createDispatchWorld, NAMESPACE, type DispatchWorld } from './dispatch-world.ts';

const on = (cluster: string) => ({ annotations: { [CLUSTERS_ANNOTATION]: cluster } });

let world: DispatchWorld;
afterEach(() => world.close());

const message = async (name: string): Promise<string> => {
  const { reason, message: text } = findCondition((await world.job(name)).status?.conditions, 'Dispatched') ?? {};
  return `${reason}: ${text}`;
};
const events = async (): Promise<string[]> => {
  const { items } = await world.home.list(EVENTS, { namespace: NAMESPACE });
  return items.filter(({ reason }) => reason === 'DispatchFailed').map((event) => event.message ?? '');
};
const failure = (code: number, text: string) => ({
  status: code,
  headers: {},
  body: JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason: 'InternalError', message: text }),
});
/** Answers creates and changes of copies. */
const refuseWrites = (code: number, text: () => string): void => {
  world.worker('eu-1').line.instead = ({ method, path }) =>
    method !== 'GET' && path.includes('/jobs') ? failure(code, text()) : undefined;
};

test('a webhook of the cluster that is down is told once, in the cluster’s words, and forgotten when it is back', async () => {
  world = await createDispatchWorld({ workers: ['eu-1'] });
  let tries = 0;
  refuseWrites(500, () => `failed calling webhook "policy.example": dial tcp 10.0.0.1:44${tries++}: connection refused`);
  await world.submit('sum', on('eu-1'));
  await world.settle(500);
  expect(await message('sum')).toBe('undefined: undefined');
  await world.settle(2_000);
  expect(await message('sum')).toMatch(
    /^ClusterError: the copy on cluster "eu-1" cannot be created now, which is tried again: failed calling webhook/,
  );
  const statusWrites = () => world.homeLine.sent.filter((call) => call === 'PATCH /apis/batch/v1/namespaces/team/jobs/sum/status').length;
  const writes = statusWrites();
  await world.settle(120_000);
  expect(statusWrites()).toBe(writes);
  expect(await events()).toHaveLength(1);
  world.worker('eu-1').line.instead = undefined;
  await world.settle(61_000);
  expect(await world.worker('eu-1').copy('sum')).toBeDefined();
  expect(await message('sum')).toBe('Dispatched: dispatched to cluster "eu-1" (placement 1)');
});

test('a write that succeeds within a second is not told', async () => {
  world = await createDispatchWorld({ workers: ['eu-1'] });
  await world.submit('warm-up', on('eu-1'));
  await world.settle(500);
  let left = 2;
  world.worker('eu-1').line.instead = ({ method, path }) =>
    method === 'POST' && path.includes('/jobs') && left-- > 0 ? failure(500, 'etcdserver: leader changed') : undefined;
  world.homeLine.sent.length = 0;
  await world.submit('sum', on('eu-1'));
  await world.settle(2_000);
  expect(await world.worker('eu-1').copy('sum')).toBeDefined();
  expect(await message('sum')).toMatch(/^Dispatched: dispatched to cluster "eu-1" \(placement 1\)$/);
  expect(world.homeLine.sent.filter((call) => call.endsWith('/jobs/sum/status'))).toHaveLength(1);
  expect(await events()).toEqual([]);
});

test('a suspension that does not reach its copy is told beside where the copy is', async () => {
  world = await createDispatchWorld({ workers: ['eu-1'] });
  await world.submit('sum', on('eu-1'));
  await world.settle(300);
  await world.worker('eu-1').start('sum');
  await world.settle(300);
  refuseWrites(500, () => 'etcdserver: no leader');
  await world.home.patch(JOBS, { namespace: NAMESPACE, name: 'sum' }, { type: 'merge', body: { spec: { suspend: true } } });
  await world.settle(5_000);
  expect(await message('sum')).toBe(
    'Dispatched: dispatched to cluster "eu-1" (placement 1); the copy on cluster "eu-1" cannot be changed now, which is tried again: ' +
      'etcdserver: no leader (500)',
  );
  expect(await events()).toHaveLength(1);
  world.worker('eu-1').line.instead = undefined;
  await world.settle(61_000);
  expect((await world.worker('eu-1').copy('sum'))?.spec.suspend).toBe(true);
  expect(await message('sum')).toBe('Dispatched: dispatched to cluster "eu-1" (placement 1)');
});

/** An API server that is too old for these fields, and for strict validation. */
function olderServer(client: KubeClient, fields: readonly string[]): KubeClient {
  return {
    ...fencedClient(client, new AbortController().signal),
    create(resource, object, { fieldValidation: _unknown, ...options } = {}) {
      if (resource.plural !== 'jobs') return client.create(resource, object, options);
      const { spec } = object as object as Unsaved<Job>;
      const kept = Object.fromEntries(Object.entries(spec).filter(([field]) => !fields.includes(field)));
      return client.create(resource, { ...object, spec: kept } as never, options);
    },
  };
}

test.each([
  ['managedBy', {}],
  ['successPolicy', { completionMode: 'Indexed', completions: 2, parallelism: 2, successPolicy: { rules: [{ succeededCount: 1 }] } }],
  ['podReplacementPolicy', { podReplacementPolicy: 'Failed' }],
])('an older cluster that drops %s keeps no copy, and the Job goes to the next', async (field, spec) => {
  world = await createDispatchWorld({
    workers: ['eu-1', 'us-2'],
    connectCluster: (name, _access, usual) => (name === 'eu-1' ? olderServer(usual(name), [field]) : usual(name)),
  });
  await world.submit('sum', { spec, annotations: { [CLUSTERS_ANNOTATION]: 'eu-1,us-2' } });
  await world.settle(60_000);
  expect(await events()).toEqual([
    `placement 1: cluster "eu-1" has not kept spec.${field} of the Job, and the copy was deleted; bring that cluster to a version that has ` +
      'these fields, switch their features on there, or leave them out',
  ]);
  expect(await world.worker('eu-1').copy('sum')).toBeUndefined();
  expect((await world.worker('us-2').copy('sum'))?.spec).toHaveProperty(field);
  expect(await message('sum')).toBe('Dispatched: dispatched to cluster "us-2" (placement 2)');
});

test('a copy without its controller goes also when the answers to creates are lost, and the manager with them', async () => {
  world = await createDispatchWorld({
    workers: ['eu-1'],
    connectCluster: (name, _access, usual) => {
      const older = olderServer(usual(name), ['managedBy']);
      return {
        ...older,
        async create(resource, object, options) {
          const made = await older.create(resource, object, options);
          if (resource.plural === 'jobs') throw new Error('the answer was lost');
          return made;
        },
      };
    },
  });
  await world.submit('sum', on('eu-1'));
  await world.settle(10);
  await world.stop();
  await world.start();
  await world.settle(60_000);
  expect(await world.worker('eu-1').copy('sum')).toBeUndefined();
  expect((await events()).filter((each) => each.startsWith('placement 1: cluster "eu-1" has not kept spec.managedBy'))).not.toEqual([]);
  expect(conditionsOf(await world.job('sum'))).not.toContain('Dispatched=True Dispatched');
});

test('fields that the cluster does not know are refused by name, before anything is made', async () => {
  world = await createDispatchWorld({
    workers: ['eu-1'],
    connectCluster: (name, _access, usual) => {
      const client = usual(name);
      return {
        ...fencedClient(client, new AbortController().signal),
        create: (resource, object, options) =>
          client.create(
            resource,
            (resource.plural === 'jobs'
              ? { ...object, spec: { ...(object as object as Unsaved<Job>).spec, novelty: 1 } }
              : object) as never,
            options,
          ),
      };
    },
  });
  await world.submit('sum', on('eu-1'));
  await world.settle(1_000);
  expect((await events())[0]).toMatch(
    /^placement 1: cluster "eu-1" does not know fields of the Job; leave them out, .*unknown field "spec.novelty"/,
  );
  expect(await world.worker('eu-1').copy('sum')).toBeUndefined();
});
