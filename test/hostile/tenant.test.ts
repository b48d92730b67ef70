/**
 * The adversary may do everything with Jobs and their status in one namespace, and no webhook is in force. They want to run more than the
 * quota of their queue, or anything at all without a queue, or at somebody else's cost.
 */
import { isNotFound } from '../../shared/kube/api-error.ts';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { LOCAL_QUEUES } from '../../manager/api/local-queue.ts';
import { RESOURCE_FLAVORS } from '../../manager/api/resource-flavor.ts';
import { prepareJob } from '../../manager/policy/prepare-job.ts';
import type { Job, KubeObject, Pod, Unsaved } from '../../shared/api/kubernetes.ts';
import {
  ADMISSION_ANNOTATION,
  KUEUE_QUEUE_NAME_LABEL,
  HOLD_ANNOTATION,
  MANAGER_CONTROLLER_NAME,
  PRIORITY_ANNOTATION,
  QUEUE_NAME_LABEL,
} from '../../shared/api/names.ts';
import { EVENTS, JOBS, NAMESPACES, SECRETS, type Resource } from '../../shared/api/resources.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import {
  createWholeWorld,
  HOME,
  manifest,
  NAMESPACE,
  type JobParts,
  type RunningManager,
  type RunningProgram,
  type WholeWorld,
} from '../scenario/whole-world.ts';
import { TEST_RECORD_KEYS } from '../support/jobs.ts';
import { JOB_KIND } from '../../manager/work-kind/job/job-kind.ts';

const QUOTA = 3;
const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1', namespaced: true };
const ROLES: Resource = { ...RBAC, plural: 'roles', kind: 'Role' };
const ROLE_BINDINGS: Resource = { ...RBAC, plural: 'rolebindings', kind: 'RoleBinding' };

let world: WholeWorld;
let tenant: KubeClient;
let manager: RunningManager;
let workers: readonly RunningProgram[];
let registry: Registry;
/** Most cpus that pods of the tenant had at once, and all that was told of each Job. */
let mostCpus: number;
let told: Map<string, Set<string>>;

const key = (name: string) => ({ namespace: NAMESPACE, name });
const cpusOf = ({ spec }: Pod): number =>
  spec.containers.reduce((sum, { resources }) => {
    const cpu = String(resources?.requests?.['cpu'] ?? '0');
    return sum + (cpu.endsWith('m') ? Number(cpu.slice(0, -1)) / 1000 : Number(cpu));
  }, 0);
const isOver = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';

/** Lets time pass, and looks at the clusters all the while. */
async function watch(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 250) {
    await world.clock.advance(250);
    const pods = [...(await world.podsOn('east')), ...(await world.podsOn('west'))].filter((pod) => !isOver(pod));
    mostCpus = Math.max(
      mostCpus,
      pods.reduce((sum, pod) => sum + cpusOf(pod), 0),
    );
    for (const { metadata, status } of (await world.home.list(JOBS)).items)
      for (const { reason, message } of status?.conditions ?? []) tell(metadata.name, `${reason}: ${message}`);
  }
  for (const { involvedObject, reason, message } of (await world.home.list(EVENTS)).items)
    tell(involvedObject?.name ?? '', `${reason}: ${message}`);
}
const tell = (name: string, text: string): void => void told.set(name, (told.get(name) ?? new Set()).add(text));

function startManager(): void {
  registry = new Registry();
  manager = world.startManager('manager', { parts: { registry } });
}

async function restartManager(): Promise<void> {
  manager.kill();
  await watch(20_000);
  startManager();
  await watch(20_000);
}

const untrusted = async (): Promise<string[]> =>
  (await registry.metrics())
    .split('\n')
    .flatMap((line) => /^switchyard_untrusted_records_total{reason="(\w+)"} [1-9]/.exec(line)?.[1] ?? []);

/** What the adversary writes: one pod of `cpu` for the manager to run, released, with whatever else. */
function hisJob(
  name: string,
  parts: JobParts & { readonly labels?: Record<string, string>; readonly suspend?: boolean } = {},
): Unsaved<Job> {
  const job = manifest(name, { seconds: 600, cpu: '1', ...parts });
  const { suspend = false, labels = { [QUEUE_NAME_LABEL]: 'main' } } = parts;
  return { ...job, metadata: { ...job.metadata, labels }, spec: { ...job.spec, managedBy: MANAGER_CONTROLLER_NAME, suspend } };
}

/** A record that looks like one. */
const forged = (clusterQueue = 'main', requests: Record<string, string> = {}): Record<string, string> => ({
  [ADMISSION_ANNOTATION]: JSON.stringify({
    clusterQueue,
    flavors: {},
    cluster: 'east',
    epoch: 1,
    since: '2026-01-01T00:00:00Z',
    requests,
    written: '2026-01-01T00:00:00.000Z',
    seal: 'c2VhbA',
  }),
});
const recordOf = async (name: string): Promise<string> => (await world.job(name)).metadata.annotations?.[ADMISSION_ANNOTATION] ?? '';
const patch = (name: string, body: object) => tenant.patch(JOBS, key(name), { type: 'merge', body });

/** Somebody honest, who takes part of the quota. */
async function honest(name: string, parts: JobParts): Promise<void> {
  const prepared = prepareJob(JOB_KIND, manifest(name, { seconds: 600, ...parts }));
  if (prepared.kind === 'Refused') throw new Error(JSON.stringify(prepared.problems));
  await tenant.create(JOBS, prepared.job);
  await watch(5_000);
}

beforeEach(async () => {
  mostCpus = 0;
  told = new Map();
  world = await createWholeWorld({ clusters: ['east', 'west'] });
  for (const cluster of [HOME, 'east', 'west']) await world.client(cluster).create(NAMESPACES, { metadata: { name: 'rich' } });
  const create = <T extends KubeObject>(resource: Resource<T>, object: object) => world.home.create(resource, object as never);
  const groups = (cpus: number) => [
    { coveredResources: ['cpu'], flavors: [{ name: 'default', resources: [{ name: 'cpu', nominalQuota: String(cpus) }] }] },
  ];
  const body = { spec: { resourceGroups: groups(QUOTA) } };
  await world.home.patch(CLUSTER_QUEUES, { namespace: '', name: 'main' }, { type: 'merge', body });
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': 'rich' } };
  await create(CLUSTER_QUEUES, { metadata: { name: 'rich' }, spec: { namespaceSelector, resourceGroups: groups(100) } });
  await create(LOCAL_QUEUES, { metadata: { name: 'rich', namespace: 'rich' }, spec: { clusterQueue: 'rich' } });
  const rules = [{ apiGroups: ['batch'], resources: ['jobs', 'jobs/status'], verbs: ['*'] }];
  await create(ROLES, { metadata: { name: 'jobs', namespace: NAMESPACE }, rules });
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'mallory' }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'jobs' };
  await create(ROLE_BINDINGS, { metadata: { name: 'jobs', namespace: NAMESPACE }, subjects, roleRef });
  const user = { name: 'mallory', groups: ['system:authenticated'] };
  tenant = createKubeClient(world.plane(HOME).transport(user), { userAgent: 'tenant', clock: world.clock });
  workers = ['east', 'west'].map((cluster) => world.startWorker(cluster, 'worker'));
  startManager();
  await watch(5_000);
});
afterEach(() => world.close());

type Attack = {
  readonly act: () => Promise<unknown>;
  readonly reason: 'Forged' | 'Invalid' | 'Missing';
  readonly says: RegExp;
};
const NOT_OURS = /annotation switchyard.dev\/admission was not written by this manager for this Job/;
const NOT_RELEASED = /it was released without an admission record/;

/** Each tries to run a Job called `his` beside `hers`, which has all the quota. */
const ATTACKS: Readonly<Record<string, Attack>> = {
  'a forged record on a new Job without a queue': {
    act: () => tenant.create(JOBS, hisJob('his', { labels: {}, annotations: forged() })),
    reason: 'Forged',
    says: NOT_OURS,
  },
  'a forged record on a new Job with an empty queue': {
    act: () => tenant.create(JOBS, hisJob('his', { labels: { [QUEUE_NAME_LABEL]: '' }, annotations: forged() })),
    reason: 'Forged',
    says: NOT_OURS,
  },
  'a forged record on a new Job with an empty queue beside Kueue’s label': {
    act: () =>
      tenant.create(JOBS, hisJob('his', { labels: { [QUEUE_NAME_LABEL]: '', [KUEUE_QUEUE_NAME_LABEL]: 'main' }, annotations: forged() })),
    reason: 'Forged',
    says: NOT_OURS,
  },
  'a forged record at the cost of another tenant’s queue': {
    act: () => tenant.create(JOBS, hisJob('his', { annotations: forged('rich', { cpu: '1', pods: '1' }) })),
    reason: 'Forged',
    says: NOT_OURS,
  },
  'a record that cannot be read': {
    act: () => tenant.create(JOBS, hisJob('his', { annotations: { [ADMISSION_ANNOTATION]: '{' } })),
    reason: 'Invalid',
    says: /annotation switchyard.dev\/admission: it is not a JSON object/,
  },
  'a record of five thousand pods without any requests': {
    act: () => tenant.create(JOBS, hisJob('his', { cpu: '0', spec: { parallelism: 5_000 }, labels: {}, annotations: forged('main', {}) })),
    reason: 'Forged',
    says: NOT_OURS,
  },
  'no record at all, released': { act: () => tenant.create(JOBS, hisJob('his')), reason: 'Missing', says: NOT_RELEASED },
  'a forged record that an update adds, with the release': {
    act: async () => {
      await tenant.create(JOBS, hisJob('his', { suspend: true }));
      await patch('his', { metadata: { annotations: forged('main', { cpu: '1', pods: '1' }) }, spec: { suspend: false } });
    },
    reason: 'Forged',
    says: NOT_OURS,
  },
  'a forged record that comes with a patch of the status': {
    act: async () => {
      await tenant.create(JOBS, hisJob('his', { suspend: true }));
      const body = { metadata: { annotations: forged('main', { cpu: '1', pods: '1' }) }, status: { active: 1 } };
      await tenant.patchStatus(JOBS, key('his'), { type: 'merge', body });
      await patch('his', { metadata: { annotations: forged('main', { cpu: '1', pods: '1' }) }, spec: { suspend: false } });
    },
    reason: 'Forged',
    says: NOT_OURS,
  },
  'the sealed record of another Job': {
    act: async () => tenant.create(JOBS, hisJob('his', { annotations: { [ADMISSION_ANNOTATION]: await recordOf('hers') } })),
    reason: 'Forged',
    says: NOT_OURS,
  },
  'the sealed record of an earlier Job of this name': {
    act: async () => {
      const record = await recordOf('hers');
      await tenant.delete(JOBS, key('hers'), { propagationPolicy: 'Background' });
      await watch(1_000);
      await giveUp('hers');
      await honest('other', { cpu: String(QUOTA) });
      await tenant.create(JOBS, hisJob('hers', { annotations: { [ADMISSION_ANNOTATION]: record } }));
      await tenant.create(JOBS, hisJob('his', { annotations: { [ADMISSION_ANNOTATION]: record } }));
    },
    reason: 'Forged',
    says: NOT_OURS,
  },
};

/** Takes the finalizer off a deleted Job that no manager winds up. */
async function giveUp(name: string): Promise<void> {
  try {
    await tenant.patch(JOBS, key(name), { type: 'merge', body: { metadata: { finalizers: null } } });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

describe('with all the quota in use, nothing is run by', () => {
  test.each(Object.entries(ATTACKS))('%s', async (_what, { act, reason, says }) => {
    await honest('hers', { cpu: String(QUOTA) });
    await act();
    await watch(20_000);
    expect((await world.job('his')).spec.suspend).toBe(true);
    expect([...(told.get('his') ?? [])].filter((text) => says.test(text))).not.toEqual([]);
    expect(await untrusted()).toEqual([reason]);
    expect((await world.jobsOn('east')).concat(await world.jobsOn('west')).filter(({ metadata }) => metadata.name === 'his')).toEqual([]);
    expect(mostCpus).toBe(QUOTA);
  });

  test.each(Object.entries(ATTACKS))('%s, while no manager runs', async (_what, { act, reason, says }) => {
    await honest('hers', { cpu: String(QUOTA) });
    manager.kill();
    await watch(20_000);
    await act();
    startManager();
    await watch(40_000);
    expect((await world.job('his')).spec.suspend).toBe(true);
    expect([...(told.get('his') ?? [])].filter((text) => says.test(text))).not.toEqual([]);
    expect(await untrusted()).toContain(reason);
    expect(mostCpus).toBe(QUOTA);
  });
});

describe('the quota is not exceeded by an admitted Job', () => {
  test('that gets an earlier, greater record of its own back', async () => {
    await honest('his', { cpu: '1', spec: { parallelism: 3, completions: 9 } });
    const greater = await recordOf('his');
    await patch('his', { spec: { parallelism: 1 } });
    await watch(20_000);
    await honest('hers', { cpu: '2' });
    expect((await world.job('hers')).spec.suspend).toBe(false);
    await patch('his', { metadata: { annotations: { [ADMISSION_ANNOTATION]: greater } }, spec: { parallelism: 3 } });
    await watch(10_000);
    expect(await untrusted()).toEqual(['Forged']);
    expect([...(told.get('his') ?? [])].join()).toMatch(/suspended: annotation switchyard.dev\/admission is an earlier one, put back/);
    expect(await recordOf('his')).not.toBe(greater);
    await restartManager();
    expect((await world.job('his')).spec.suspend).toBe(true);
    expect(mostCpus).toBe(QUOTA);
  });

  test.each([false, true])('that loses its record while it runs (manager restarted: %s)', async (restarted) => {
    await honest('his', { cpu: String(QUOTA) });
    await honest('hers', { cpu: String(QUOTA) });
    await patch('his', { metadata: { annotations: { [ADMISSION_ANNOTATION]: null, [PRIORITY_ANNOTATION]: '-1' } } });
    await watch(1_000);
    if (restarted) await restartManager();
    await watch(60_000);
    expect([(await world.job('his')).spec.suspend, (await world.job('hers')).spec.suspend]).toEqual([true, false]);
    expect([...(told.get('his') ?? [])].join()).toMatch(NOT_RELEASED);
    expect(mostCpus).toBe(QUOTA);
  });

  test.each([false, true])(
    'that is suspended and loses its record in one write: it rests, and others get its quota (manager restarted: %s)',
    async (restarted) => {
      await honest('his', { cpu: String(QUOTA), annotations: { [PRIORITY_ANNOTATION]: '-1' } });
      await honest('hers', { cpu: String(QUOTA) });
      await patch('his', { metadata: { annotations: { [ADMISSION_ANNOTATION]: null } }, spec: { suspend: true } });
      if (restarted) await restartManager();
      await watch(60_000);
      expect([(await world.job('his')).spec.suspend, (await world.job('hers')).spec.suspend]).toEqual([true, false]);
      expect(mostCpus).toBe(QUOTA);
      await patch('his', { metadata: { annotations: { [HOLD_ANNOTATION]: 'false' } } });
      await tenant.delete(JOBS, key('hers'), { propagationPolicy: 'Background' });
      await watch(40_000);
      expect((await world.job('his')).spec.suspend).toBe(false);
    },
  );

  test.each([false, true])('that was suspended, lost its quota to another and is released by hand (manager down: %s)', async (down) => {
    await honest('his', { cpu: String(QUOTA), annotations: { [PRIORITY_ANNOTATION]: '-1' } });
    await honest('hers', { cpu: String(QUOTA) });
    await patch('his', { spec: { suspend: true } });
    await watch(60_000);
    expect((await world.job('hers')).spec.suspend).toBe(false);
    if (down) {
      manager.kill();
      await watch(20_000);
    }
    await patch('his', { spec: { suspend: false } });
    if (down) startManager();
    await watch(40_000);
    expect((await world.job('his')).spec.suspend).toBe(true);
    expect([...(told.get('his') ?? [])].join()).toMatch(/spec.suspend was set to false, which is for the manager to do/);
    expect(await untrusted()).toContain('Forged');
    expect(mostCpus).toBe(QUOTA);
  });

  test.each([false, true])('that raises its parallelism (manager down: %s)', async (down) => {
    await honest('his', { cpu: '1', spec: { parallelism: 1, completions: 9 } });
    await honest('hers', { cpu: '2' });
    if (down) {
      manager.kill();
      await watch(20_000);
    }
    await patch('his', { spec: { parallelism: 3 } });
    if (down) startManager();
    await watch(40_000);
    expect((await world.job('his')).spec.suspend).toBe(true);
    expect([...(told.get('his') ?? [])].join()).toMatch(/InsufficientQuota: cluster queue main: flavor default is short of 2 cpu/);
    expect(mostCpus).toBe(QUOTA);
    await patch('his', { spec: { parallelism: 1 } });
    await watch(10_000);
    expect((await world.job('his')).spec.suspend).toBe(false);
  });

  test('that asks for more in its template while it is suspended', async () => {
    await honest('his', { cpu: '1' });
    await honest('hers', { cpu: '2' });
    await patch('his', { spec: { suspend: true }, metadata: { annotations: { [PRIORITY_ANNOTATION]: '-1', [HOLD_ANNOTATION]: 'false' } } });
    await honest('others', { cpu: '1' });
    await watch(40_000);
    expect([(await world.job('his')).spec.suspend, (await world.job('others')).spec.suspend]).toEqual([true, false]);
    const containers = [{ name: 'main', resources: { requests: { cpu: '3' } } }];
    await tenant.patch(JOBS, key('his'), { type: 'strategic', body: { spec: { template: { spec: { containers } } } } });
    await watch(20_000);
    expect([...(told.get('his') ?? [])].join()).toMatch(/InsufficientQuota/);
    for (const name of ['hers', 'others']) await tenant.delete(JOBS, key(name), { propagationPolicy: 'Background' });
    await watch(20_000);
    expect(JSON.parse(await recordOf('his'))).toMatchObject({ requests: { cpu: '3', pods: '1' } });
    expect(mostCpus).toBe(QUOTA);
  });

  test('that loses its record while its cluster does not answer: what it may run is held for it', async () => {
    await honest('his', { cpu: String(QUOTA) });
    await honest('hers', { cpu: String(QUOTA) });
    for (const worker of workers) worker.kill();
    await patch('his', { metadata: { annotations: { [ADMISSION_ANNOTATION]: null } } });
    await watch(60_000);
    expect([(await world.job('his')).spec.suspend, (await world.job('hers')).spec.suspend]).toEqual([true, true]);
    for (const cluster of ['east', 'west']) world.startWorker(cluster, 'another');
    await watch(60_000);
    expect(mostCpus).toBe(QUOTA);
  });
});

describe('an admission that no longer stands', () => {
  const removeQueue = async (): Promise<void> => {
    await world.home.delete(CLUSTER_QUEUES, { namespace: '', name: 'main' });
  };

  test('costs a running Job its place half a minute after its queue is gone', async () => {
    await honest('hers', { cpu: '1' });
    await removeQueue();
    await watch(29_000);
    expect((await world.job('hers')).spec.suspend).toBe(false);
    await watch(5_000);
    expect((await world.job('hers')).spec.suspend).toBe(true);
    await watch(40_000);
    expect((await world.podsOn('east')).concat(await world.podsOn('west')).filter((pod) => !isOver(pod))).toEqual([]);
  });

  test('costs nobody his pods when the queue is back within that time', async () => {
    await honest('hers', { cpu: '1' });
    const { metadata: _metadata, status: _status, ...queue } = await world.home.get(CLUSTER_QUEUES, { namespace: '', name: 'main' });
    await removeQueue();
    await watch(20_000);
    await world.home.create(CLUSTER_QUEUES, { ...queue, metadata: { name: 'main' } });
    await watch(40_000);
    expect((await world.job('hers')).spec.suspend).toBe(false);
    expect(mostCpus).toBe(1);
  });

  test('costs a running Job its place when its flavor is gone', async () => {
    await honest('hers', { cpu: '1' });
    await world.home.delete(RESOURCE_FLAVORS, { namespace: '', name: 'default' });
    await watch(40_000);
    expect((await world.job('hers')).spec.suspend).toBe(true);
    expect((await registry.metrics()).match(/switchyard_evicted_workloads_total{.*reason="AdmissionUnresolved"} 1/)).not.toBeNull();
  });
});

describe('the key of admission records', () => {
  const SECRET = { namespace: 'switchyard', name: 'record-key' };

  test('when it is lost stops everything and says what to do; nobody loses his pods when it is restored', async () => {
    await honest('hers', { cpu: '1' });
    const { data } = await world.home.get(SECRETS, SECRET);
    manager.kill();
    await world.home.delete(SECRETS, SECRET);
    await watch(20_000);
    startManager();
    await honest('his', { cpu: '1' });
    await watch(20_000);
    expect(manager.unreadiness()).toMatch(/^Secret switchyard\/record-key .* is gone, .*: restore the Secret, or create an empty one/);
    expect((await world.job('his')).spec.suspend).toBe(true);
    await world.home.create(SECRETS, { metadata: SECRET, data: { ...data } });
    await watch(20_000);
    expect([(await world.job('his')).spec.suspend, (await world.job('hers')).spec.suspend]).toEqual([false, false]);
    expect(
      (await world.jobsOn('east'))
        .concat(await world.jobsOn('west'))
        .map(({ metadata }) => metadata.name)
        .toSorted(),
    ).toEqual(['hers', 'his']);
    expect([manager.unreadiness(), await untrusted()]).toEqual([undefined, []]);
  });

  test('is replaced without disturbing anybody when both are accepted for a while', async () => {
    await honest('hers', { cpu: '1' });
    const previous = (await world.home.get(SECRETS, SECRET)).data?.['current'] ?? '';
    const current = Buffer.from(TEST_RECORD_KEYS.current).toString('base64');
    await world.home.patch(SECRETS, SECRET, { type: 'merge', body: { data: { current, previous } } });
    await restartManager();
    await honest('next', { cpu: '1' });
    expect([(await world.job('hers')).spec.suspend, (await world.job('next')).spec.suspend]).toEqual([false, false]);
    expect(await untrusted()).toEqual([]);
  });

  test('that is emptied on purpose has every Job suspended, and admitted anew', async () => {
    await honest('hers', { cpu: '1' });
    manager.kill();
    await world.home.delete(SECRETS, SECRET);
    await world.home.create(SECRETS, { metadata: SECRET });
    await watch(20_000);
    startManager();
    await watch(60_000);
    expect((await world.job('hers')).spec.suspend).toBe(false);
    expect(await untrusted()).toEqual(['Forged']);
    expect(mostCpus).toBe(1);
  });
});
