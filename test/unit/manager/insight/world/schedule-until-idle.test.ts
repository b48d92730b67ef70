import { describe, expect, test } from 'vitest';
import { scheduleUntilIdle } from '../../../../../manager/insight/world/schedule-until-idle.ts';
import { aCluster, aClusterQueue, aWorkload } from '../../admission/setup.ts';
import { aWorld, holding } from '../explain/explained-world.ts';

const clusters = [aCluster('eu')];
const kinds = (world: Parameters<typeof scheduleUntilIdle>[0]) =>
  Object.fromEntries([...scheduleUntilIdle(world)].map(([key, { kind }]) => [key.slice('team/'.length), kind]));

describe('what becomes of those that wait if nothing ends', () => {
  test('all are admitted that fit, one after another', () => {
    const waiting = ['a', 'b', 'c'].map((name, index) => aWorkload(name, { cpu: '2' }, { createdMs: index }));
    expect(kinds(aWorld([aClusterQueue('main', { default: '4' })], clusters, waiting))).toEqual({
      a: 'Admit',
      b: 'Admit',
      c: 'Inadmissible',
    });
  });

  test('in a StrictFIFO queue nobody passes the first, in another one a smaller Job does', () => {
    const waiting = [aWorkload('big', { cpu: '3' }), aWorkload('small', { cpu: '1' }, { createdMs: 1 })];
    const holder = holding('holder', '2');
    const best = aClusterQueue('main', { default: '4' });
    const strict = aClusterQueue('main', { default: '4' }, { queueingStrategy: 'StrictFIFO' });
    expect(kinds(aWorld([best], clusters, [holder, ...waiting]))).toEqual({ big: 'Inadmissible', small: 'Admit' });
    expect(kinds(aWorld([strict], clusters, [holder, ...waiting]))).toEqual({ big: 'Inadmissible', small: 'Inadmissible' });
  });

  test('two queues that share quota are served in turn, and none gets more than there is', () => {
    const queues = ['main', 'other'].map((name) => aClusterQueue(name, { default: '2' }, { cohortName: 'all' }));
    const waiting = ['main', 'other'].flatMap((queue) =>
      [1, 2, 3].map((n) => aWorkload(`${queue}-${n}`, { cpu: '1' }, { queue, createdMs: n })),
    );
    const admitted = Object.entries(kinds(aWorld(queues, clusters, waiting))).filter(([, kind]) => kind === 'Admit');
    expect(admitted.map(([name]) => name).toSorted()).toEqual(['main-1', 'main-2', 'other-1', 'other-2']);
  });

  test('who preempts waits for those whom it preempts', () => {
    const main = aClusterQueue('main', { default: '2' }, { preemption: { withinClusterQueue: 'LowerPriority' } });
    const world = aWorld([main], clusters, [holding('low', '2'), aWorkload('high', { cpu: '2' }, { priorityWish: { podClass: 'high' } })]);
    const pod = new Map([['high', 10]]);
    expect(kinds({ ...world, priorityClasses: { workload: new Map(), pod, fallback: 0 } })).toEqual({ high: 'Preempt' });
  });
});
