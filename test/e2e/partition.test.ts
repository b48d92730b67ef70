/**
 * Goal: of a Job one copy runs, whatever breaks between the manager and its clusters; shown with real programs in real time, by the signs
 * of life of the Job's own processes and by every pod that the clusters tell of. Takes minutes: runs with SWITCHYARD_SLOW=1. Every other
 * situation is played on a clock that stands still (test/unit/worker/fence, test/scenario, npm run simulate -- --world dispatch).
 */
import { afterEach, describe, expect, onTestFailed, test } from 'vitest';
import type { Job } from '../../shared/api/kubernetes.ts';
import { writtenRecordOf } from '../../manager/api/records.ts';
import { CLUSTER_LABEL, SIMULATE_DURATION_ANNOTATION } from '../../shared/api/names.ts';
import { findCondition, hasTrueCondition } from '../../shared/kube/conditions.ts';
import { sleep, systemClock } from '../../shared/runtime/clock.ts';
import {
  FENCE_SECONDS,
  GRACE_SECONDS,
  LOST_SECONDS,
  type PartitionWorld,
  startPartitionWorld,
  WORKERS,
  type WorkerSide,
} from './partition-world.ts';
import { overlaps, type PodLife, type Run } from './run-recorder.ts';
import { isSlow } from '../support/slow.ts';

const TEST_LIMIT_MS = 900_000;
/** How long something is waited for that comes by itself, beyond the time that it takes at least. */
const PATIENCE_MS = 180_000;
const patience = (seconds = 0) => ({ timeout: seconds * 1000 + PATIENCE_MS, interval: 100 });

/** On a machine that has little time to spare. */
const AT_ONCE_MS = 30_000;

/** A worker that is gone does not renew its Lease, and counts as gone when its time is over. */
const WORKER_LEASE_SECONDS = 40;
/** Its Jobs say so after this time. */
const ABSENCE_SECONDS = 60;
/**
 * A copy that vanished is made again after this time and the grace period of its pods; whether these have ended is looked at every ten
 * seconds.
 */
const COPY_GONE_SECONDS = 20 + GRACE_SECONDS;
/** Shorter than the fence. */
const BLIP_SECONDS = 5;

let world: PartitionWorld;
afterEach(() => world?.[Symbol.asyncDispose]());

async function start(onClusterLost: 'Requeue' | 'Wait'): Promise<void> {
  world = await startPartitionWorld(onClusterLost);
  onTestFailed(() => console.error(world.said()));
}

const placement = (job: Job): string | undefined => {
  const written = writtenRecordOf(job);
  return written.kind === 'Record' ? `${written.record.cluster} ${written.record.epoch}` : undefined;
};
const placementOf = async (name: string): Promise<string | undefined> => placement(await world.job(name));
const clusterLabelOf = async (name: string): Promise<string | undefined> => (await world.job(name)).metadata.labels?.[CLUSTER_LABEL];
const told = async (name: string): Promise<string> =>
  findCondition((await world.job(name)).status?.conditions, 'Dispatched')?.message ?? '';
const clusterState = async (name: string): Promise<{ readonly ready: boolean; readonly lostSince: string | undefined }> => {
  const { status } = await world.cluster(name);
  return { ready: hasTrueCondition(status?.conditions, 'Ready'), lostSince: status?.lostSince };
};
const reasonOf = async (name: string, type: 'Able' | 'Ready' | 'WorkerAlive'): Promise<string> => {
  const condition = findCondition((await world.cluster(name)).status?.conditions, type);
  return `${condition?.status} ${condition?.reason}`;
};
const fencedOf = async (side: WorkerSide): Promise<string | undefined> =>
  findCondition((await side.copy('sum'))?.status?.conditions, 'Fenced')?.status;
const isComplete = async (name: string): Promise<boolean> => hasTrueCondition((await world.job(name)).status?.conditions, 'Complete');

/** Signs of life that are younger than this are those of a process that runs. */
const FRESH_MS = 2_000;
const running = (name: string): readonly Run[] => world.recorder.runs(name).filter(({ lastMs }) => Date.now() - lastMs < FRESH_MS);
const pidsOf = (runs: readonly Run[]): number[] => runs.map(({ pid }) => pid);
const epochsRunning = (name: string): number[] => running(name).map(({ epoch }) => epoch);

const podsOf = (epoch: number): readonly PodLife[] => world.recorder.pods('sum').filter((pod) => pod.epoch === epoch);

/** The Job runs on one of the clusters, and the other one would take it, too. */
async function run(name: string): Promise<{ readonly here: WorkerSide; readonly there: WorkerSide }> {
  await world.submit(name);
  await expect.poll(() => epochsRunning(name), patience()).toEqual([1]);
  const label = await clusterLabelOf(name);
  const [here = '', there = ''] = [...WORKERS.filter((each) => each === label), ...WORKERS.filter((each) => each !== label)];
  expect(await placementOf(name)).toBe(`${here} 1`);
  return { here: world.side(here), there: world.side(there) };
}

/** At no time two, on all clusters together: no process of it ran beside another, and no pod was there while there was another. */
function expectOneAtATime(name: string): void {
  expect(overlaps(world.recorder.runs(name))).toEqual([]);
  expect(world.recorder.mostPodsAtOnce(name), JSON.stringify(world.recorder.pods(name))).toBe(1);
}

describe.runIf(isSlow)('a worker cluster that is out of reach', { timeout: TEST_LIMIT_MS }, () => {
  test.each([
    ['nothing comes through to it, nor from it', 'Both'],
    ['what the manager asks arrives there, and no answer comes back', 'Answers'],
  ] as const)('%s: its worker stops the Job, it runs elsewhere, and the cluster is of use when it is back', async (_what, direction) => {
    await start('Requeue');
    const { here, there } = await run('sum');
    here.wire.cut(direction);
    await expect.poll(async () => (await clusterState(here.name)).lostSince, patience()).toBeDefined();

    // By itself: nobody but its worker and its control plane is there.
    await expect.poll(() => here.isFenced(), patience(FENCE_SECONDS)).toBe(true);
    await expect.poll(() => epochsRunning('sum'), patience(GRACE_SECONDS)).not.toContain(1);
    await expect
      .poll(async () => findCondition((await here.copy('sum'))?.status?.conditions, 'Fenced'), patience())
      .toMatchObject({ status: 'True', reason: 'ManagerOutOfReach' });

    await expect.poll(() => epochsRunning('sum'), patience(LOST_SECONDS)).toEqual([2]);
    expect(await placementOf('sum')).toBe(`${there.name} 2`);
    expect(await clusterLabelOf('sum')).toBe(there.name);
    expect((await here.copy('sum'))?.spec.suspend).toBe(false);

    const { lostSince = '' } = await clusterState(here.name);
    // In whole seconds.
    expect(await here.renewedMs()).toBeLessThan(Date.parse(lostSince) + 1_000);

    here.wire.mend();
    await expect.poll(() => here.copy('sum'), patience()).toBeUndefined();
    await expect.poll(() => clusterState(here.name), patience()).toEqual({ ready: true, lostSince: undefined });
    await expect.poll(() => here.isFenced(), patience()).toBe(false);
    await world.submit('next', { clusters: here.name, command: ['true'] });
    await expect.poll(() => isComplete('next'), patience()).toBe(true);

    world.recorder.finish('sum');
    await expect.poll(() => isComplete('sum'), patience()).toBe(true);
    expect(new Set(world.recorder.runs('sum').map(({ epoch }) => epoch))).toEqual(new Set([1, 2]));
    expectOneAtATime('sum');
  });
});

/**
 * A control plane that does nothing for a while, with its connections open: nobody can have its pods stopped, and kubelets go on with what
 * they run. No fence helps there (docs/fencing.md, What it cannot do).
 */
describe.runIf(isSlow)('a control plane that is paused', { timeout: TEST_LIMIT_MS }, () => {
  test('with onClusterLost: Wait the Job runs on there, does not move, and goes on there when it is back', async () => {
    await start('Wait');
    const { here } = await run('sum');
    const before = pidsOf(running('sum'));
    here.plane.pause();
    await expect.poll(async () => (await clusterState(here.name)).lostSince, patience()).toBeDefined();
    await expect.poll(() => told('sum'), patience()).toContain('it is not moved: its ClusterQueue has it wait (onClusterLost: Wait)');
    await expect.poll(() => here.isFenced(), patience(FENCE_SECONDS)).toBe(true);
    // For longer than after which it would have moved.
    await sleep(systemClock, (LOST_SECONDS + FENCE_SECONDS) * 1000);
    expect(pidsOf(running('sum'))).toEqual(before);
    expect(await placementOf('sum')).toBe(`${here.name} 1`);

    // Its worker now does what it could not do: the pod makes room for another one, there.
    here.plane.resume();
    await expect.poll(() => pidsOf(running('sum')).filter((pid) => !before.includes(pid)), patience()).toHaveLength(1);
    await expect.poll(() => clusterState(here.name), patience()).toEqual({ ready: true, lostSince: undefined });
    await expect.poll(() => here.isFenced(), patience()).toBe(false);
    expect(new Set(world.recorder.runs('sum').map(({ epoch }) => epoch))).toEqual(new Set([1]));
    world.recorder.finish('sum');
    await expect.poll(() => isComplete('sum'), patience()).toBe(true);
    expect(await placementOf('sum')).toBe(`${here.name} 1`);
    expectOneAtATime('sum');
  });

  test('with its node, onClusterLost: Requeue: the Job moves; when both are back the old pod ends at once and no other is made there', async () => {
    await start('Requeue');
    // Imagined pods stop with the process that imagines them, as on a machine that is paused.
    await world.submit('sum', { podAnnotations: { [SIMULATE_DURATION_ANNOTATION]: '1h' } });
    await expect.poll(() => podsOf(1), patience()).toMatchObject([{ hasStarted: true }]);
    const cluster = podsOf(1)[0]?.cluster ?? '';
    const here = world.side(cluster);
    here.plane.pause();
    await expect.poll(() => podsOf(2), patience(LOST_SECONDS)).toMatchObject([{ hasStarted: true }]);
    expect(await placementOf('sum')).toBe(`${WORKERS.find((name) => name !== cluster)} 2`);
    expect(podsOf(1)).toMatchObject([{ endingMs: undefined, untilMs: undefined }]);

    // From here until it has ended the old pod is there beside the new one: whoever froze it froze also those who would have ended it.
    here.plane.resume();
    const resumedMs = Date.now();
    await expect.poll(() => podsOf(1)[0]?.untilMs, patience()).toBeDefined();
    expect((podsOf(1)[0]?.untilMs ?? Number.NaN) - resumedMs).toBeLessThan(AT_ONCE_MS);
    await expect.poll(() => here.copy('sum'), patience()).toBeUndefined();
    await expect.poll(() => clusterState(here.name), patience()).toEqual({ ready: true, lostSince: undefined });
    await expect.poll(() => here.isFenced(), patience()).toBe(false);
    expect(podsOf(1)).toHaveLength(1);
    expect(podsOf(2)).toMatchObject([{ endingMs: undefined, untilMs: undefined }]);
  });
});

describe.runIf(isSlow)('a cluster whose worker is gone', { timeout: TEST_LIMIT_MS }, () => {
  test('the worker is killed for good: the Job says so, stays while its pod runs, and moves once a user has deleted the copy and the pod has ended', async () => {
    await start('Requeue');
    const { here, there } = await run('sum');
    const before = pidsOf(running('sum'));
    await here.killWorker();
    await expect.poll(() => reasonOf(here.name, 'WorkerAlive'), patience(WORKER_LEASE_SECONDS)).toMatch(/^False /);
    expect((await clusterState(here.name)).ready).toBe(false);
    await expect.poll(() => told('sum'), patience(ABSENCE_SECONDS)).toContain(`no worker runs it on cluster "${here.name}"`);
    expect(await told('sum')).toContain('It goes on once there is one');
    expect(await told('sum')).toContain('kubectl delete job -n team sum --cascade=background');

    await world.drain(here.name);
    await expect.poll(async () => (await here.copy('sum'))?.spec.suspend, patience()).toBe(true);
    await sleep(systemClock, LOST_SECONDS * 1000);
    expect(pidsOf(running('sum'))).toEqual(before);
    expect([await placementOf('sum'), await there.copy('sum')]).toEqual([`${here.name} 1`, undefined]);
    expect(await told('sum')).toContain('kubectl delete job -n team sum --cascade=background');

    await here.deleteCopy('sum', 'Background');
    await expect.poll(() => epochsRunning('sum'), patience(COPY_GONE_SECONDS)).toEqual([2]);
    expect(await placementOf('sum')).toBe(`${there.name} 2`);
    // Nobody is there to take the finalizer off the pod by which its Job controller counts it.
    expect(await here.pods('sum')).toMatchObject([
      { metadata: { finalizers: ['batch.kubernetes.io/job-tracking'] }, status: { phase: 'Failed' } },
    ]);
    world.recorder.finish('sum');
    await expect.poll(() => isComplete('sum'), patience()).toBe(true);
    expectOneAtATime('sum');
  });

  test.each(['10m', '0'])(
    'the worker is restarted with --fence-after=%s while its manager is out of reach: the fence of before binds',
    async (fenceAfter) => {
      await start('Requeue');
      const { here, there } = await run('sum');
      const replaceWorker = await here.nextWorker(fenceAfter);
      here.wire.cut();
      await replaceWorker();
      await expect.poll(() => fencedOf(here), patience(FENCE_SECONDS)).toBe('True');
      await expect.poll(() => epochsRunning('sum'), patience(GRACE_SECONDS)).not.toContain(1);
      await expect.poll(() => epochsRunning('sum'), patience(LOST_SECONDS)).toEqual([2]);
      expect(await placementOf('sum')).toBe(`${there.name} 2`);
      expect((await world.cluster(here.name)).status?.worker?.fenceAfterSeconds).toBe(FENCE_SECONDS);

      here.wire.mend();
      await expect.poll(() => here.copy('sum'), patience()).toBeUndefined();
      await expect
        .poll(async () => (await world.cluster(here.name)).status?.worker?.fenceAfterSeconds, patience())
        .toBe(fenceAfter === '0' ? 0 : 600);
      await world.submit('next', { clusters: here.name, command: ['true'] });
      await expect.poll(() => isComplete('next'), patience()).toBe(true);
      world.recorder.finish('sum');
      await expect.poll(() => isComplete('sum'), patience()).toBe(true);
      expectOneAtATime('sum');
    },
  );
});

describe.runIf(isSlow)('a copy that is deleted without its pods', { timeout: TEST_LIMIT_MS }, () => {
  test('no other pod is made, there or elsewhere, before its process has ended; the Job says which pod it is, and then runs again', async () => {
    await start('Requeue');
    const { here, there } = await run('sum');
    const before = pidsOf(running('sum'));
    await here.deleteCopy('sum', 'Orphan');
    await expect.poll(() => told('sum'), patience()).toContain('pods of it are still there');
    // The pods are looked at several times meanwhile.
    await sleep(systemClock, LOST_SECONDS * 1000);
    expect(pidsOf(running('sum'))).toEqual(before);
    expect(await Promise.all([here, there].map((side) => side.copy('sum')))).toEqual([undefined, undefined]);
    expect(world.recorder.pods('sum')).toHaveLength(1);

    const [, pod = ''] = /kubectl delete pod -n team (\S+)$/.exec(await told('sum')) ?? [];
    await here.deletePod(pod);
    await expect.poll(() => pidsOf(running('sum')).filter((pid) => !before.includes(pid)), patience(COPY_GONE_SECONDS)).toHaveLength(1);
    world.recorder.finish('sum');
    await expect.poll(() => isComplete('sum'), patience()).toBe(true);
    expect(world.recorder.pods('sum')).toHaveLength(2);
    expectOneAtATime('sum');
  });
});

describe.runIf(isSlow)('a worker cluster that comes and goes', { timeout: TEST_LIMIT_MS }, () => {
  test('whose fence trips again and again takes no Jobs, and the Job that it stopped each time ends on the other cluster', async () => {
    await start('Requeue');
    const { here, there } = await run('sum');
    const isUnsteady = async (): Promise<boolean> => (await reasonOf(here.name, 'Able')) === 'False Unsteady';
    while (!(await isUnsteady())) {
      here.wire.cut();
      await sleep(systemClock, BLIP_SECONDS * 1000);
      here.wire.mend();
      await sleep(systemClock, BLIP_SECONDS * 1000);
      here.wire.cut();
      await expect.poll(async () => (await fencedOf(here)) === 'True' || (await isUnsteady()), patience(FENCE_SECONDS)).toBe(true);
      here.wire.mend();
      await expect.poll(async () => (await fencedOf(here)) !== 'True' || (await isUnsteady()), patience()).toBe(true);
    }
    await expect.poll(() => epochsRunning('sum'), patience()).toEqual([2]);
    expect(await placementOf('sum')).toBe(`${there.name} 2`);
    world.recorder.finish('sum');
    await expect.poll(() => isComplete('sum'), patience()).toBe(true);
    expect(await placementOf('sum')).toBe(`${there.name} 2`);
    expectOneAtATime('sum');
  });
});
