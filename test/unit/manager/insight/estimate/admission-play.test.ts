import { describe, expect, test } from 'vitest';
import { ENDS_MAX, simulate, type Durations, type Stage } from '../../../../../manager/insight/estimate/admission-play.ts';
import { clusterHolder } from '../../../../../manager/admission/quota/usage.ts';
import type { Workload } from '../../../../../manager/admission/workload/workload.ts';
import { cacheOf, queueingOf, waitingByQueue, type World } from '../../../../../manager/insight/world/world.ts';
import { aWorld, holding, NOW_MS } from '../explain/explained-world.ts';
import { aCluster, aClusterQueue, aWorkload } from '../../admission/setup.ts';

const main = aClusterQueue('main', { default: '4' });
const clusters = [aCluster('eu')];

function stageOf(world: World, target: string): Stage {
  const queueing = queueingOf(world);
  const cache = cacheOf(world, queueing);
  const lanes = [...waitingByQueue(world, queueing)].map(([clusterQueue, waiting]) => ({
    clusterQueue,
    strict: waiting[0]?.strict === true,
    waiting: waiting.map(({ queued }) => queued),
  }));
  const keys = lanes[0]?.waiting.map(({ workload }) => workload.key) ?? [];
  const key = `team/${target}`;
  const before = new Set(keys.slice(0, keys.indexOf(key)));
  return { ...world, cache, lanes, running: [...cache.reservations()], target: key, before };
}
/** Those that run end after so many milliseconds, and whoever is let in holds its place for as many. */
const fate = (runs: Readonly<Record<string, number>>): Durations => ({
  endMs: ({ workload }) => NOW_MS + (runs[workload.name] ?? 1e9),
  holdMs: ({ name }) => runs[name] ?? 1e9,
  stopMs: () => 7,
});
const waiting = (name: string, cpu: string, createdMs: number, parts: Partial<Workload> = {}) =>
  aWorkload(name, { cpu }, { createdMs, ...parts });

describe('playing admission forward', () => {
  test('admits at once what fits', () => {
    expect(simulate(stageOf(aWorld([main], clusters, [waiting('x', '1', 0)]), 'x'), fate({}))).toEqual({
      kind: 'Admitted',
      atMs: NOW_MS,
    });
  });

  test('lets a Job in when enough have ended, after those before it', () => {
    const world = aWorld([main], clusters, [holding('a', '2'), holding('b', '2'), waiting('first', '2', 0), waiting('x', '2', 1)]);
    expect(simulate(stageOf(world, 'x'), fate({ a: 10, b: 30, first: 5 }))).toEqual({ kind: 'Admitted', atMs: NOW_MS + 15 });
    expect(simulate(stageOf(world, 'x'), fate({ a: 10, b: 30 }))).toEqual({ kind: 'Admitted', atMs: NOW_MS + 30 });
  });

  test('leaves what is held as it was', () => {
    const stage = stageOf(
      aWorld([main], clusters, [holding('a', '2'), holding('b', '2'), waiting('first', '2', 0), waiting('x', '2', 1)]),
      'x',
    );
    const held = () => [
      [...stage.cache.reservations()].map(({ workload }) => workload.key).toSorted(),
      stage.cache.usage().get(clusterHolder('eu'), 'cpu'),
    ];
    const before = held();
    const courses = [1, 2, 3].map(() => simulate(stage, fate({ a: 10, b: 30, first: 5 })));
    expect(held()).toEqual(before);
    expect(courses).toEqual(Array(3).fill(courses[0]));
  });

  test('has those stop that give their place up, and they wait again', () => {
    const preempting = aClusterQueue('main', { default: '4' }, { preemption: { withinClusterQueue: 'LowerPriority' } });
    const high = { priorityWish: { podClass: 'high' } };
    const world = {
      ...aWorld([preempting], clusters, [holding('low', '4'), waiting('urgent', '4', 5, high), waiting('x', '4', 9)]),
      priorityClasses: { workload: new Map(), pod: new Map([['high', 10]]), fallback: 0 },
    };
    expect(simulate(stageOf(world, 'urgent'), fate({}))).toEqual({ kind: 'Admitted', atMs: NOW_MS + 7 });
    // The one that was stopped is older than x, and goes before it.
    expect(simulate(stageOf(world, 'x'), fate({ urgent: 10, low: 100 }))).toEqual({ kind: 'Admitted', atMs: NOW_MS + 117 });
  });

  test('says so where all have ended and it still waits', () => {
    const world = aWorld([main], clusters, [holding('a', '2'), waiting('x', '9', 0)]);
    expect(simulate(stageOf(world, 'x'), fate({ a: 1 }))).toEqual({ kind: 'Never' });
  });

  test('is cut off after so many ends, and tells how many of those before it were let in', () => {
    const many = Array.from({ length: 200 }, (_, index) => waiting(`w${index}`, '4', index));
    const world = aWorld([main], clusters, [holding('a', '4'), ...many, waiting('x', '4', 999)]);
    const runs = Object.fromEntries(many.map(({ name }) => [name, 10]));
    expect(simulate(stageOf(world, 'x'), fate({ a: 10, ...runs }))).toEqual({
      kind: 'CutOff',
      atMs: NOW_MS + 10 * ENDS_MAX,
      admittedBefore: ENDS_MAX,
    });
  });
});
