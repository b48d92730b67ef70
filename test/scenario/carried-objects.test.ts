/** Goal: what the pods of a Job refer to travels with the Job, and goes with its last copy. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { attachedText } from '../../manager/api/attachments.ts';
import { contentDigest } from '../../manager/api/content-digest.ts';
import { JOB_KIND } from '../../manager/work-kind/job/job-kind.ts';
import { ATTACHMENTS_ANNOTATION, CARRIED_CONTENT_ANNOTATION, CARRY_ANNOTATION, QUEUE_NAME_LABEL } from '../../shared/api/names.ts';
import type { ConfigMap, Job, Secret } from '../../shared/api/kubernetes.ts';
import { CONFIG_MAPS, EVENTS, JOBS, SECRETS, SERVICE_ACCOUNTS, type Resource } from '../../shared/api/resources.ts';
import { referenceKey } from '../../manager/api/pod-references.ts';
import { planCompanions } from '../../manager/dispatch/companions/plan-companions.ts';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { LOCAL_QUEUES } from '../../manager/api/local-queue.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import { createLine } from '../support/line.ts';
import { createWholeWorld, NAMESPACE, type WholeWorld } from './whole-world.ts';

let world: WholeWorld;

beforeEach(async () => {
  world = await createWholeWorld({ clusters: ['east'] });
});
afterEach(() => world.close());

const BOTH = { [CARRY_ANNOTATION]: 'ConfigMaps,Secrets' };
const PARTS = { parts: { carryNamespaces: [NAMESPACE] } };

/** A Job with one reference of each kind. */
const referring = (parts: { readonly name?: string; readonly optional?: boolean } = {}, seconds = 500): object => ({
  template: {
    metadata: { annotations: { 'switchyard.dev/simulate-duration': `${seconds}s` } },
    spec: {
      restartPolicy: 'Never',
      imagePullSecrets: [{ name: 'registry' }],
      containers: [
        {
          name: 'main',
          image: 'train',
          resources: { requests: { cpu: '1' } },
          envFrom: [
            { configMapRef: { name: parts.name ?? 'settings', ...(parts.optional === undefined ? {} : { optional: parts.optional }) } },
          ],
          env: [{ name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'token', key: 'value' } } }],
        },
      ],
      volumes: [{ name: 'config', projected: { sources: [{ configMap: { name: 'files' } }] } }],
    },
  },
});

const createAll = async (client = world.home): Promise<void> => {
  for (const name of ['settings', 'files'])
    await client.create(CONFIG_MAPS, { metadata: { name, namespace: NAMESPACE }, data: { of: name } });
  for (const name of ['token', 'registry'])
    await client.create(SECRETS, { metadata: { name, namespace: NAMESPACE }, type: 'Opaque', data: { value: btoa(name) } });
};

const carried = async (cluster = 'east'): Promise<(ConfigMap | Secret)[]> => {
  const lists = await Promise.all(
    [CONFIG_MAPS, SECRETS].map((resource) =>
      world
        .client(cluster)
        .list(resource as Resource<ConfigMap | Secret>, { namespace: NAMESPACE, labelSelector: 'switchyard.dev/origin' }),
    ),
  );
  return lists.flatMap(({ items }) => items);
};
const namesOn = async (cluster = 'east'): Promise<string[]> =>
  (await carried(cluster)).map(({ metadata }) => metadata.name.replace(/-[0-9a-f]{12}$/, '-#')).toSorted();

const waitingFor = async (name: string): Promise<string> => {
  const condition = findCondition((await world.job(name)).status?.conditions, 'QuotaReserved');
  return `${condition?.status} ${condition?.reason}: ${condition?.message}`;
};

const theCopy = async (): Promise<Job> => {
  const [copy, another] = await world.jobsOn('east');
  if (copy === undefined || another !== undefined) throw new Error('there is not one copy on east');
  return copy;
};

describe('a Job whose pods refer to ConfigMaps and Secrets', () => {
  test('takes them along under names of their content, owned by its copy, and they go with it', async () => {
    await createAll();
    world.startManager('first', PARTS);
    world.startWorker('east', 'worker');
    await world.submit('train', { spec: referring({}, 20), annotations: BOTH });
    await world.clock.advance(5_000);

    const copy = await theCopy();
    expect(await namesOn()).toEqual(['files-#', 'registry-#', 'settings-#', 'token-#']);
    for (const object of await carried()) {
      const { metadata } = object;
      expect(object).toMatchObject({ immutable: true });
      expect(metadata.ownerReferences?.map(({ uid }) => uid)).toEqual([copy.metadata.uid]);
    }
    const names = (await carried()).map(({ metadata }) => metadata.name);
    const pod = copy.spec.template.spec;
    expect(names).toContain(pod?.containers?.[0]?.envFrom?.[0]?.configMapRef?.name);
    expect(names).toContain(pod?.containers?.[0]?.env?.find(({ name }) => name === 'TOKEN')?.valueFrom?.secretKeyRef?.name);
    expect(names).toContain(pod?.volumes?.[0]?.projected?.sources?.[0]?.configMap?.name);
    expect(names).toContain(pod?.imagePullSecrets?.[0]?.name);
    expect(copy.status?.active).toBe(1);
    const { items: events } = await world.home.list(EVENTS, { namespace: NAMESPACE });
    expect(events.find(({ reason }) => reason === 'Carried')?.message).toMatch(
      /^to cluster east: .*configmap settings as settings-[0-9a-f]{12}/,
    );

    await world.clock.advance(60_000);
    expect((await world.job('train')).status?.succeeded).toBe(1);
    expect(await world.jobsOn('east')).toEqual([]);
    expect(await namesOn()).toEqual([]);
  });

  test('shares objects of equal content with other Jobs, and the last one takes them away', async () => {
    await createAll();
    world.startManager('first', PARTS);
    world.startWorker('east', 'worker');
    await world.submit('short', { spec: referring({}, 20), annotations: BOTH });
    await world.submit('long', { spec: referring({}, 200), annotations: BOTH });
    await world.clock.advance(5_000);
    expect(await namesOn()).toEqual(['files-#', 'registry-#', 'settings-#', 'token-#']);
    expect((await carried()).map(({ metadata }) => metadata.ownerReferences?.length)).toEqual([2, 2, 2, 2]);
    await world.clock.advance(60_000);
    expect((await world.job('short')).status?.succeeded).toBe(1);
    expect(await namesOn()).toHaveLength(4);
    await world.clock.advance(200_000);
    expect((await world.job('long')).status?.succeeded).toBe(1);
    expect(await namesOn()).toEqual([]);
  });

  /** Somebody on the cluster has an object of the name that one of them would have there. */
  async function squat(): Promise<string> {
    const found = await world.home.get(CONFIG_MAPS, { namespace: NAMESPACE, name: 'files' });
    const reference = { kind: 'ConfigMap', name: 'files', optional: false } as const;
    const plan = planCompanions(NAMESPACE, [reference], new Map([[referenceKey(reference), found]]), 'm1');
    const name = (plan.kind === 'Ready' ? plan.companions[0]?.object.metadata.name : undefined) ?? '';
    await world.client('east').create(CONFIG_MAPS, { metadata: { name, namespace: NAMESPACE }, data: { of: 'somebody' } });
    return name;
  }

  test('leaves an object of another content alone that has the name of one of them, and says so', async () => {
    await createAll();
    const name = await squat();
    world.startManager('first', PARTS);
    world.startWorker('east', 'worker');
    await world.submit('train', { spec: referring({}, 20), annotations: BOTH });
    await world.clock.advance(10_000);
    const { metadata, data } = await world.client('east').get(CONFIG_MAPS, { namespace: NAMESPACE, name });
    expect([metadata.ownerReferences, data]).toEqual([undefined, { of: 'somebody' }]);
    expect(findCondition((await world.job('train')).status?.conditions, 'Dispatched')?.message).toContain(
      `${name} that no copy has brought`,
    );
    expect((await world.job('train')).status?.active ?? 0).toBe(0);
    await world.client('east').delete(CONFIG_MAPS, { namespace: NAMESPACE, name });
    await world.clock.advance(300_000);
    expect((await world.job('train')).status?.succeeded).toBe(1);
  });

  test('goes on where such an object stays, once its content is another, and so its name', async () => {
    await createAll();
    await squat();
    world.startManager('first', PARTS);
    world.startWorker('east', 'worker');
    await world.submit('train', { spec: referring({}, 20), annotations: BOTH });
    await world.clock.advance(5_000);
    await world.home.patch(CONFIG_MAPS, { namespace: NAMESPACE, name: 'files' }, { type: 'merge', body: { data: { more: '1' } } });
    await world.clock.advance(300_000);
    expect((await world.job('train')).status?.succeeded).toBe(1);
  });

  test('waits without quota while one is missing, says which, and goes on when it is created', async () => {
    await createAll();
    world.startManager('first', PARTS);
    world.startWorker('east', 'worker');
    await world.submit('train', { spec: referring({ name: 'later' }), annotations: BOTH });
    await world.clock.advance(5_000);
    expect(await waitingFor('train')).toBe(
      'False MissingReference: configmap team/later does not exist; it travels with the Job, which waits until it is created',
    );
    expect(await world.jobsOn('east')).toEqual([]);
    await world.home.create(CONFIG_MAPS, { metadata: { name: 'later', namespace: NAMESPACE }, data: {} });
    await world.clock.advance(5_000);
    expect(await waitingFor('train')).toMatch(/^True/);
    expect(await namesOn()).toEqual(['files-#', 'later-#', 'registry-#', 'token-#']);
  });

  test('takes the attachments of its submission along although its queue carries nothing, with the content that was submitted alone', async () => {
    // What else it refers to is there already.
    for (const client of [world.home, world.client('east')]) await createAll(client);
    world.startManager('first', PARTS);
    world.startWorker('east', 'worker');
    const [name, data] = ['settings-0123456789ab', { rate: '0.1' }];
    // As the submission made it, so that pods may not start without it.
    const annotations = { [ATTACHMENTS_ANNOTATION]: attachedText({ [name]: contentDigest({ data }) }) };
    const create = (content: object) =>
      world.home.create(CONFIG_MAPS, { metadata: { name, namespace: NAMESPACE }, immutable: true, ...content });
    const metadata = { name: 'train', namespace: NAMESPACE, labels: { [QUEUE_NAME_LABEL]: 'main' }, annotations };
    await world.home.create(JOBS, JOB_KIND.prepared({ metadata, spec: referring({ name, optional: true }, 20) } as unknown as Job));
    await world.clock.advance(5_000);
    expect(await waitingFor('train')).toBe(
      `False MissingReference: configmap team/${name} does not exist; it travels with the Job, which waits until it is created`,
    );
    await create({ data: { rate: 'of somebody who was faster' } });
    await world.clock.advance(20_000);
    expect(await world.jobsOn('east')).toEqual([]);
    expect(findCondition((await world.job('train')).status?.conditions, 'Dispatched')?.message).toContain(
      `configmap team/${name} has other content than the submission brought`,
    );
    await world.home.delete(CONFIG_MAPS, { namespace: NAMESPACE, name });
    await create({ data });
    await world.clock.advance(15_000);
    const copy = await theCopy();
    expect(await carried()).toMatchObject([{ data }]);
    expect(copy.spec.template.spec?.containers?.[0]?.envFrom?.[0]?.configMapRef?.name).toBe((await carried())[0]?.metadata.name);
    expect(copy.spec.template.spec?.volumes?.[0]?.projected?.sources?.[0]?.configMap?.name).toBe('files');
    await world.clock.advance(60_000);
    expect((await world.job('train')).status?.succeeded).toBe(1);
    expect(await carried()).toEqual([]);
  });

  test('does not wait for an optional one, and its pods see that it is missing', async () => {
    await createAll();
    world.startManager('first', PARTS);
    world.startWorker('east', 'worker');
    await world.submit('train', { spec: referring({ name: 'perhaps', optional: true }), annotations: BOTH });
    await world.clock.advance(5_000);
    const copy = await theCopy();
    expect(copy.spec.template.spec?.containers?.[0]?.envFrom?.[0]?.configMapRef).toEqual({ name: 'perhaps', optional: true });
    expect(copy.status?.active).toBe(1);
  });

  test('says that its namespace may not, and names the flag', async () => {
    await createAll();
    world.startManager('first');
    world.startWorker('east', 'worker');
    await world.submit('train', { spec: referring(), annotations: BOTH });
    await world.clock.advance(5_000);
    expect(await waitingFor('train')).toMatch(
      /^False MissingReference: .* nothing is carried from namespace team: add it to --carry-namespaces/,
    );
  });

  test('takes along what its queue says, and nothing where it says None itself', async () => {
    await createAll();
    await world.home.patch(
      LOCAL_QUEUES,
      { namespace: NAMESPACE, name: 'main' },
      { type: 'merge', body: { spec: { carry: ['ConfigMaps'] } } },
    );
    world.startManager('first', PARTS);
    world.startWorker('east', 'worker');
    await world.submit('plain', { spec: referring() });
    await world.submit('none', { spec: referring(), annotations: { [CARRY_ANNOTATION]: 'None' } });
    await world.clock.advance(5_000);
    expect(await namesOn()).toEqual(['files-#', 'settings-#']);
    const copies = await world.jobsOn('east');
    const names = copies.map(({ spec }) => spec.template.spec?.containers?.[0]?.envFrom?.[0]?.configMapRef?.name ?? '').toSorted();
    expect(names).toEqual(['settings', expect.stringMatching(/^settings-[0-9a-f]{12}$/)]);
  });

  test('never runs without what it refers to, though its manager dies between any two calls', async () => {
    await createAll();
    world.startWorker('east', 'worker');
    await world.submit('train', { spec: referring(), annotations: BOTH });
    for (let calls = 20; calls < 80; calls += 3) {
      world.startManager(`with ${calls} calls`, { ...PARTS, line: createLine({ callsLeft: calls }) });
      await world.clock.advance(8_000);
      const names = (await carried()).map(({ metadata }) => metadata.name);
      for (const pod of await world.podsOn('east')) expect(names).toContain(pod.spec.containers[0]?.envFrom?.[0]?.configMapRef?.name);
    }
    world.startManager('last', PARTS);
    await world.clock.advance(30_000);
    expect((await theCopy()).status?.active).toBe(1);
    expect(await namesOn()).toHaveLength(4);
  });

  test('has the content of now when it is created after a change, and a copy that runs keeps its own', async () => {
    await createAll();
    world.startManager('first', PARTS);
    world.startWorker('east', 'worker');
    await world.submit('before', { spec: referring(), annotations: BOTH });
    await world.clock.advance(5_000);
    await world.home.patch(CONFIG_MAPS, { namespace: NAMESPACE, name: 'settings' }, { type: 'merge', body: { data: { of: 'changed' } } });
    await world.submit('after', { spec: referring(), annotations: BOTH });
    await world.clock.advance(5_000);
    const contents = (await carried()).flatMap(({ metadata, data }) => (metadata.name.startsWith('settings-') ? [data?.['of'] ?? ''] : []));
    expect(contents.toSorted()).toEqual(['changed', 'settings']);
  });

  test('does not carry a token of the manager cluster', async () => {
    await createAll();
    await world.home.create(SERVICE_ACCOUNTS as Resource<Secret>, { metadata: { name: 'robot', namespace: NAMESPACE } });
    await world.home.create(SECRETS, {
      metadata: { name: 'stolen', namespace: NAMESPACE, annotations: { 'kubernetes.io/service-account.name': 'robot' } },
      type: 'kubernetes.io/service-account-token',
      data: {},
    });
    world.startManager('first', PARTS);
    world.startWorker('east', 'worker');
    const spec = {
      template: {
        spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'x', envFrom: [{ secretRef: { name: 'stolen' } }] }] },
      },
    };
    await world.submit('thief', { spec, annotations: BOTH });
    await world.clock.advance(5_000);
    expect(await world.jobsOn('east')).toEqual([]);
    expect(findCondition((await world.job('thief')).status?.conditions, 'Dispatched')?.message).toContain(
      'secret team/stolen is of type kubernetes.io/service-account-token, which is never carried to another cluster',
    );
  });
});

describe('a Job that moves after a change at home', () => {
  const drain = (cluster: string): Promise<unknown> =>
    world.home.patch(WORKER_CLUSTERS, { namespace: '', name: cluster }, { type: 'merge', body: { spec: { state: 'Draining' } } });
  const setQueue = (body: object): Promise<unknown> =>
    world.home.patch(LOCAL_QUEUES, { namespace: NAMESPACE, name: 'main' }, { type: 'merge', body: { spec: body } });
  const change = (name: string, data: object): Promise<unknown> =>
    world.home.patch(CONFIG_MAPS, { namespace: NAMESPACE, name }, { type: 'merge', body: { data } });
  const contentOn = async (cluster: string): Promise<string[]> =>
    (await carried(cluster)).flatMap(({ metadata, data }) => (metadata.name.startsWith('settings-') ? [data?.['of'] ?? ''] : []));
  const why = async (): Promise<string | undefined> => {
    const told = findCondition((await world.job('train')).status?.conditions, 'Dispatched');
    return told && `${told.status} ${told.reason}: ${told.message}`;
  };

  async function createTwo(): Promise<void> {
    await world.close();
    world = await createWholeWorld({ clusters: ['east', 'west'] });
    await createAll();
    for (const cluster of ['east', 'west']) world.startWorker(cluster, `worker-${cluster}`);
  }

  /** It runs on the one cluster, and may go to the other. */
  async function runsOn(): Promise<{ readonly from: string; readonly to: string }> {
    await world.submit('train', { spec: referring({}, 100_000), annotations: BOTH });
    await world.clock.advance(5_000);
    const from = (await world.jobsOn('east')).length === 1 ? 'east' : 'west';
    expect(await contentOn(from)).toEqual(['settings']);
    return { from, to: from === 'east' ? 'west' : 'east' };
  }

  test('takes what is there now, unless its queue says otherwise', async () => {
    await createTwo();
    world.startManager('first', PARTS);
    const { from, to } = await runsOn();
    await change('settings', { of: 'changed' });
    await drain(from);
    await world.clock.advance(60_000);
    expect(await contentOn(to)).toEqual(['changed']);
    expect((await world.job('train')).metadata.annotations?.[CARRIED_CONTENT_ANNOTATION]).toBeUndefined();
  });

  test('waits where its queue holds it to what its first copy had, names the object, and goes on once it is put back', async () => {
    await createTwo();
    await setQueue({ carryContent: 'Admitted' });
    world.startManager('first', PARTS);
    const { from, to } = await runsOn();
    await change('settings', { of: 'changed' });
    await drain(from);
    await world.clock.advance(60_000);
    expect(await why()).toBe(
      'False ContentChanged: configmap team/settings had other content when Job team/train was first dispatched, and its queue holds it to that (carryContent: Admitted): put it back, or create the Job again',
    );
    expect([await world.jobsOn('east'), await world.jobsOn('west')]).toEqual([[], []]);
    await change('settings', { of: 'settings' });
    await world.clock.advance(60_000);
    expect(await contentOn(to)).toEqual(['settings']);
    const [copy] = await world.jobsOn(to);
    expect(copy?.status?.active).toBe(1);
    expect(copy?.metadata.annotations?.[CARRIED_CONTENT_ANNOTATION]).toBeUndefined();
  });

  test('never runs with another content than the first, though its manager dies between any two calls', async () => {
    await createTwo();
    await setQueue({ carryContent: 'Admitted' });
    await world.submit('train', { spec: referring({}, 100_000), annotations: BOTH });
    const seen = new Set<string>();
    const look = async (): Promise<void> => {
      for (const cluster of ['east', 'west'])
        if ((await world.podsOn(cluster)).length > 0) for (const content of await contentOn(cluster)) seen.add(content);
    };
    const lives = [24, 36, 48, 60, 72];
    for (const calls of lives) {
      await change('settings', { of: `version ${calls}` });
      world.startManager(`with ${calls} calls`, { ...PARTS, line: createLine({ callsLeft: calls }) });
      await world.clock.advance(8_000);
      await look();
    }
    world.startManager('last', PARTS);
    await world.clock.advance(20_000);
    for (const calls of lives) {
      await change('settings', { of: `version ${calls}` });
      await world.clock.advance(12_000);
      await look();
    }
    expect(seen.size).toBe(1);
  });
});

test('a Job that refers to nothing costs no call more, though its queue carries everything', async () => {
  await world.home.patch(
    LOCAL_QUEUES,
    { namespace: NAMESPACE, name: 'main' },
    { type: 'merge', body: { spec: { carry: ['ConfigMaps', 'Secrets'] } } },
  );
  world.startManager('first', PARTS);
  world.startWorker('east', 'worker');
  await world.submit('plain', { seconds: 5 });
  await world.clock.advance(3_000);
  const [copy] = await world.jobsOn('east');
  expect(copy?.spec.suspend).toBe(false);
  expect(copy?.metadata.generation).toBe(1);
});
