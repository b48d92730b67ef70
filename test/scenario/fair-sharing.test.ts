/** Fair sharing on a real API: what it shows, what it remembers, and who goes first. */
import { afterEach, describe, expect, test } from 'vitest';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { COHORTS } from '../../manager/api/cohort.ts';
import { LOCAL_QUEUES } from '../../manager/api/local-queue.ts';
import { createAdmissionWorld, NAMESPACE, type AdmissionWorld } from './admission-world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const fairSharing = { preemptionStrategies: ['LessThanOrEqualToFinalShare', 'LessThanInitialShare'] } as const;
const admissionFairSharing = { halfLifeMs: HOUR, samplingIntervalMs: 5 * MINUTE, resourceWeights: new Map<string, number>() };

let world: AdmissionWorld;
afterEach(() => world.close());

const cohort = (name: string, spec: object = {}) =>
  world.client.create(COHORTS, { apiVersion: 'switchyard.dev/v1alpha1', kind: 'Cohort', metadata: { name }, spec } as never);
const cpu = (nominalQuota: string) => [
  { coveredResources: ['cpu'], flavors: [{ name: 'default', resources: [{ name: 'cpu', nominalQuota }] }] },
];
const shareOf = async (kind: 'queue' | 'cohort', name: string): Promise<number | undefined> => {
  const key = { namespace: '', name };
  const found = kind === 'queue' ? await world.client.get(CLUSTER_QUEUES, key) : await world.client.get(COHORTS, key);
  return found.status?.fairSharing?.weightedShare;
};
const localQueue = (name: string) => world.client.get(LOCAL_QUEUES, { namespace: NAMESPACE, name });
const usageOf = async (name: string) => (await localQueue(name)).status?.fairSharing?.admissionFairSharingStatus;

describe('shares', () => {
  test('are shown for ClusterQueues and Cohorts, in their status and as metrics', async () => {
    world = await createAdmissionWorld({ fairSharing });
    await world.flavor('default');
    await world.cluster('east');
    await cohort('root', { resourceGroups: cpu('10') });
    await cohort('team', { parentName: 'root', fairSharing: { weight: 2 } });
    await world.queue('main', { cpu: '0', spec: { cohortName: 'team', fairSharing: { weight: '500m' } } });
    await world.queue('weightless', { cpu: '0', spec: { cohortName: 'root', fairSharing: { weight: 0 } } });
    await world.settle(2000);
    expect([await shareOf('queue', 'main'), await shareOf('cohort', 'team'), await shareOf('cohort', 'root')]).toEqual([0, 0, 0]);
    await world.job('a', { cpu: '2' });
    await world.job('b', { queue: 'weightless', cpu: '1' });
    await world.settle(3000);
    expect([await shareOf('queue', 'main'), await shareOf('cohort', 'team'), await shareOf('cohort', 'root')]).toEqual([400, 100, 0]);
    expect(await shareOf('queue', 'weightless')).toBe(9_223_372_036_854_775_000);
    expect(await world.metric('switchyard_cluster_queue_weighted_share', { cluster_queue: 'main' })).toBe(400);
    expect(await world.metric('switchyard_cluster_queue_weighted_share', { cluster_queue: 'weightless' })).toBeNaN();
    expect(await world.metric('switchyard_cohort_weighted_share', { cohort: 'team' })).toBe(100);
    await world.finish('a');
    await world.settle(3000);
    expect([await shareOf('queue', 'main'), await shareOf('cohort', 'team')]).toEqual([0, 0]);
  });

  test('are gone from the status where fair sharing is switched off', async () => {
    world = await createAdmissionWorld();
    await world.flavor('default');
    await world.queue('main');
    await cohort('team');
    await world.settle(2000);
    const body = { status: { fairSharing: { weightedShare: 5 } } };
    await world.client.patchStatus(CLUSTER_QUEUES, { namespace: '', name: 'main' }, { type: 'merge', body });
    await world.client.patchStatus(COHORTS, { namespace: '', name: 'team' }, { type: 'merge', body });
    await world.restart();
    await world.settle(2000);
    expect([await shareOf('queue', 'main'), await shareOf('cohort', 'team')]).toEqual([undefined, undefined]);
    expect(await world.metric('switchyard_cluster_queue_weighted_share')).toBeUndefined();
  });
});

describe('ClusterQueues that borrow', () => {
  const TEAMS = ['physics', 'chemistry', 'biology'] as const;
  const runningOf = async (): Promise<number[]> => {
    const names = await world.running();
    return TEAMS.map((team) => names.filter((name) => name.startsWith(team)).length);
  };
  /** The example of docs/fair-sharing.md. */
  const laboratory = async (): Promise<void> => {
    await world.flavor('default');
    await world.cluster('east');
    await cohort('lab', { resourceGroups: cpu('60') });
    for (const team of TEAMS) {
      const spec = { cohortName: 'lab', ...(team === 'physics' ? { fairSharing: { weight: 2 } } : {}) };
      await world.queue(team, { cpu: '0', spec });
    }
  };

  test('come to have what their weights say, whoever was first and whatever the priorities', { timeout: 60_000 }, async () => {
    world = await createAdmissionWorld({ fairSharing });
    await laboratory();
    await world.settle(1000);
    // Chemistry is first, and takes what nobody else wants.
    for (let index = 0; index < 20; index++) await world.job(`chemistry-${index}`, { queue: 'chemistry', cpu: '5' });
    await world.settle(3000);
    expect(await runningOf()).toEqual([0, 12, 0]);
    for (const team of ['physics', 'biology']) {
      for (let index = 0; index < 20; index++) await world.job(`${team}-${index}`, { queue: team, cpu: '5' });
    }
    await world.settle(3000);
    for (let index = 0; index < 9; index++) {
      await world.finish(`chemistry-${index}`);
      await world.settle(3000);
    }
    expect(await runningOf()).toEqual([6, 3, 3]);
    expect(await Promise.all(TEAMS.map((team) => shareOf('queue', team)))).toEqual([250, 250, 250]);
  });

  test('go by priority and age where fair sharing is switched off', { timeout: 60_000 }, async () => {
    world = await createAdmissionWorld();
    await laboratory();
    await world.settle(1000);
    for (let index = 0; index < 20; index++) await world.job(`chemistry-${index}`, { queue: 'chemistry', cpu: '5' });
    await world.settle(3000);
    await world.job('biology-0', { queue: 'biology', cpu: '5' });
    await world.settle(3000);
    await world.finish('chemistry-0');
    await world.settle(3000);
    expect(await runningOf()).toEqual([0, 12, 0]);
  });
});

describe('what LocalQueues have used', () => {
  const asked = { admissionScope: { admissionMode: 'UsageBasedAdmissionFairSharing' } };

  test('decides whose Job goes next, also after a restart, and above priority', { timeout: 60_000 }, async () => {
    world = await createAdmissionWorld({ admissionFairSharing });
    await world.flavor('default');
    await world.cluster('east');
    await world.queue('main', { cpu: '2', spec: asked });
    for (const name of ['greedy', 'frugal']) {
      const spec = { clusterQueue: 'main' };
      await world.client.create(LOCAL_QUEUES, {
        apiVersion: 'switchyard.dev/v1alpha1',
        kind: 'LocalQueue',
        metadata: { name, namespace: NAMESPACE },
        spec,
      } as never);
    }
    await world.settle(1000);
    await world.job('long', { queue: 'greedy', cpu: '2' });
    await world.settle(HOUR);
    await world.job('urgent', { queue: 'greedy', cpu: '2', annotations: { 'switchyard.dev/priority': '0' } });
    await world.job('modest', { queue: 'frugal', cpu: '2', annotations: { 'switchyard.dev/priority': '-5' } });
    await world.job('modest-2', { queue: 'frugal', cpu: '2', annotations: { 'switchyard.dev/priority': '-5' } });
    await world.settle(3000);
    await world.restart();
    await world.settle(3000);
    await world.finish('long');
    await world.settle(3000);
    expect(await world.running()).toEqual(['modest']);
    // By now frugal has used less still: what it pays for entering is far below what greedy has used for an hour.
    await world.finish('modest');
    await world.settle(3000);
    expect(await world.running()).toEqual(['modest-2']);
    await world.settle(2 * HOUR);
    await world.finish('modest-2');
    await world.settle(3000);
    expect(await world.running()).toEqual(['urgent']);
  });

  test('is shared from the first Job on: those of two LocalQueues take turns', { timeout: 60_000 }, async () => {
    world = await createAdmissionWorld({ admissionFairSharing });
    await world.flavor('default');
    await world.cluster('east');
    await world.queue('main', { cpu: '4', spec: asked });
    await world.client.create(LOCAL_QUEUES, {
      apiVersion: 'switchyard.dev/v1alpha1',
      kind: 'LocalQueue',
      metadata: { name: 'late', namespace: NAMESPACE },
      spec: { clusterQueue: 'main' },
    } as never);
    await world.settle(1000);
    const stop = (stopPolicy: string) =>
      world.client.patch(CLUSTER_QUEUES, { namespace: '', name: 'main' }, { type: 'merge', body: { spec: { stopPolicy } } });
    await stop('Hold');
    for (let index = 0; index < 6; index++) await world.job(`early-${index}`, { cpu: '1' });
    for (let index = 0; index < 6; index++) await world.job(`late-${index}`, { queue: 'late', cpu: '1' });
    await world.settle(1000);
    await stop('None');
    await world.settle(3000);
    expect(await world.running()).toEqual(['early-0', 'early-1', 'late-0', 'late-1']);
  });

  test('is in their status, and survives a restart', async () => {
    world = await createAdmissionWorld({ admissionFairSharing });
    await world.flavor('default');
    await world.cluster('east');
    await world.queue('main', { spec: asked });
    await world.job('a', { cpu: '2' });
    await world.settle(HOUR);
    await world.finish('a');
    await world.settle(6 * MINUTE);
    // Half of what it held for a half-life, half of the penalty, and six minutes of decay at most.
    const written = await usageOf('main');
    const milli = Number.parseInt(String(written?.consumedResources['cpu']), 10);
    expect(milli).toBeGreaterThan(950);
    expect(milli).toBeLessThan(1060);
    expect(await world.metric('switchyard_local_queue_admission_fair_sharing_usage', { local_queue: 'main' })).toBeCloseTo(milli / 1000, 2);

    await world.stop();
    await world.settle(HOUR);
    await world.restart();
    await world.settle(MINUTE);
    const usage = await world.metric('switchyard_local_queue_admission_fair_sharing_usage', { local_queue: 'main' });
    expect(usage).toBeGreaterThan(milli / 2000 - 0.06);
    expect(usage).toBeLessThan(milli / 2000 + 0.01);
  });

  test('counts Jobs that ran on while no manager was there', async () => {
    world = await createAdmissionWorld({ admissionFairSharing });
    await world.flavor('default');
    await world.cluster('east');
    await world.queue('main', { spec: asked });
    await world.job('a', { cpu: '2' });
    await world.settle(1000);
    await world.stop();
    await world.settle(10 * HOUR);
    await world.restart();
    await world.settle(MINUTE);
    expect(await world.metric('switchyard_local_queue_admission_fair_sharing_usage', { local_queue: 'main' })).toBeCloseTo(2, 2);
  });

  test('is not written where the ClusterQueue does not ask for it, nor where nothing has happened', async () => {
    world = await createAdmissionWorld({ admissionFairSharing });
    await world.flavor('default');
    await world.cluster('east');
    await world.queue('main');
    await world.queue('fair', { spec: asked });
    await world.job('a');
    await world.settle(HOUR);
    expect([await usageOf('main'), await usageOf('fair')]).toEqual([undefined, undefined]);
    const { metadata } = await localQueue('fair');
    await world.settle(HOUR);
    expect((await localQueue('fair')).metadata.resourceVersion).toBe(metadata.resourceVersion);
  });
});
