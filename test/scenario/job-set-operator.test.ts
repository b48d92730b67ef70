/** JobSets through a whole installation on a fake clock: the operator of the quick start makes Jobs of them for our worker. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { JOB_SET_DEFINITION, JOB_SETS, type JobSet } from '../../manager/cli/local/job-set/definition.ts';
import { runJobSetOperator } from '../../manager/cli/local/job-set/operator.ts';
import { writtenRecordOf } from '../../manager/api/records.ts';
import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { HOLD_ANNOTATION, QUEUE_NAME_LABEL } from '../../shared/api/names.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, JOBS } from '../../shared/api/resources.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import { createInformer } from '../../shared/kube/informer.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { seededRandom } from '../../shared/runtime/random.ts';
import { createCrds } from '../support/crds.ts';
import { shippedKind } from '../unit/manager/work-kind/described/described.ts';
import { createWholeWorld, HOME, manifest, NAMESPACE, type WholeWorld } from './whole-world.ts';

const CLUSTERS = ['east', 'west'] as const;

describe('a JobSet whose operator makes Jobs of it', () => {
  let world: WholeWorld;
  const stop = new AbortController();
  const operators: Promise<void>[] = [];
  /** What the child Jobs on the worker clusters were seen to be, one after the other. */
  const seen: string[] = [];

  beforeAll(async () => {
    world = await createWholeWorld({
      clusters: CLUSTERS,
      async install(client, cluster) {
        if (cluster === HOME) await createCrds(client);
        await client.create(CUSTOM_RESOURCE_DEFINITIONS, structuredClone(JOB_SET_DEFINITION) as never);
      },
    });
    for (const cluster of CLUSTERS) {
      const of = { client: world.client(cluster), clock: world.clock, random: seededRandom(1), log: silentLogger };
      world.startWorker(cluster, `worker-${cluster}`);
      operators.push(runJobSetOperator(of, stop.signal));
      const jobs = createInformer({ ...of, resource: JOBS });
      const note = (job: Parameters<typeof stateOf>[0]): void => void seen.push(stateOf(job));
      jobs.addHandler({ added: note, updated: note });
      operators.push(jobs.run(stop.signal));
    }
    world.startManager('one', { parts: { kinds: [shippedKind('JobSet')] } });
    await world.clock.advance(15_000);
  });
  afterAll(async () => {
    stop.abort(new Error('the test ends'));
    await Promise.all(operators);
    await world.close();
  });

  const stateOf = ({ metadata, spec, status }: DeepReadonly<Job>): string =>
    `${metadata.name} ${spec.suspend === true ? 'suspended' : 'released'} with ${status?.active ?? 0} active`;
  const keyOf = (name: string) => ({ namespace: NAMESPACE, name });
  const create = async (name: string, parts: { seconds?: number; exitCode?: number } = {}): Promise<void> => {
    const template = { spec: { backoffLimit: 0, template: manifest('any', { seconds: 20 }).spec.template } };
    const workers = { spec: { backoffLimit: 0, template: manifest('any', { seconds: 20, ...parts }).spec.template } };
    await world.home.create<JobSet>(JOB_SETS, {
      metadata: { ...keyOf(name), labels: { [QUEUE_NAME_LABEL]: 'main' } },
      spec: {
        suspend: true,
        managedBy: 'switchyard.dev/manager',
        replicatedJobs: [
          { name: 'leader', template },
          { name: 'workers', replicas: 2, template: workers },
        ],
      },
    });
    await world.clock.advance(5_000);
  };
  const atHome = (name: string): Promise<JobSet> => world.home.get(JOB_SETS, keyOf(name));
  const placeOf = async (name: string): Promise<string | undefined> => {
    const record = writtenRecordOf(await atHome(name));
    return record.kind === 'Record' ? record.record.cluster : undefined;
  };
  const leftOn = async (cluster: string): Promise<string[]> => {
    const jobSets = await world.client(cluster).list(JOB_SETS);
    const objects = [...jobSets.items, ...(await world.jobsOn(cluster)), ...(await world.podsOn(cluster))];
    return objects.map(({ metadata }) => metadata.name);
  };
  const nothingIsLeft = async (): Promise<void> => {
    expect(await Promise.all(CLUSTERS.map(leftOn))).toEqual([[], []]);
  };
  const hold = async (name: string, value: 'true' | null): Promise<void> => {
    await world.home.patch(JOB_SETS, keyOf(name), { type: 'merge', body: { metadata: { annotations: { [HOLD_ANNOTATION]: value } } } });
    await world.clock.advance(60_000);
  };

  test('runs on one cluster as child Jobs of our Job controller, completes at home, and leaves nothing there', async () => {
    await create('whole');
    const cluster = (await placeOf('whole')) ?? '';
    const jobs = await world.jobsOn(cluster);
    expect(jobs.map(({ metadata, status }) => [metadata.name, status?.active])).toEqual([
      ['whole-leader-0', 1],
      ['whole-workers-0', 1],
      ['whole-workers-1', 1],
    ]);
    expect(await world.podsOn(cluster)).toHaveLength(3);
    await world.clock.advance(60_000);
    const { status } = await atHome('whole');
    expect(findCondition(status?.conditions, 'Complete')).toMatchObject({ status: 'True', reason: 'AllJobsCompleted' });
    expect(status?.replicatedJobsStatus?.map(({ name, succeeded }) => [name, succeeded])).toEqual([
      ['leader', 1],
      ['workers', 2],
    ]);
    await nothingIsLeft();
  });

  test('that is held suspends its child Jobs, rests without a pod, and goes on once it is released', async () => {
    await create('held', { seconds: 3600 });
    const running = seen.length;
    await hold('held', 'true');
    expect(findCondition((await atHome('held')).status?.conditions, 'QuotaReserved')?.reason).toBe('Held');
    const meanwhile = seen.slice(running);
    for (const child of ['held-leader-0', 'held-workers-0', 'held-workers-1'])
      expect(meanwhile).toContain(`${child} suspended with 0 active`);
    for (const cluster of CLUSTERS) expect(await world.podsOn(cluster)).toEqual([]);

    await hold('held', null);
    const again = await world.jobsOn((await placeOf('held')) ?? '');
    expect(again.map(({ spec, status }) => [spec.suspend, (status?.active ?? 0) + (status?.succeeded ?? 0)])).toEqual(
      again.map(() => [false, 1]),
    );
    expect(again).toHaveLength(3);
    await world.home.delete(JOB_SETS, keyOf('held'));
    await world.clock.advance(60_000);
    await nothingIsLeft();
  });

  test('that is suspended on its own cluster keeps its child Jobs, and resumes the same ones', async () => {
    const client = world.client('east');
    const template = { spec: { template: manifest('any', { seconds: 3600 }).spec.template } };
    await client.create<JobSet>(JOB_SETS, { metadata: keyOf('local'), spec: { replicatedJobs: [{ name: 'one', replicas: 2, template }] } });
    const suspend = async (is: boolean): Promise<JobSet> => {
      await client.patch(JOB_SETS, keyOf('local'), { type: 'merge', body: { spec: { suspend: is } } });
      await world.clock.advance(40_000);
      return client.get(JOB_SETS, keyOf('local'));
    };
    await world.clock.advance(5_000);
    const uids = (await world.jobsOn('east')).map(({ metadata }) => metadata.uid);
    expect(await world.podsOn('east')).toHaveLength(2);
    const suspended = await suspend(true);
    expect(findCondition(suspended.status?.conditions, 'Suspended')?.status).toBe('True');
    expect(suspended.status?.replicatedJobsStatus).toMatchObject([{ active: 0, suspended: 2 }]);
    expect(await world.podsOn('east')).toEqual([]);
    const resumed = await suspend(false);
    expect(findCondition(resumed.status?.conditions, 'Suspended')?.status).toBe('False');
    expect(resumed.status?.replicatedJobsStatus).toMatchObject([{ active: 2, suspended: 0 }]);
    expect((await world.jobsOn('east')).map(({ metadata }) => metadata.uid)).toEqual(uids);
    await client.delete(JOB_SETS, keyOf('local'));
    await world.clock.advance(60_000);
    await nothingIsLeft();
  });

  test('with a child Job that fails is Failed at home, and its other children are gone', async () => {
    await create('fails', { seconds: 1, exitCode: 1 });
    await world.clock.advance(60_000);
    expect(findCondition((await atHome('fails')).status?.conditions, 'Failed')).toMatchObject({ status: 'True', reason: 'FailedJobs' });
    await nothingIsLeft();
  });

  test('waits for a Job of somebody else in the place of a child, and takes nothing of it', async () => {
    const client = world.client('east');
    await client.create<Job>(JOBS, { ...manifest('taken-one-0'), metadata: keyOf('taken-one-0') });
    const template = { spec: { template: manifest('any').spec.template } };
    await client.create<JobSet>(JOB_SETS, { metadata: keyOf('taken'), spec: { replicatedJobs: [{ name: 'one', template }] } });
    await world.clock.advance(10_000);
    expect((await client.get(JOB_SETS, keyOf('taken'))).status?.terminalState).toBeUndefined();
    expect((await client.get(JOBS, keyOf('taken-one-0'))).metadata.ownerReferences).toBeUndefined();
    await client.delete(JOBS, keyOf('taken-one-0'), { propagationPolicy: 'Background' });
    await world.clock.advance(60_000);
    expect((await client.get(JOB_SETS, keyOf('taken'))).status?.terminalState).toBe('Completed');
    await client.delete(JOB_SETS, keyOf('taken'));
    await world.clock.advance(60_000);
    await nothingIsLeft();
  });
});
