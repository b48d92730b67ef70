/**
 * A manager cluster and a Redis with the users of docs/redis-acl.md, in real time: a manager with the chart's rights serves the
 * SubmissionQueues of the hostile tenant `team` and of `other`, beside Jobs and keys that are none of theirs.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { SUBMISSION_QUEUES, type SubmissionQueueObject } from '../../../manager/api/submission-queue.ts';
import { installPolicies } from '../../../manager/cli/local/set-up.ts';
import { connectBullmqQueue } from '../../../manager/submission/bullmq-queue.ts';
import { openRedis } from '../../../manager/submission/redis-connection.ts';
import { singleRedis } from '../../../manager/submission/redis-settings.ts';
import { QUEUE_NAME_LABEL } from '../../../shared/api/names.ts';
import { JOBS, NAMESPACES, type Resource } from '../../../shared/api/resources.ts';
import { isNotFound } from '../../../shared/kube/api-error.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { silentLogger } from '../../../shared/runtime/logger.ts';
import { createDispatchWorld } from '../../scenario/dispatch-world.ts';
import { ofKind, renderChart } from '../../support/helm.ts';
import { aclFile, keysOutside, managerUser, tenantUser, testUser } from '../../support/redis-acl.ts';
import { startRedis } from '../../support/redis.ts';

export const SUBMITTER = 'switchyard-submitter';
export const TENANT_PREFIX = 'switchyard:tenant:team';
/** Where the Jobs are that no story may touch. */
const OTHERS = ['other', 'neighbour', 'kube-system'] as const;
const MANAGER = {
  name: 'system:serviceaccount:switchyard:test-switchyard-manager',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:switchyard', 'system:authenticated'],
};
const RBAC = 'rbac.authorization.k8s.io';
const kind = (name: string, plural: string, namespaced: boolean): Resource => ({
  group: RBAC,
  version: 'v1',
  plural,
  kind: name,
  namespaced,
});
const ATTEMPTS = 3_000;

export type RedisYard = {
  /** As the hostile tenant: with its ACL, under its prefix alone. */
  readonly tenant: Redis;
  /** Names that the tenant may know of: Jobs by namespace, name and UID, and keys in Redis. */
  readonly targets: {
    readonly jobs: readonly { readonly namespace: string; readonly name: string; readonly uid: string }[];
    readonly keys: readonly string[];
  };
  /** Serves a queue of this name of the tenant; resolves with the UID of its object once submissions are taken from it. */
  open(queue: string): Promise<string>;
  /** No queue of the tenant is served any more; its Jobs and its keys go. */
  clear(queue: string, uid: string): Promise<void>;
  /** All that a story must leave as it is. */
  outside(uid: string): Promise<Readonly<Record<string, string>>>;
  /** How many Jobs the tenant has made. */
  jobs(): Promise<number>;
  /** Has a submission of `other` become a Job, and takes that away again. */
  othersGoOn(key: string): Promise<void>;
  close(): Promise<void>;
};

export async function openRedisYard(): Promise<RedisYard> {
  const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-acl-'));
  const file = path.join(directory, 'users.acl');
  writeFileSync(file, aclFile());
  const server = await startRedis({ args: ['--aclfile', file, '--appendonly', 'no'], client: testUser() });
  const as = (user: ReturnType<typeof testUser>): Redis => new Redis(server.url, { ...user, maxRetriesPerRequest: null });
  const [tenant, other, observer] = [as(tenantUser('team')), as(tenantUser('other')), as(testUser())];
  const shared = openRedis({ ...singleRedis(server.url), ...managerUser() }, silentLogger);
  const opened = new Map<string, () => void>();
  const world = await createDispatchWorld({
    workers: [],
    realTime: true,
    submissions: {
      shared: undefined,
      client: (actAs) => world.homeAs(MANAGER, actAs),
      connect: ({ id, label, redis: { prefix, queue } }) => {
        opened.get(label)?.();
        const redis = { ...singleRedis(server.url), ...managerUser() };
        return connectBullmqQueue({
          redis,
          connection: shared,
          tenant: id,
          name: queue,
          prefix,
          concurrency: 5,
          clock: systemClock,
          log: silentLogger,
        });
      },
    },
  });
  const rendered = renderChart('manager');
  for (const [name, plural] of [
    ['ClusterRole', 'clusterroles'],
    ['ClusterRoleBinding', 'clusterrolebindings'],
  ] as const)
    for (const object of ofKind(rendered, name)) await world.home.create(kind(name, plural, false), object);
  for (const name of ['other', 'neighbour']) await world.home.create(NAMESPACES, { metadata: { name } });
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } };
  for (const namespace of OTHERS)
    await world.home.create(JOBS, { metadata: { namespace, name: 'bystander' }, spec: { suspend: true, template } } as never);
  await installPolicies(world.home, { managers: ['kubernetes-admin', MANAGER.name], localWorkers: [] });
  for (const namespace of ['team', 'other']) {
    const metadata = { namespace, name: 'submit' };
    const rules = [{ apiGroups: ['batch'], resources: ['jobs'], verbs: ['create', 'delete'] }];
    await world.home.create(kind('Role', 'roles', true), { metadata, rules } as never);
    const subjects = [{ kind: 'ServiceAccount', namespace, name: SUBMITTER }];
    await world.home.create(kind('RoleBinding', 'rolebindings', true), {
      metadata,
      roleRef: { apiGroup: RBAC, kind: 'Role', name: 'submit' },
      subjects,
    } as never);
  }
  const createQueue = (namespace: string, name: string): Promise<SubmissionQueueObject> =>
    world.home.create(SUBMISSION_QUEUES, {
      metadata: { namespace, name },
      spec: { serviceAccountName: SUBMITTER, onUnadmittable: 'Wait' },
    } as never);
  const until = async (what: string, look: () => Promise<boolean>): Promise<void> => {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (await look()) return;
      await new Promise((resolve) => void setTimeout(resolve, 10));
    }
    throw new Error(`it did not happen within ${ATTEMPTS / 100} s: ${what}`);
  };
  const jobsIn = async (namespace: string) => (await world.home.list(JOBS, { namespace })).items;
  const submit = async (queue: string, id: string, data: object): Promise<void> => {
    const fields = { name: id, data: JSON.stringify(data), opts: '{"attempts":1}', timestamp: Date.now(), delay: 0, priority: 0 };
    await other.hset(`switchyard:tenant:other:${queue}:${id}`, fields);
    await other.lpush(`switchyard:tenant:other:${queue}:wait`, id);
    await other.zadd(`switchyard:tenant:other:${queue}:marker`, 0, '0');
  };

  // One of another tenant's submissions, parked for its Job.
  const { uid: otherUid } = (await createQueue('other', 'batch')).metadata;
  const manifest = (name: string): object => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, labels: { [QUEUE_NAME_LABEL]: 'none' } },
    spec: { template },
  });
  await submit('batch', 'parked', { manifest: manifest('parked') });
  const progress = (): Promise<string | null> => observer.hget('switchyard:tenant:other:batch:parked', 'progress');
  // The last that is ever told of it: its LocalQueue is not there.
  await until('the submission of another tenant is parked', async () => ((await progress()) ?? '').includes('LocalQueueNotFound'));
  await until('that is noted', async () => (await observer.hlen(`switchyard:{${otherUid}}:switchyard:tenant:other:batch:told`)) > 0);
  // A flow that waits for its children, of a queue that nobody serves.
  const flow = 'switchyard:tenant:other:flows';
  await other.hset(`${flow}:flow`, { name: 'flow', data: '{}', opts: '{}', timestamp: 1, delay: 0, priority: 0 });
  await other.zadd(`${flow}:waiting-children`, 1, 'flow');
  await other.sadd(`${flow}:flow:dependencies`, `${TENANT_PREFIX}:batch:1`, `${flow}:child`);
  const jobs = (await Promise.all(OTHERS.map(jobsIn))).flat().map(({ metadata: { namespace, name, uid } }) => ({ namespace, name, uid }));
  const keys = [
    `${flow}:flow`,
    'switchyard:tenant:other:batch:parked',
    `switchyard:{${otherUid}}:switchyard:tenant:other:batch:parked`,
    'switchyard:probe',
  ];

  /** What the manager itself goes on with in the queue that it serves there. */
  const OF_SERVING = /^switchyard:tenant:other:batch(-control)?:(marker|stalled|stalled-check|meta|events|id|pc|next.*)$|:once:/;
  return {
    tenant,
    targets: { jobs, keys },
    async open(queue) {
      const ready = new Promise<void>((resolve) => void opened.set(`team/${queue}`, resolve));
      const { uid } = (await createQueue('team', queue)).metadata;
      await ready;
      return uid;
    },
    async clear(queue, uid) {
      opened.delete(`team/${queue}`);
      await world.home.delete(SUBMISSION_QUEUES, { namespace: 'team', name: queue }, { propagationPolicy: 'Background' });
      for (const { metadata } of await jobsIn('team'))
        await world.home
          .delete(JOBS, { namespace: 'team', name: metadata.name }, { propagationPolicy: 'Background' })
          .catch((error: unknown) => {
            if (!isNotFound(error)) throw error;
          });
      const gone = (await observer.keys('*')).filter(
        (key) => key.startsWith(`${TENANT_PREFIX}:`) || key.startsWith(`switchyard:{${uid}}:`),
      );
      if (gone.length > 0) await observer.del(...gone);
    },
    async outside(uid) {
      const inRedis = Object.entries(await keysOutside(observer, TENANT_PREFIX, `switchyard:{${uid}}:`)).filter(
        ([key]) => !OF_SERVING.test(key),
      );
      const inCluster = (await world.home.list(JOBS)).items
        .filter(({ metadata }) => metadata.namespace !== 'team')
        .map(({ metadata, spec }) => [
          `Job ${metadata.namespace}/${metadata.name}`,
          JSON.stringify([metadata.uid, metadata.deletionTimestamp, metadata.annotations, spec]),
        ]);
      const namespaces = (await world.home.list(NAMESPACES)).items.map(({ metadata }) => [`Namespace ${metadata.name}`, metadata.uid]);
      return Object.fromEntries([...inRedis, ...inCluster, ...namespaces]) as Readonly<Record<string, string>>;
    },
    jobs: async () => (await jobsIn('team')).length,
    async othersGoOn(key) {
      await submit('batch', key, { manifest: manifest(`honest-${key}`) });
      await until('a submission of another tenant becomes a Job', async () =>
        (await jobsIn('other')).some(({ metadata }) => metadata.name === `honest-${key}`),
      );
      await world.home.delete(JOBS, { namespace: 'other', name: `honest-${key}` }, { propagationPolicy: 'Background' });
      const ended = async (): Promise<boolean> =>
        (await other.zscore('switchyard:tenant:other:batch:failed', key)) !== null && (await observer.hexists(keys[2] ?? '', key)) === 0;
      await until('that submission ends with its Job', ended);
    },
    async close() {
      await world.close();
      for (const connection of [tenant, other, observer, shared]) connection.disconnect();
      await server.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
