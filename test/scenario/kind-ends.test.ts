/**
 * Goal: of the pods of an object of a described kind is kept what is kept of those of a Job: how each ended, and the end of its log, on the
 * object, in its history, and when its copy is long gone; whoever says what, and whenever a program dies.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createHistory, type History } from '../../manager/history/history.ts';
import type { KeyValueStore } from '../../manager/history/key-value-store.ts';
import { openSqliteStore } from '../../manager/history/sqlite-store.ts';
import { readLastFailure } from '../../manager/api/last-failure.ts';
import { parseEndedPods, type EndedPod } from '../../shared/api/ended-pods.ts';
import type { Job, Pod, Unsaved, WorkObject } from '../../shared/api/kubernetes.ts';
import { logTailsName } from '../../shared/api/log-tails.ts';
import {
  ENDED_PODS_ANNOTATION,
  KEEP_LOGS_LABEL,
  SIMULATE_DURATION_ANNOTATION,
  SIMULATE_EXIT_CODE_ANNOTATION,
  WORKER_CONTROLLER_NAME,
} from '../../shared/api/names.ts';
import { CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS, JOBS, NAMESPACES, PODS } from '../../shared/api/resources.ts';
import { isNotFound } from '../../shared/kube/api-error.ts';
import { isFinished } from '../../shared/kube/conditions.ts';
import { createCrds } from '../support/crds.ts';
import { aCrew, aCrewKind, CREW_DEFINITION, CREWS } from '../unit/manager/work-kind/described/described.ts';
import { createWholeWorld, HOME, NAMESPACE, type RunningProgram, type WholeWorld } from './whole-world.ts';

const KEY = { namespace: NAMESPACE, name: 'argo' };
const LIMITS = { ageMs: 1e12, bytesMax: 1e9 };
const LOG = 'rowing\nthe oar broke\n';

let world: WholeWorld;
let store: KeyValueStore;
let history: History;
let worker: RunningProgram;
beforeEach(async () => {
  store = openSqliteStore(':memory:');
  history = createHistory(store);
  world = await createWholeWorld({
    clusters: ['east'],
    async install(client, cluster) {
      if (cluster === HOME) await createCrds(client);
      await client.create(CUSTOM_RESOURCE_DEFINITIONS, CREW_DEFINITION as never);
    },
  });
  worker = startWorker('one');
  world.startManager('manager', { parts: { kinds: [aCrewKind()], history: { store, limits: LIMITS } } });
  await world.clock.advance(30_000);
});
afterEach(async () => {
  await world.close();
  await store.close();
});

const startWorker = (identity: string): RunningProgram => world.startWorker('east', identity, { fenceAfterMs: 60_000, podLogs: LOG });

async function sail(labels: Record<string, string> = {}): Promise<void> {
  const { apiVersion, kind, spec, metadata } = aCrew();
  const policy = { suspend: true, managedBy: 'example.com/elsewhere' };
  const crew = { apiVersion, kind, metadata: { ...KEY, labels: { ...metadata.labels, ...labels } }, spec: { ...spec, policy } };
  await world.home.create(CREWS, crew as Unsaved<WorkObject>);
  await world.clock.advance(5_000);
  await say({ phase: 'Sailing', aboard: true });
}

const east = () => world.client('east');
const copy = (): Promise<WorkObject> => east().get(CREWS, KEY);
const isGone = async (): Promise<boolean> =>
  copy().then(
    () => false,
    (error: unknown) => isNotFound(error),
  );

/** What its operator says, without time going on. */
async function say(status: object, ...types: readonly string[]): Promise<void> {
  const lastTransitionTime = new Date(world.clock.now()).toISOString().replace(/\.\d+Z/, 'Z');
  const conditions = types.map((type) => ({ type, status: 'True', reason: 'Storm', message: '', lastTransitionTime }));
  await east().patchStatus(CREWS, KEY, { type: 'merge', body: { status: { ...status, conditions } } });
}

type PodParts = { readonly exitCode?: number; readonly keepsEnvironment?: boolean; readonly namespace?: string; readonly seconds?: number };
async function podOf(name: string, { exitCode = 0, keepsEnvironment = true, namespace = NAMESPACE, seconds = 1 }: PodParts = {}) {
  const { metadata, spec } = await copy();
  const { captain } = spec as { readonly captain: { readonly spec: Pod['spec'] } };
  const containers = captain.spec.containers.map(({ env, ...container }) => ({ ...container, ...(keepsEnvironment ? { env } : {}) }));
  const annotations = { [SIMULATE_DURATION_ANNOTATION]: `${seconds}s`, [SIMULATE_EXIT_CODE_ANNOTATION]: String(exitCode) };
  const controller = { apiVersion: 'example.com/v1', kind: 'Crew', name: 'argo', uid: metadata.uid, controller: true };
  const named = { namespace, name, annotations, labels: { 'example.com/crew': 'argo' }, ownerReferences: [controller] };
  return { metadata: named, spec: { ...captain.spec, containers, nodeName: 'node-1' } };
}
/** A pod of the crew, as its operator makes it of the template of its copy. */
async function board(name: string, parts: PodParts = {}): Promise<void> {
  await east().create(PODS, (await podOf(name, parts)) as Unsaved<Pod>);
}

const told = async (): Promise<readonly EndedPod[]> => parseEndedPods((await copy()).metadata.annotations?.[ENDED_PODS_ANNOTATION]);
const failed = (pod: string, exitCode: number): object => ({ pod, phase: 'Failed', exitCode, lastLine: 'the oar broke', tail: true });
async function kept(): Promise<{ readonly pods: readonly EndedPod[]; readonly tail: string | undefined } | undefined> {
  const [record] = await history.query({ namespace: NAMESPACE, limit: 1 });
  const [ofCopy] = record === undefined ? [] : await history.podsOf(record.uid);
  const pod = ofCopy?.pods.find(({ tail }) => tail === true)?.pod;
  return ofCopy && { pods: ofCopy.pods, tail: pod === undefined ? undefined : await history.tail(record!.uid, ofCopy.copyUid, pod) };
}

test('the end of a pod, with the last line of its log, stands on the copy, on the object and in its history when it has failed', async () => {
  await sail();
  await board('argo-oars', { exitCode: 3 });
  await board('argo-captain', { seconds: 3_600 });
  await world.clock.advance(2_000);
  // Its operator fails it in the same moment.
  await say({ phase: 'Moored' }, 'Sunk');
  await world.clock.advance(10_000);
  expect(await isGone()).toBe(true);
  const home = await world.home.get(CREWS, KEY);
  expect(isFinished(home.status)).toBe(true);
  expect(readLastFailure(home)).toMatchObject({ pod: 'argo-oars', cluster: 'east', exitCode: 3, lastLine: 'the oar broke' });
  expect(await kept()).toMatchObject({ pods: [failed('argo-oars', 3)], tail: LOG });
});

test('also where the operator says the end before the worker has seen the pod end', async () => {
  await sail();
  await board('argo-oars', { exitCode: 3, seconds: 2 });
  await world.clock.advance(1_000);
  await say({ phase: 'Moored' }, 'Sunk');
  await world.clock.advance(10_000);
  expect(readLastFailure(await world.home.get(CREWS, KEY))).toMatchObject({ pod: 'argo-oars', exitCode: 3 });
  expect(await kept()).toMatchObject({ pods: [failed('argo-oars', 3)], tail: LOG });
});

test('those that do not say whose they are are found by the labels of the description, and those of child Jobs by their Job', async () => {
  await sail();
  await board('argo-bare', { exitCode: 4, keepsEnvironment: false });
  const { spec, metadata } = await podOf('template', { exitCode: 5 });
  const { name: _name, namespace: _namespace, ownerReferences, ...template } = metadata;
  const { nodeName: _node, ...podSpec } = spec;
  const job = {
    metadata: { namespace: NAMESPACE, name: 'argo-deck', ownerReferences },
    spec: {
      managedBy: WORKER_CONTROLLER_NAME,
      backoffLimit: 0,
      template: { metadata: { annotations: template.annotations }, spec: podSpec },
    },
  };
  await east().create(JOBS, job as unknown as Unsaved<Job>);
  await world.clock.advance(10_000);
  const names = (await told()).map(({ pod, phase, exitCode }) => `${pod.replace(/-\w{5}$/, '')} ${phase} ${exitCode}`);
  expect(names.toSorted()).toEqual(['argo-bare Failed 4', 'argo-deck Failed 5']);
});

test('pods that succeed are told in few writes, without their logs unless the object asks for them', async () => {
  await sail();
  for (let k = 0; k < 20; k++) await board(`argo-${k}`);
  const before = worker.line.sent.length;
  await world.clock.advance(5_000);
  const sent = worker.line.sent.slice(before).map(({ verb, resource }) => `${verb} ${resource}`);
  expect(sent.filter((each) => /crews|configmaps|pods/.test(each))).toEqual(['patch example.com/crews']);
  expect((await told()).map(({ phase, tail }) => [phase, tail])).toEqual(Array(10).fill(['Succeeded', undefined]));
});

test.each([
  ['All', ['argo-captain true', 'argo-oars true']],
  ['None', ['argo-captain undefined', 'argo-oars undefined']],
])('with keep-logs: %s the logs of %j are kept', async (wish, tails) => {
  await sail({ [KEEP_LOGS_LABEL]: wish });
  await board('argo-captain');
  await board('argo-oars', { exitCode: 3 });
  await world.clock.advance(5_000);
  expect((await told()).map(({ pod, tail }) => `${pod} ${tail}`).toSorted()).toEqual(tails);
});

test('a pod that its operator stops has not failed, and its log is read before it goes', async () => {
  await sail();
  await board('argo-captain', { seconds: 3_600 });
  await world.clock.advance(2_000);
  await east().delete(PODS, { namespace: NAMESPACE, name: 'argo-captain' });
  await world.clock.advance(5_000);
  expect(await told()).toMatchObject([{ pod: 'argo-captain', phase: 'Stopped' }]);
});

test('a pod that is gone before anybody could read its log is told without it', async () => {
  await sail();
  await board('argo-oars', { exitCode: 3, seconds: 3_600 });
  await world.clock.advance(2_000);
  await east().delete(PODS, { namespace: NAMESPACE, name: 'argo-oars' }, { gracePeriodSeconds: 0 });
  await world.clock.advance(5_000);
  expect(await told()).toMatchObject([{ pod: 'argo-oars', phase: 'Stopped' }]);
});

test('an object that succeeds ends at home at once, and how its last pods ended is in its history all the same', async () => {
  await sail();
  await board('argo-captain');
  await world.clock.advance(1_000);
  await say({ phase: 'Moored' }, 'Arrived');
  await world.clock.advance(500);
  expect(isFinished((await world.home.get(CREWS, KEY)).status)).toBe(true);
  await world.clock.advance(10_000);
  expect(await isGone()).toBe(true);
  expect((await kept())?.pods).toMatchObject([{ pod: 'argo-captain', phase: 'Succeeded', exitCode: 0 }]);
});

test('a worker that is started anew tells nothing twice, reads no log twice, and leaves what is kept of copies that are there', async () => {
  await sail();
  await board('argo-oars', { exitCode: 3 });
  await world.clock.advance(5_000);
  const { metadata } = await copy();
  worker.kill();
  worker = startWorker('two');
  await world.clock.advance(180_000);
  const { sent } = worker.line;
  expect(sent.filter(({ path }) => path.includes('/log'))).toEqual([]);
  expect(sent.filter(({ verb, resource }) => verb === 'patch' && resource.includes('crews'))).toEqual([]);
  await board('argo-deck', { exitCode: 6 });
  await world.clock.advance(5_000);
  expect(await told()).toMatchObject([failed('argo-oars', 3), failed('argo-deck', 6)]);
  const tails = await east().get(CONFIG_MAPS, { namespace: 'kube-system', name: logTailsName(metadata.uid) });
  expect(Object.keys(tails.binaryData ?? {}).toSorted()).toEqual(['argo-deck', 'argo-oars']);
});

test('what is kept on the cluster goes with the copy, also where it went while no worker was there', async () => {
  await sail();
  await board('argo-oars', { exitCode: 3 });
  await world.clock.advance(5_000);
  worker.kill();
  await say({ phase: 'Moored' }, 'Sunk');
  await world.clock.advance(30_000);
  const ofCopies = async (): Promise<number> =>
    (await east().list(CONFIG_MAPS, { namespace: 'kube-system' })).items.filter(({ metadata }) =>
      metadata.name.startsWith('switchyard-logs-'),
    ).length;
  expect([await isGone(), await ofCopies()]).toEqual([true, 1]);
  startWorker('two');
  await world.clock.advance(180_000);
  expect(await ofCopies()).toBe(0);
});

describe('who may create pods', () => {
  test('in another namespace does not speak for the copy, whatever their pods say', async () => {
    await sail();
    await east().create(NAMESPACES, { metadata: { name: 'elsewhere' } });
    await board('forged', { exitCode: 9, namespace: 'elsewhere' });
    await world.clock.advance(5_000);
    expect(await told()).toEqual([]);
  });
});
