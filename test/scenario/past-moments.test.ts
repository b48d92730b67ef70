/**
 * Goal: the dashboard shows a Job at each past moment as it was then, whatever has become of it since: while it waited, ran, was preempted,
 * held and moved, also after a restart of the manager.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { earlierOf, pastOf, stateAt } from '../../manager/api/past-admissions.ts';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { WORKLOAD_PRIORITY_CLASSES } from '../../manager/api/workload-priority-class.ts';
import { JOB_KIND } from '../../manager/work-kind/job/job-kind.ts';
import { jobLine } from '../../manager/dashboard/job-line.ts';
import { HOLD_ANNOTATION, PRIORITY_CLASS_LABEL } from '../../shared/api/names.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { createAdmissionWorld, NAMESPACE, type AdmissionWorld } from './admission-world.ts';

let world: AdmissionWorld;
beforeEach(async () => {
  world = await createAdmissionWorld();
  for (const [name, value] of [
    ['high', 100],
    ['low', -100],
  ] as const)
    await world.client.create(WORKLOAD_PRIORITY_CLASSES, { metadata: { name }, value });
  await world.flavor('default');
  await world.queue('main', { cpu: '1', spec: { preemption: { withinClusterQueue: 'LowerPriority' } } });
  for (const name of ['eu-1', 'us-2']) await world.cluster(name);
});
afterEach(() => world.close());

const job = (name: string, priority: string) => world.job(name, { labels: { [PRIORITY_CLASS_LABEL]: priority } });
const hold = (value: 'true' | null) =>
  world.client.patch(
    JOBS,
    { namespace: NAMESPACE, name: 'low' },
    { type: 'merge', body: { metadata: { annotations: { [HOLD_ANNOTATION]: value } } } },
  );

test('a Job that was preempted, resumed, held and moved is told at each moment as it was', async () => {
  const seen: { readonly atMs: number; readonly was: string }[] = [];
  const whereIsIt = async (): Promise<string> =>
    (await world.running()).includes('low') ? ((await world.record('low'))?.cluster ?? '') : 'at rest';
  /** What is done, and what is so ten seconds later and a minute later. */
  const then = async (act: () => Promise<unknown>): Promise<void> => {
    await act();
    for (const ms of [10_000, 50_000]) {
      await world.settle(ms);
      seen.push({ atMs: world.clock.now(), was: await whereIsIt() });
    }
    // What is told is true to the second.
    await world.settle(2_000);
  };
  await then(() => job('low', 'low'));
  await then(() => job('high', 'high'));
  await then(() => world.rest('low'));
  await then(() => world.finish('high'));
  await then(() => hold('true'));
  await then(() => world.rest('low'));
  await then(() => world.restart());
  const first = (await world.record('low'))?.cluster ?? '';
  await world.client.patch(WORKER_CLUSTERS, { namespace: '', name: first }, { type: 'merge', body: { spec: { state: 'Cordoned' } } });
  await then(() => hold(null));
  await then(() => world.finish('low'));

  const ended = await world.getJob('low');
  const line = jobLine(ended, JOB_KIND);
  const record = await world.record('low');
  if (line?.endedMs === undefined) throw new Error('it has not ended');
  const { endedMs } = line;
  const past = pastOf(line, earlierOf(ended, record));
  const shown = seen.map(({ atMs }) => {
    const state = stateAt(past, atMs);
    return atMs < endedMs && state.kind === 'Admitted' ? state.admission.cluster : 'at rest';
  });
  expect(shown).toEqual(seen.map(({ was }) => was));
  // All of that has happened.
  const [other] = ['eu-1', 'us-2'].filter((name) => name !== first);
  expect(shown.filter((each, index) => each !== shown[index - 1])).toEqual([first, 'at rest', first, 'at rest', other, 'at rest']);
  expect(past.unknownUntilMs).toBeUndefined();
});
