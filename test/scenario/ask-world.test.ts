/** Questions about all that waits, answered by a real thread beside the manager's. */
import { afterEach, expect, test } from 'vitest';
import { createSimulationClient, type SimulationClient } from '../../manager/insight/questions/simulation-client.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { JOB_KIND } from '../../manager/work-kind/job/job-kind.ts';
import { createKinds } from '../../manager/work-kind/kinds.ts';
import { qualifiedName, qualifierOf } from '../../manager/work-kind/qualified-name.ts';
import type { Job } from '../../shared/api/kubernetes.ts';
import { aCrew, aCrewKind } from '../unit/manager/work-kind/described/described.ts';
import { aJobOf, theWorld } from '../unit/manager/world-of-jobs.ts';

let world: SimulationClient;
afterEach(() => world.close());

test('a thousand Jobs are explained and put in order elsewhere, and the next question is about what there is then', async () => {
  const jobs = Array.from({ length: 1_000 }, (_, number) => aJobOf(`job-${number}`, number));
  world = createSimulationClient({ kind: JOB_KIND, objects: () => theWorld(jobs), flags: {}, clock: systemClock, log: silentLogger });
  const [explained, ordered] = await Promise.all([
    world.ask({ kind: 'Explain', uid: 'uid-job-999' }),
    world.ask({ kind: 'Order', clusterQueue: 'main' }),
  ]);
  expect(explained).toMatchObject({ kind: 'Explained', explanation: { kind: 'Waiting', position: 999, waiting: 1_000 } });
  expect(ordered).toMatchObject({ kind: 'Ordered', waiting: 1_000, first: { 0: { key: 'team/job-0' }, length: 1_000 } });
});

test('a thread that fails is told of, and the next question has one that works', async () => {
  const job = aJobOf('job', 1);
  const broken = { ...job, spec: { ...job.spec, template: null } } as unknown as typeof job;
  let jobs = [broken];
  world = createSimulationClient({ kind: JOB_KIND, objects: () => theWorld(jobs), flags: {}, clock: systemClock, log: silentLogger });
  await expect(world.ask({ kind: 'Explain', uid: 'uid-job' })).rejects.toThrow();
  jobs = [job];
  expect(await world.ask({ kind: 'Explain', uid: 'uid-job' })).toMatchObject({ kind: 'Explained' });
});

test('an object of a described kind waits among the Jobs, and both are explained', async () => {
  const crews = aCrewKind();
  const crew = crews.prepared(aCrew({ metadata: { name: qualifiedName(qualifierOf(crews.resource), 'argo'), uid: 'uid-argo' } }));
  const work = [aJobOf('job', 1), crew as unknown as Job];
  const kind = createKinds(JOB_KIND, [crews]);
  world = createSimulationClient({ kind, objects: () => theWorld(work), flags: {}, clock: systemClock, log: silentLogger });
  const explained = (uid: string) => world.ask({ kind: 'Explain', uid });
  expect(await explained('uid-job')).toMatchObject({ kind: 'Explained', explanation: { waiting: 2, asks: { cpu: '1' } } });
  expect(await explained('uid-argo')).toMatchObject({ kind: 'Explained', explanation: { waiting: 2, asks: { cpu: '8500m', pods: '6' } } });
});
