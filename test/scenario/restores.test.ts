/** Goal: a cluster that is restored from an older backup, under managers and workers that go on, is taken as it is then. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { crdFiles } from '../../scripts/generate-crds.ts';
import { isNotFound } from '../../shared/kube/api-error.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, EVENTS } from '../../shared/api/resources.ts';
import { createRestorablePlane, type RestorablePlane } from '../support/restorable-plane.ts';
import { createWholeWorld, HOME, type RunningProgram, type WholeWorld } from './whole-world.ts';

let world: WholeWorld;
let planes: Map<string, RestorablePlane>;
let programs: { start: () => RunningProgram; running: RunningProgram; ended: Error[] }[];
beforeEach(async () => {
  planes = new Map();
  programs = [];
  world = await createWholeWorld({
    clusters: ['eu-1'],
    async createPlane(cluster, options) {
      const plane = await createRestorablePlane(options);
      planes.set(cluster, plane);
      return plane;
    },
    install: async (client, cluster) => {
      if (cluster !== HOME) return;
      for (const text of crdFiles().values()) await client.create(CUSTOM_RESOURCE_DEFINITIONS, parse(text) as never);
    },
  });
});
afterEach(() => world.close());

const plane = (cluster: string): RestorablePlane => {
  const found = planes.get(cluster);
  if (found === undefined) throw new Error(`there is no cluster ${cluster}`);
  return found;
};

/** A program that is started again when it ends, as the kubelet does; what it ended with is kept. */
function supervise(start: () => RunningProgram): { readonly ended: Error[] } {
  const program = { start, running: start(), ended: [] };
  programs.push(program);
  return program;
}

/** Lets time pass, second by second. The most pods that ran at once for one Job. */
async function pass(seconds: number): Promise<number> {
  let most = 0;
  for (let passed = 0; passed < seconds; passed++) {
    await world.clock.advance(1_000);
    for (const program of programs) {
      const outcome = program.running.outcome();
      if (!(outcome instanceof Error)) continue;
      program.ended.push(outcome);
      program.running = program.start();
    }
    const perJob = new Map<string, number>();
    for (const { metadata, status } of await world.podsOn('eu-1')) {
      if (status?.phase !== 'Running') continue;
      const job = metadata.labels?.['batch.kubernetes.io/job-name'] ?? '';
      perJob.set(job, (perJob.get(job) ?? 0) + 1);
    }
    most = Math.max(most, ...perJob.values());
  }
  return most;
}

const endOf = async (name: string): Promise<string | undefined> => {
  try {
    const { status } = await world.job(name);
    return status?.conditions?.find((each) => ['Complete', 'Failed'].includes(each.type) && each.status === 'True')?.type;
  } catch (error) {
    if (isNotFound(error)) return 'gone';
    throw error;
  }
};
const namesOn = async (cluster: string): Promise<string[]> => (await world.jobsOn(cluster)).map(({ metadata }) => metadata.name).toSorted();
const readiness = async () => {
  const { status } = await world.home.get(WORKER_CLUSTERS, { namespace: '', name: 'eu-1' });
  return status?.conditions?.find(({ type }) => type === 'Ready');
};

test('a worker cluster that is restored: copies of old go, what ends there is heard, what is lost is made anew, and nothing runs twice', async () => {
  const manager = supervise(() => world.startManager('manager'));
  const worker = supervise(() => world.startWorker('eu-1', 'worker'));
  await pass(5);
  await world.submit('done-since', { seconds: 5 });
  await world.submit('long', { seconds: 60 });
  await pass(4);
  const backup = plane('eu-1').backUp();
  expect(await namesOn('eu-1')).toEqual(['done-since', 'long']);
  await world.submit('made-since', { seconds: 60 });
  await pass(12);
  expect(await endOf('done-since')).toBe('Complete');
  expect(await namesOn('eu-1')).toEqual(['long', 'made-since']);

  const restoredAtMs = world.clock.now();
  await plane('eu-1').restore(backup, 'Broken');
  expect(await namesOn('eu-1')).toEqual(['done-since', 'long']);
  let most = await pass(10);
  expect(await namesOn('eu-1')).not.toContain('done-since');
  most = Math.max(most, await pass(300));
  expect(most).toBe(1);
  expect(await Promise.all(['done-since', 'long', 'made-since'].map(endOf))).toEqual(['Complete', 'Complete', 'Complete']);
  expect(await namesOn('eu-1')).toEqual([]);
  expect(await world.podsOn('eu-1')).toEqual([]);

  // It was not ready while it was listed.
  const ready = await readiness();
  expect(ready).toMatchObject({ status: 'True', reason: 'Connected' });
  expect(Date.parse(ready?.lastTransitionTime ?? '')).toBeGreaterThanOrEqual(restoredAtMs - 1_000);
  const events = (await world.home.list(EVENTS, { namespace: 'default' })).items;
  const told = events
    .filter(({ involvedObject }) => involvedObject.kind === 'WorkerCluster')
    .map(({ reason, message }) => `${reason}: ${message}`);
  expect(told).toEqual([expect.stringMatching(/^Restored: the resourceVersion of jobs went back from \d+ to \d+.*: it is listed anew$/)]);
  expect(manager.ended).toEqual([]);
  expect(worker.ended.map(({ message }) => message)).toEqual(['the cluster went back in time; the worker starts anew']);
});

test('the manager cluster is restored under two managers: they start anew, and everything ends', async () => {
  const managers = ['first', 'second'].map((identity) => supervise(() => world.startManager(identity)));
  supervise(() => world.startWorker('eu-1', 'worker'));
  await pass(5);
  await world.submit('done-since', { seconds: 5 });
  await world.submit('long', { seconds: 60 });
  await pass(4);
  const backup = plane(HOME).backUp();
  await world.submit('made-since', { seconds: 60 });
  await pass(12);
  expect(await endOf('done-since')).toBe('Complete');
  expect(await namesOn('eu-1')).toEqual(['long', 'made-since']);

  await plane(HOME).restore(backup, 'Broken');
  const most = await pass(400);
  expect(most).toBe(1);
  for (const { ended } of managers)
    expect(ended.map(({ message }) => message)).toContain('the manager cluster went back in time; the manager starts anew');
  expect(await Promise.all(['done-since', 'long', 'made-since'].map(endOf))).toEqual(['Complete', 'Complete', 'gone']);
  expect(await namesOn('eu-1')).toEqual([]);
  expect(await world.podsOn('eu-1')).toEqual([]);
});
