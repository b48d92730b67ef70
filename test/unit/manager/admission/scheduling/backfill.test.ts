/** Queues with the strategy Backfill: who goes in front of a Job with an expected start, and who does not. */
import { describe, expect, test } from 'vitest';
import { anOrderWorld, type OrderWorld } from './order-world.ts';
import { aCluster, aClusterQueue } from '../setup.ts';

const backfill = { queueingStrategy: 'Backfill' } as const;
const MINUTE = 60_000;
const minutes = (count: number) => ({ parts: { expectedMs: count * MINUTE } });
const aWorld = (clusters: readonly string[] = ['eu'], queues: readonly string[] = ['a', 'b']): OrderWorld =>
  anOrderWorld(
    { clusterQueues: queues.map((name) => aClusterQueue(name, { default: '100' }, backfill)) },
    clusters.map((name) => aCluster(name, { capacity: { cpu: '4' } })),
  );
/** 3 of 4 cpus are used for 60 minutes, and a Job waits for all 4. */
const waitingForAll = (): OrderWorld => {
  const world = aWorld();
  world.arrive('a', 'running', '3', minutes(60));
  world.settle();
  world.arrive('a', 'large', '4', minutes(10));
  world.settle();
  return world;
};

describe('in front of a Job that waits with an expected start', () => {
  test('goes one that is expected to end before, of its own or another queue', () => {
    const world = waitingForAll();
    expect(world.startOf('large')?.atMs).toBeGreaterThan(59 * MINUTE);
    world.arrive('b', 'short', '1', minutes(30));
    expect(world.settle()).toEqual(['short']);
    world.end('short');
    world.arrive('a', 'own', '1', minutes(30));
    expect(world.settle()).toEqual(['own']);
  });

  test('goes no longer one, nor one whose run time is not known, and the reason names the reservation', () => {
    const world = waitingForAll();
    world.arrive('b', 'long', '1', minutes(90));
    world.arrive('a', 'own', '1', minutes(90));
    world.arrive('b', 'unknown', '1');
    expect(world.settle()).toEqual([]);
    expect(world.reasonOf('long')).toBe('BehindOtherQueues');
    expect(world.messageOf('long')).toBe(
      'cluster eu is reserved for a Job of cluster queue a, and this Job is not expected to end before that starts',
    );
    world.end('running');
    expect(world.settle()).toEqual(['large']);
  });

  test('goes a longer one on what the reservation leaves', () => {
    const world = aWorld();
    world.arrive('a', 'running', '3', minutes(60));
    world.settle();
    world.arrive('a', 'large', '3', minutes(10));
    world.settle();
    world.arrive('b', 'long', '1', minutes(900));
    expect(world.settle()).toEqual(['long']);
    world.arrive('b', 'another', '1', minutes(900));
    world.end('running');
    expect(world.settle()).toEqual(['large']);
  });

  test('a shorter one of equal size goes though a longer one before it did not', () => {
    const world = waitingForAll();
    world.arrive('b', 'long', '1', minutes(90));
    expect(world.settle()).toEqual([]);
    world.arrive('b', 'short', '1', minutes(5));
    expect(world.settle()).toEqual(['short']);
  });
});

test('one Job reserves at a time: the next one keeps nothing empty until it is its turn', () => {
  const world = aWorld(['eu', 'us']);
  world.arrive('a', 'on-one', '3', minutes(60));
  world.arrive('b', 'on-the-other', '3', minutes(80));
  world.settle();
  world.arrive('a', 'first', '4', minutes(10));
  world.arrive('b', 'second', '4', minutes(10));
  world.settle();
  expect(world.queues.claims().map(({ queued: { workload } }) => workload.name)).toEqual(['first']);
  world.end('on-one');
  expect(world.settle()).toEqual(['first']);
  expect(world.queues.claims().map(({ queued: { workload } }) => workload.name)).toEqual(['second']);
});

test('a Job that runs longer than expected moves the start, and one that waited for that goes then', () => {
  const world = waitingForAll();
  world.arrive('b', 'long', '1', minutes(40));
  world.pass(30 * MINUTE);
  expect(world.settle()).toEqual([]);
  world.pass(31 * MINUTE);
  expect(world.settle()).toEqual(['long']);
});

test('starvation is bounded: once the wait is twice as long as promised nobody goes in front any more', () => {
  const world = waitingForAll();
  for (let index = 0; index < 30; index++) {
    world.arrive('b', `short-${index}`, '1', minutes(1));
    world.settle();
    world.pass(10 * MINUTE);
    if (world.running.has(`short-${index}`)) world.end(`short-${index}`);
    world.settle();
  }
  const went = Array.from({ length: 30 }, (_, index) => `short-${index}`).filter((name) => world.reasonOf(name) === undefined);
  expect(went.length).toBeGreaterThan(3);
  expect(went.length).toBeLessThanOrEqual(13);
  for (const name of world.running.keys()) world.end(name);
  expect(world.settle()).toContain('large');
});
