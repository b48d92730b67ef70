/**
 * Goal: no pod is counted twice or not at all, and every Job finishes once faults stop, whatever fails in between.
 * Method: a seeded run of pods that start, succeed and fail at random, while a part of the worker's requests is refused, or
 * done with the answer lost, its caches lag, and it is restarted now and then. What the test did to each pod is the truth the
 * statuses are held to. A failing seed is in the test's name.
 */
import { expect, test } from 'vitest';
import { JOB_COMPLETION_INDEX, JOB_TRACKING_FINALIZER } from '../../../../shared/api/names.ts';
import type { JobSpec, Pod } from '../../../../shared/api/kubernetes.ts';
import { type Random, seededRandom } from '../../../../shared/runtime/random.ts';
import { addIndexes, EMPTY_INDEXES, formatIndexes } from '../../../../worker/job/indexes.ts';
import { toWireTime } from '../../../../shared/api/wire-time.ts';
import { createWorld, refusal, type World } from '../worker-world.ts';

const JOBS_UNDER_TEST: Readonly<Record<string, Partial<JobSpec>>> = {
  plain: { completions: 9, parallelism: 3, backoffLimit: 1000 },
  indexed: { completions: 8, parallelism: 4, completionMode: 'Indexed', backoffLimit: 1000 },
  perindex: { completions: 6, parallelism: 6, completionMode: 'Indexed', backoffLimitPerIndex: 1000 },
};
const FAULTS = [
  refusal(500, 'InternalError', 'the server is not well'),
  refusal(409, 'Conflict', 'the object has been modified'),
  refusal(503, 'ServiceUnavailable', 'come back later'),
];

type Truth = { succeeded: number; failed: number; readonly indexes: number[] };

async function live(world: World, random: Random, truths: Map<string, Truth>, failureRate: number): Promise<void> {
  for (const pod of await world.pods()) {
    if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed' || random() > 0.4) continue;
    if (pod.status?.phase === 'Pending' && random() < 0.5) await world.setPod(pod, { phase: 'Running' });
    else await end(world, pod, truths, random() < failureRate ? 'Failed' : 'Succeeded');
  }
}

async function end(world: World, pod: Pod, truths: Map<string, Truth>, phase: 'Succeeded' | 'Failed'): Promise<void> {
  const terminated = { exitCode: phase === 'Failed' ? 1 : 0, finishedAt: toWireTime(world.clock.now()) };
  await world.setPod(pod, {
    phase,
    containerStatuses: [{ name: 'main', image: 'i', imageID: '', ready: false, restartCount: 0, state: { terminated } }],
  });
  const truth = truths.get(pod.metadata.labels?.['job-name'] ?? '');
  // A pod that was removed as surplus is not counted any more.
  if (truth === undefined || !pod.metadata.finalizers?.includes(JOB_TRACKING_FINALIZER)) return;
  if (phase === 'Failed') truth.failed++;
  else {
    truth.succeeded++;
    const index = pod.metadata.annotations?.[JOB_COMPLETION_INDEX];
    if (index !== undefined) truth.indexes.push(Number(index));
  }
}

test.each(Array.from({ length: 12 }, (_, position) => position + 1))('seed %d', async (seed) => {
  const random = seededRandom(seed);
  const world = await createWorld();
  const truths = new Map(Object.keys(JOBS_UNDER_TEST).map((name): [string, Truth] => [name, { succeeded: 0, failed: 0, indexes: [] }]));
  const someFault = () => (random() < 0.15 ? FAULTS[Math.floor(random() * FAULTS.length)] : undefined);
  for (const [name, spec] of Object.entries(JOBS_UNDER_TEST)) await world.createJob(spec, name);
  world.fault = someFault;
  world.lostAnswer = someFault;
  for (let step = 0; step < 25; step++) {
    await world.pass(1 + Math.floor(random() * 3));
    await live(world, random, truths, 0.3);
    if (random() < 0.1) await world.restart();
    world.hold(...(['jobs', 'pods'] as const).filter(() => random() < 0.2));
  }
  world.fault = undefined;
  world.lostAnswer = undefined;
  world.hold();
  for (let step = 0; step < 40; step++) {
    await world.clock.advance(60_000);
    await live(world, random, truths, 0);
  }
  for (const [name, truth] of truths) {
    const status = await world.status(name);
    expect(
      status.conditions?.map(({ type }) => type),
      name,
    ).toEqual(['SuccessCriteriaMet', 'Complete']);
    expect([status.failed ?? 0, status.uncountedTerminatedPods], name).toEqual([truth.failed, {}]);
    if (name === 'plain') expect(status.succeeded).toBe(truth.succeeded);
    else expect(status.completedIndexes).toBe(formatIndexes(addIndexes(EMPTY_INDEXES, truth.indexes)));
  }
  for (const pod of await world.pods()) expect(pod.metadata.finalizers ?? [], pod.metadata.name).toEqual([]);
  await world.stop();
});
