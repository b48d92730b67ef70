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
import type { Job } from '../../../shared/api/kubernetes.ts';
import {
  LEDGER_LABEL,
  MANAGER_FIELD_MANAGER,
  QUEUE_NAME_LABEL,
  SUBMISSION_TENANT_ANNOTATION,
  SUBMITTED_BY_ANNOTATION,
} from '../../../shared/api/names.ts';
import { CONFIG_MAPS, EVENTS, JOBS, NAMESPACES, SECRETS, type Resource } from '../../../shared/api/resources.ts';
import { toWireTime } from '../../../shared/api/wire-time.ts';
import { isNotFound } from '../../../shared/kube/api-error.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { silentLogger } from '../../../shared/runtime/logger.ts';
import { createDispatchWorld } from '../../scenario/dispatch-world.ts';
import { ofKind, renderChart } from '../../support/helm.ts';
import { aclFile, managerUser, tenantUser, testUser } from '../../support/redis-acl.ts';
import { startRedis } from '../../support/redis.ts';
import { readKeys } from './read-keys.ts';

export const SUBMITTER = 'switchyard-submitter';
export const TENANT_PREFIX = 'switchyard:tenant:team';
const OTHER_QUEUE = 'switchyard:tenant:other:batch';
/** Where the Jobs are that no story may touch. */
const OTHERS = ['other', 'neighbour', 'kube-system'] as const;
/** What begins so belongs to submissions that `other` makes and ends beside a story. */
const HONEST = 'honest-';
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
const ATTEMPTS = 6_000;
/** The manager lets go of a queue whose SubmissionQueue is gone within this time. */
const LEAVING_MS = 30_000;
/** As V8 words what no code expected. */
const OF_A_PROGRAM =
  /^(Cannot (read|set|convert|destructure|mix)|.* is not (a function|iterable|a constructor|defined)$|Invalid (time value|array length|string length)|Maximum call)/;

export type Target = {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly annotations: Readonly<Record<string, string>>;
};

export type RedisYard = {
  /** As the hostile tenant: with its ACL, under its prefix alone. */
  readonly tenant: Redis;
  /** Names that the tenant may know of: Jobs of others, with all that is on them, and keys in Redis. */
  targets(): { readonly jobs: readonly Target[]; readonly keys: readonly string[] };
  /** Serves a queue of this name of the tenant; resolves with the UID of its object once submissions are taken from it. */
  open(queue: string): Promise<string>;
  /** No such queue of the tenant is served any more; its Jobs and its keys go. */
  clear(queues: readonly string[]): Promise<void>;
  /** All that stories must leave as it is. */
  outside(): Promise<Readonly<Record<string, string>>>;
  /** Jobs that the tenant has made. */
  jobs(): Promise<readonly Job[]>;
  /** Why Jobs of the tenant say something of themselves that is not so. */
  forged(): Promise<readonly string[]>;
  /** Submissions of the tenant that failed with an error of the program itself. */
  stumbled(): Promise<readonly string[]>;
  /** Has submissions of `other` become Jobs: one for each key. */
  othersSubmit(keys: readonly string[]): Promise<void>;
  /** Ends these Jobs, one complete, the next one deleted; resolves with what is wrong about what their submitter hears. */
  othersEnd(): Promise<readonly string[]>;
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
  /** UIDs of the tenant's SubmissionQueues, by name, and of all that there were: what they leave behind may come a moment late. */
  const uids = new Map<string, string>();
  const everServed = new Map<string, { clearedAtMs: number }>();
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
  const jobsIn = async (namespace: string): Promise<readonly Job[]> => (await world.home.list(JOBS, { namespace })).items;
  const deleteJob = async (namespace: string, name: string): Promise<void> => {
    await world.home.delete(JOBS, { namespace, name }, { propagationPolicy: 'Background' }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  };
  const submit = async (id: string): Promise<void> => {
    const metadata = { name: id, labels: { [QUEUE_NAME_LABEL]: 'none' } };
    const manifest = { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: { template } };
    const fields = { name: id, data: JSON.stringify({ manifest }), opts: '{"attempts":1}', timestamp: Date.now(), delay: 0, priority: 0 };
    await other.hset(`${OTHER_QUEUE}:${id}`, fields);
    await other.lpush(`${OTHER_QUEUE}:wait`, id);
    await other.zadd(`${OTHER_QUEUE}:marker`, 0, '0');
  };
  const complete = async (name: string): Promise<void> => {
    const [key, now] = [{ namespace: 'other', name }, toWireTime(Date.now())];
    const conditions = ['SuccessCriteriaMet', 'Complete'].map((type) => ({ type, status: 'True', lastTransitionTime: now }));
    const status = { startTime: now, completionTime: now, succeeded: 1, uncountedTerminatedPods: {}, conditions };
    await world.home.patchStatus(JOBS, key, { type: 'merge', body: { status } }, { fieldManager: MANAGER_FIELD_MANAGER });
  };

  // One of another tenant's submissions, parked for its Job.
  const { uid: otherUid } = (await createQueue('other', 'batch')).metadata;
  const parkedKey = `switchyard:{${otherUid}}:${OTHER_QUEUE}:parked`;
  await submit('parked');
  const progress = (): Promise<string | null> => observer.hget(`${OTHER_QUEUE}:parked`, 'progress');
  // The last that is ever told of it: its LocalQueue is not there.
  await until('the submission of another tenant is parked', async () => ((await progress()) ?? '').includes('LocalQueueNotFound'));
  await until('that is noted', async () => (await observer.hlen(`switchyard:{${otherUid}}:${OTHER_QUEUE}:told`)) > 0);
  // A flow that waits for its children, of a queue that nobody serves.
  const flow = 'switchyard:tenant:other:flows';
  await other.hset(`${flow}:flow`, { name: 'flow', data: '{}', opts: '{}', timestamp: 1, delay: 0, priority: 0 });
  await other.zadd(`${flow}:waiting-children`, 1, 'flow');
  await other.sadd(`${flow}:flow:dependencies`, `${TENANT_PREFIX}:batch:1`, `${flow}:child`);
  const bystanders = (await Promise.all(OTHERS.map(jobsIn))).flat();
  const keys = [`${flow}:flow`, `${OTHER_QUEUE}:parked`, parkedKey, `switchyard:{${otherUid}}:outcome:${bystanders[0]?.metadata.uid}`];
  /** Those of `other` whose submissions are under way. */
  let honest: readonly Job[] = [];
  /** UIDs of all of them that there were: the manager remembers how they ended. */
  const honestUids = new Set<string>();

  /** What the manager itself goes on with in the queue that it serves there. */
  const OF_SERVING = /^switchyard:tenant:other:batch(-control)?:(marker|stalled|stalled-check|meta|events|id|pc|next.*)$|:once:/;
  const isOfStory = (key: string): boolean =>
    key.startsWith(`${TENANT_PREFIX}:`) || everServed.has(/^switchyard:\{([^}]+)\}:/.exec(key)?.[1] ?? '');
  const isOfHonest = (key: string): boolean => key.includes(`:${HONEST}`) || honestUids.has(key.slice(key.lastIndexOf(':') + 1));
  const isWatched = (key: string): boolean => !isOfStory(key) && !isOfHonest(key) && !OF_SERVING.test(key) && key !== 'switchyard:probe';
  return {
    tenant,
    targets: () => ({
      jobs: [...bystanders, ...honest].map(({ metadata: { namespace, name, uid, annotations = {} } }) => ({
        namespace,
        name,
        uid,
        annotations,
      })),
      keys: [...keys, ...honest.map(({ metadata }) => `${OTHER_QUEUE}:${metadata.name}`)],
    }),
    async open(queue) {
      const ready = new Promise<void>((resolve) => void opened.set(`team/${queue}`, resolve));
      const { uid } = (await createQueue('team', queue)).metadata;
      uids.set(queue, uid);
      everServed.set(uid, { clearedAtMs: Infinity });
      await ready;
      return uid;
    },
    async clear(queues) {
      for (const queue of queues) {
        opened.delete(`team/${queue}`);
        await world.home.delete(SUBMISSION_QUEUES, { namespace: 'team', name: queue }, { propagationPolicy: 'Background' });
      }
      for (const { metadata } of await jobsIn('team')) await deleteJob('team', metadata.name);
      const gone = (await observer.keys('*')).filter((key) => isOfStory(key) || isOfHonest(key));
      if (gone.length > 0) await observer.del(...gone);
      for (const each of queues) {
        everServed.set(uids.get(each) ?? '', { clearedAtMs: Date.now() });
        uids.delete(each);
      }
    },
    async outside() {
      const all = (await observer.keys('*')).filter(isWatched);
      const inRedis = await readKeys(observer, all, (member) => !member.startsWith(HONEST));
      const stored = await Promise.all(
        [JOBS, NAMESPACES, CONFIG_MAPS, SECRETS, EVENTS].map(async (resource) => {
          const { items } = await world.home.list<Job>(resource as never);
          return items
            .filter(
              ({ metadata: { namespace, name, labels } }) =>
                namespace !== 'team' && !name.startsWith(HONEST) && labels?.[LEDGER_LABEL] === undefined,
            )
            .map((object) => [`${resource.kind} ${object.metadata.namespace}/${object.metadata.name}`, JSON.stringify(object)] as const);
        }),
      );
      return Object.fromEntries([...inRedis, ...stored.flat()]);
    },
    jobs: () => jobsIn('team'),
    async forged() {
      return (await jobsIn('team')).flatMap(({ metadata: { name, creationTimestamp, annotations = {} } }) => {
        const served = everServed.get(annotations[SUBMISSION_TENANT_ANNOTATION] ?? '');
        const isLate = served !== undefined && Date.parse(creationTimestamp) > served.clearedAtMs + LEAVING_MS;
        return [
          ...(served === undefined ? [`Job team/${name} is of another tenant, as it says`] : []),
          ...(isLate ? [`Job team/${name} was made of a queue that was not served any more`] : []),
          ...(annotations[SUBMITTED_BY_ANNOTATION] === undefined ? [] : [`Job team/${name} names a user, and Redis has none`]),
        ];
      });
    },
    async stumbled() {
      const keys = (await observer.keys(`${TENANT_PREFIX}:*`)).toSorted();
      // What is no hash has no such field.
      const answers = (await keys.reduce((pipeline, key) => pipeline.hget(key, 'failedReason'), observer.pipeline()).exec()) ?? [];
      return keys.flatMap((key, index) => {
        const reason = String(answers[index]?.[1] ?? '');
        return OF_A_PROGRAM.test(reason) ? [`${key} failed with an error of the program: ${reason}`] : [];
      });
    },
    async othersSubmit(names) {
      await Promise.all(names.map((each) => submit(`${HONEST}${each}`)));
      await until('submissions of another tenant become Jobs, and are parked', async () => {
        honest = (await jobsIn('other')).filter(({ metadata }) => metadata.name.startsWith(HONEST));
        for (const { metadata } of honest) honestUids.add(metadata.uid);
        if (honest.length < names.length) return false;
        const parked = await observer.hmget(parkedKey, ...names.map((each) => `${HONEST}${each}`));
        const delayed = await observer.zmscore(`${OTHER_QUEUE}:delayed`, ...names.map((each) => `${HONEST}${each}`));
        return [...parked, ...delayed].every((each) => each !== null);
      });
    },
    async othersEnd() {
      const heard = async ({ metadata: { name, uid } }: Job, isCompleted: boolean): Promise<readonly string[]> => {
        await (isCompleted ? complete(name) : deleteJob('other', name));
        const set = `${OTHER_QUEUE}:${isCompleted ? 'completed' : 'failed'}`;
        const wrong = `${OTHER_QUEUE}:${isCompleted ? 'failed' : 'completed'}`;
        await until(`the submission ${name} ends with its Job`, async () => {
          const [right, another] = await Promise.all([observer.zscore(set, name), observer.zscore(wrong, name)]);
          return (right !== null || another !== null) && (await observer.hexists(parkedKey, name)) === 0;
        });
        const [result = null, reason = null] = await observer.hmget(`${OTHER_QUEUE}:${name}`, 'returnvalue', 'failedReason');
        const isRight = isCompleted
          ? result !== null && (JSON.parse(result) as { uid?: string }).uid === uid
          : reason?.startsWith('JobDeleted: ') === true;
        return isRight ? [] : [`the submission ${name} of another tenant ended with ${result ?? reason}`];
      };
      const problems = await Promise.all(honest.map((job, index) => heard(job, index % 2 === 0)));
      for (const { metadata } of honest) {
        await deleteJob('other', metadata.name);
        await other.zrem(`${OTHER_QUEUE}:completed`, metadata.name);
        await other.zrem(`${OTHER_QUEUE}:failed`, metadata.name);
      }
      await until('Jobs of another tenant are gone', async () =>
        (await jobsIn('other')).every(({ metadata }) => !metadata.name.startsWith(HONEST)),
      );
      honest = [];
      return problems.flat();
    },
    async close() {
      await world.close();
      for (const connection of [tenant, other, observer, shared]) connection.disconnect();
      await server.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
