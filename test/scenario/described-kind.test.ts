/**
 * Goal: a kind that no code knows is admitted, dispatched, moved, held and finished by its description. Crews are played by a scripted
 * operator on each worker cluster; a cluster without their definition gets none.
 */
import { Registry } from 'prom-client';
import { afterEach, expect, test } from 'vitest';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { writtenRecordOf } from '../../manager/api/records.ts';
import type { JobCondition, Unsaved, WorkObject } from '../../shared/api/kubernetes.ts';
import type { SubmissionQueue } from '../../manager/submission/submission-queue.ts';
import type { SubmissionSource } from '../../manager/submission/submissions.ts';
import {
  ADMISSION_ANNOTATION,
  COPIES_FINALIZER,
  HOLD_ANNOTATION,
  ORIGIN_LABEL,
  SHORT_OF_ANNOTATION,
  SUBMISSION_ANNOTATION,
  SUBMISSION_FINALIZER,
} from '../../shared/api/names.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, EVENTS } from '../../shared/api/resources.ts';
import { isNotFound } from '../../shared/kube/api-error.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { aborted } from '../../shared/runtime/tasks.ts';
import { aCrew, aCrewKind, CREW_DEFINITION, CREWS } from '../unit/manager/work-kind/described/described.ts';
import { createCrds } from '../support/crds.ts';
import { testTenant } from '../support/submission-source.ts';
import { aSubmission } from '../support/submissions.ts';
import { createWholeWorld, HOME, NAMESPACE, type RunningManager, type WholeWorld } from './whole-world.ts';

const KEY = { namespace: NAMESPACE, name: 'argo' };

let world: WholeWorld;
let registry: Registry;
let manager: RunningManager;
afterEach(() => world.close());

async function started(without: readonly string[] = [], submissions?: SubmissionSource): Promise<void> {
  world = await createWholeWorld({
    clusters: ['east', 'west'],
    async install(client, cluster) {
      if (cluster === HOME) await createCrds(client);
      if (!without.includes(cluster)) await client.create(CUSTOM_RESOURCE_DEFINITIONS, CREW_DEFINITION as never);
    },
  });
  registry = new Registry();
  for (const cluster of ['east', 'west']) world.startWorker(cluster, `worker-${cluster}`);
  manager = world.startManager('one', { parts: { kinds: [aCrewKind()], registry, ...omitUndefined({ submissions }) } });
  await world.clock.advance(10_000);
}

async function sail(changes: { readonly metadata?: object; readonly spec?: object } = {}): Promise<void> {
  const { metadata, spec, ...crew } = aCrew(changes);
  const { uid: _uid, resourceVersion: _version, generation: _generation, creationTimestamp: _created, ...named } = metadata;
  const policy = { suspend: true, managedBy: 'example.com/elsewhere' };
  await world.home.create(CREWS, { ...crew, metadata: named, spec: { ...spec, policy } } as Unsaved<WorkObject>);
  await world.clock.advance(10_000);
}

const onHome = (): Promise<WorkObject> => world.home.get(CREWS, KEY);
const copyOn = (cluster: string): Promise<WorkObject | undefined> =>
  world
    .client(cluster)
    .get(CREWS, KEY)
    .catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
const placeOf = async (): Promise<string | undefined> => {
  const record = writtenRecordOf(await onHome());
  return record.kind === 'Record' ? record.record.cluster : undefined;
};
const policyOf = (crew: WorkObject | undefined): unknown => (crew?.spec as { readonly policy?: unknown } | undefined)?.policy;

/** The operator on a worker cluster: what it says of the crew. */
async function say(cluster: string, status: object, conditions: readonly Partial<JobCondition>[] = []): Promise<void> {
  const lastTransitionTime = new Date(world.clock.now()).toISOString().replace(/\.\d+Z/, 'Z');
  const body = { status: { ...status, conditions: conditions.map((each) => ({ lastTransitionTime, ...each })) } };
  await world.client(cluster).patchStatus(CREWS, KEY, { type: 'merge', body });
  await world.clock.advance(10_000);
}
const moored: Partial<JobCondition> = { type: 'Moored', status: 'True', reason: 'Asked', message: 'all hands ashore' };

test('it is admitted by its pod sets, runs as a copy without a foreign manager, and its status comes home', async () => {
  await started();
  await sail();
  const cluster = (await placeOf()) ?? '';
  const copy = await copyOn(cluster);
  expect(policyOf(copy)).toEqual({ suspend: false });
  expect(copy?.metadata.labels?.[ORIGIN_LABEL]).toBeDefined();
  const record = writtenRecordOf(await onHome());
  expect(record.kind === 'Record' && record.record.podSets?.map(({ name, requests }) => [name, requests['cpu'], requests['pods']])).toEqual(
    [
      ['captain', '500m', '1'],
      ['deck', '2', '2'],
      ['oars', '6', '3'],
    ],
  );
  await say(cluster, { phase: 'Sailing', aboard: true });
  const running = await onHome();
  expect(running.status).toMatchObject({ phase: 'Sailing', aboard: true });
  expect(running.metadata.finalizers).toContain(COPIES_FINALIZER);
  expect(findCondition(running.status?.conditions, 'Dispatched')?.status).toBe('True');

  await say(cluster, { phase: 'Moored' }, [{ type: 'Arrived', status: 'True', reason: 'Colchis', message: 'the fleece is aboard' }]);
  const over = await onHome();
  expect(findCondition(over.status?.conditions, 'Complete')).toMatchObject({ status: 'True', reason: 'Colchis' });
  expect(findCondition(over.status?.conditions, 'Arrived')?.status).toBe('True');
  expect(over.metadata.finalizers ?? []).not.toContain(COPIES_FINALIZER);
  expect(await copyOn(cluster)).toBeUndefined();
  const counted = await registry.metrics();
  expect(counted).toMatch(new RegExp(`^switchyard_admitted_workloads_total\\{.*cluster="${cluster}",kind="Crew"\\} 1$`, 'm'));
  expect(counted).toMatch(/^switchyard_finished_workloads_total\{.*result="Complete",kind="Crew"\} 1$/m);
  expect(counted).toMatch(/^switchyard_finished_workloads_total\{.*result="Complete",kind="Job"\} 0$/m);
});

test('a cluster that does not serve the kind is not chosen, and the object waits where none does', async () => {
  await started(['east']);
  await sail();
  expect(await placeOf()).toBe('west');
  expect((await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'west' })).status?.workKinds).toEqual(['crews.example.com']);
  expect((await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'east' })).status?.workKinds).toBeUndefined();
});

test('while it waits it names the resources that are missing, and no longer once it is admitted', async () => {
  await started();
  const resized = async (cpu: string): Promise<void> => {
    for (const name of ['east', 'west'])
      await world.home.patch(WORKER_CLUSTERS, { namespace: '', name }, { type: 'merge', body: { spec: { capacity: { cpu } } } });
    await world.clock.advance(10_000);
  };
  await resized('4');
  await sail();
  expect(findCondition((await onHome()).status?.conditions, 'QuotaReserved')).toMatchObject({ status: 'False', reason: 'NoClusterFits' });
  expect((await onHome()).metadata.annotations?.[SHORT_OF_ANNOTATION]).toBe('cpu');
  await resized('40');
  expect(await placeOf()).toBeDefined();
  expect((await onHome()).metadata.annotations).not.toHaveProperty(SHORT_OF_ANNOTATION);
});

test('where no cluster serves it, it waits and says so, and goes once one does', async () => {
  await started(['east', 'west']);
  await sail();
  const waits = findCondition((await onHome()).status?.conditions, 'QuotaReserved');
  expect(waits).toMatchObject({ status: 'False', message: expect.stringContaining('east: does not serve crews.example.com') });
  await world.submit('beside');
  await world.clock.advance(10_000);
  expect(findCondition((await world.job('beside')).status?.conditions, 'Dispatched')?.status).toBe('True');
  await world.client('east').create(CUSTOM_RESOURCE_DEFINITIONS, CREW_DEFINITION as never);
  await world.clock.advance(90_000);
  expect(await placeOf()).toBe('east');
  expect(policyOf(await copyOn('east'))).toEqual({ suspend: false });
});

test('held, its copy is suspended, and it rests once its operator says so; released, it goes on', async () => {
  await started();
  await sail();
  const cluster = (await placeOf()) ?? '';
  await say(cluster, { phase: 'Sailing', aboard: true });
  await world.home.patch(CREWS, KEY, { type: 'merge', body: { metadata: { annotations: { [HOLD_ANNOTATION]: 'true' } } } });
  await world.clock.advance(10_000);
  expect(policyOf(await copyOn(cluster))).toEqual({ suspend: true });
  const evicting = writtenRecordOf(await onHome());
  expect(evicting.kind === 'Record' && evicting.record.evicted).toBe(true);
  await say(cluster, { phase: 'Moored' }, [moored]);
  expect(findCondition((await onHome()).status?.conditions, 'QuotaReserved')).toMatchObject({ status: 'False', reason: 'Held' });
  await world.home.patch(CREWS, KEY, { type: 'merge', body: { metadata: { annotations: { [HOLD_ANNOTATION]: null } } } });
  await world.clock.advance(10_000);
  expect(policyOf(await copyOn((await placeOf()) ?? ''))).toEqual({ suspend: false });
});

test('deleted at home, its copy goes before it', async () => {
  await started();
  await sail();
  const cluster = (await placeOf()) ?? '';
  await world.home.delete(CREWS, KEY);
  await world.clock.advance(30_000);
  expect(await copyOn(cluster)).toBeUndefined();
  await expect(onHome()).rejects.toThrow(/not found/);
});

test('one of another manager is left alone', async () => {
  await started();
  const { metadata, spec, ...crew } = aCrew();
  const { uid: _uid, resourceVersion: _version, generation: _generation, creationTimestamp: _created, ...named } = metadata;
  const policy = { suspend: true, managedBy: 'example.com/somebody' };
  await world.home.create(CREWS, { ...crew, metadata: named, spec: { ...spec, policy } } as Unsaved<WorkObject>);
  await world.clock.advance(10_000);
  expect((await onHome()).metadata.annotations?.[ADMISSION_ANNOTATION]).toBeUndefined();
  expect((await onHome()).status).toBeUndefined();
});

test('an expression that fails on an object makes that object wait with it, and no other', async () => {
  await started();
  await sail({ spec: { groups: [{ name: 'deck', hands: 'many', pod: { spec: { containers: [] } } }] } });
  const waits = findCondition((await onHome()).status?.conditions, 'QuotaReserved');
  expect(waits).toMatchObject({ status: 'False', reason: 'InvalidJob', message: expect.stringContaining('spec.podSets[1].count') });
  await world.submit('beside');
  await world.clock.advance(10_000);
  expect(writtenRecordOf(await world.job('beside')).kind).toBe('Record');
});

test('a Job of the same name is another object, and Events name each as its API server does', async () => {
  await started();
  await sail();
  await world.submit('argo', { seconds: 500 });
  await world.clock.advance(10_000);
  expect(writtenRecordOf(await world.job('argo')).kind).toBe('Record');
  expect(await placeOf()).toBeDefined();
  const { items } = await world.home.list(EVENTS, { namespace: NAMESPACE });
  const kinds = new Set(items.map(({ involvedObject }) => `${involvedObject.apiVersion} ${involvedObject.kind} ${involvedObject.name}`));
  expect([...kinds].toSorted()).toEqual(['batch/v1 Job argo', 'example.com/v1 Crew argo']);
});

test('the manager that begins anew takes a crew that runs as it is', async () => {
  await started();
  await sail();
  const cluster = (await placeOf()) ?? '';
  await say(cluster, { phase: 'Sailing', aboard: true });
  const before = (await copyOn(cluster))?.metadata.uid;
  world.startManager('two', { parts: { kinds: [aCrewKind()] } });
  await world.clock.advance(60_000);
  expect((await copyOn(cluster))?.metadata.uid).toBe(before);
  expect((await onHome()).status).toMatchObject({ phase: 'Sailing' });
});

test('a copy that loses label and annotations while no manager runs is known by its pod templates to the next, which restores them', async () => {
  await started();
  await sail();
  const cluster = (await placeOf()) ?? '';
  const before = await copyOn(cluster);
  manager.kill();
  const without = (map: Readonly<Record<string, string>> = {}): Record<string, null> =>
    Object.fromEntries(Object.keys(map).flatMap((name) => (name.startsWith('switchyard.dev/') ? [[name, null]] : [])));
  const { labels, annotations } = before?.metadata ?? {};
  const body = { metadata: { labels: without(labels), annotations: without(annotations) } };
  await world.client(cluster).patch(CREWS, KEY, { type: 'merge', body });
  world.startManager('two', { parts: { kinds: [aCrewKind()] } });
  await world.clock.advance(60_000);
  const { uid, labels: again } = (await copyOn(cluster))?.metadata ?? {};
  expect([uid, again?.[ORIGIN_LABEL]]).toEqual([before?.metadata.uid, labels?.[ORIGIN_LABEL]]);
  await say(cluster, { phase: 'Home' }, [{ type: 'Arrived', status: 'True', reason: 'Colchis', message: 'the fleece is aboard' }]);
  expect(findCondition((await onHome()).status?.conditions, 'Complete')?.status).toBe('True');
});

const accounts: (string | undefined)[] = [];
/** A queue with one submission on it, and what its submitter hears. */
function oneSubmission(data: unknown): { readonly source: SubmissionSource; readonly heard: unknown[] } {
  const heard: unknown[] = [];
  const queue: SubmissionQueue = {
    async consume(accept, signal) {
      const submission = aSubmission({ id: 'voyage-1', submittedAt: 1_000, name: 'voyage', data });
      await accept(submission).catch((error: unknown) => heard.push(error instanceof Error ? error.message : error));
      await aborted(signal);
    },
    finish: async (_ref, outcome) => void heard.push(outcome),
    report: async (_ref, { phase }) => void (heard.at(-1) === phase || heard.push(phase)),
    parked: async function* () {},
    close: async () => undefined,
  };
  const as = { namespace: NAMESPACE, name: 'submitter' };
  const client: SubmissionSource['client'] = (actAs) => {
    accounts.push(actAs?.user);
    return world.home;
  };
  return { source: { shared: testTenant({ namespace: NAMESPACE, as }), connect: () => queue, client }, heard };
}
const manifestOfCrew = (changes: object = {}): object => {
  const { metadata, ...crew } = aCrew();
  return { ...crew, metadata: { name: metadata.name, labels: metadata.labels }, ...changes };
};

test('a submission of its manifest is created by the account of its queue, and its submitter hears how it goes', async () => {
  const { source, heard } = oneSubmission({ manifest: manifestOfCrew() });
  await started([], source);
  expect(accounts.at(-1)).toBe('system:serviceaccount:team:submitter');
  const crew = await onHome();
  expect(crew.metadata.annotations?.[SUBMISSION_ANNOTATION]).toBe('voyage-1');
  expect(crew.metadata.finalizers).toContain(SUBMISSION_FINALIZER);
  const cluster = (await placeOf()) ?? '';
  await say(cluster, { phase: 'Sailing', aboard: true });
  await say(cluster, { phase: 'Moored' }, [{ type: 'Arrived', status: 'True', reason: 'Colchis', message: 'the fleece is aboard' }]);
  const result = { kind: 'Crew', namespace: NAMESPACE, name: 'argo', uid: crew.metadata.uid, cluster, failed: 0 };
  expect(heard).toContain('Running');
  expect(heard).toContainEqual({ kind: 'Completed', result: expect.objectContaining(result) as unknown });
  expect((await onHome()).metadata.finalizers ?? []).not.toContain(SUBMISSION_FINALIZER);
});

test('a submission whose object is deleted ends with its kind and name', async () => {
  const { source, heard } = oneSubmission({ manifest: manifestOfCrew() });
  await started([], source);
  await world.home.delete(CREWS, KEY);
  await world.clock.advance(30_000);
  expect(heard.at(-1)).toMatchObject({ failure: { reason: 'JobDeleted', message: expect.stringContaining('Crew team/argo') as string } });
  await expect(onHome()).rejects.toThrow(/not found/);
});

test('a submission of a kind that is not taken is refused with those that are', async () => {
  const { source, heard } = oneSubmission(manifestOfCrew({ kind: 'Raft' }));
  await started([], source);
  expect(heard).toEqual([
    'Invalid: apiVersion and kind: are "example.com/v1 Raft", and the manager takes batch/v1 Job, example.com/v1 Crew',
  ]);
});
