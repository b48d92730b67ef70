import { describe, expect, test } from 'vitest';
import { parseAmount, parseRequests } from '../../../../../manager/api/amount.ts';
import { couldRunOn, exceedsNodes, formatVerdicts, verdictOn } from '../../../../../manager/admission/flavors/cluster-verdict.ts';
import { clusterHolder, createUsage } from '../../../../../manager/admission/quota/usage.ts';
import { createShapeAvoidance } from '../../../../../manager/admission/workload/shape-avoidance.ts';
import { aCluster, aWorkload } from '../setup.ts';

const nodes = (cpu: string) => ({ nodeShapes: [{ count: 4, allocatable: parseRequests({ cpu, pods: '110' }) }] });
const large = aWorkload('large', { cpu: '3' });

describe('the verdict on a cluster', () => {
  test('names the resources of which too little is free, and none where the problem is another', () => {
    const usage = createUsage();
    usage.set(clusterHolder('full'), 'cpu', parseAmount('cpu', '2'));
    const workload = aWorkload('x', { cpu: '3', memory: '2Gi' });
    const verdicts = [
      aCluster('closed', { closed: 'cordoned' }),
      aCluster('empty', { capacity: { cpu: '4', memory: '8Gi' } }),
      aCluster('full', { capacity: { cpu: '4', memory: '1Gi' } }),
    ].map((cluster) => verdictOn(cluster, workload, { groups: [], flavors: [] }, { usage, shapes: createShapeAvoidance() }, 0));
    expect(verdicts).toEqual([
      { cluster: 'closed', problem: 'cordoned' },
      { cluster: 'empty' },
      { cluster: 'full', problem: 'short of 1 cpu and 1Gi memory', shortOf: ['cpu', 'memory'] },
    ]);
    expect(formatVerdicts(verdicts)).toBe('closed: cordoned; empty: fits; full: short of 1 cpu and 1Gi memory');
  });
});

describe('a Workload exceeds the nodes', () => {
  test('if its pods fit on none of the empty clusters, also where one is closed now', () => {
    expect(exceedsNodes(large, [aCluster('east', nodes('2'))])).toBe(true);
    expect(exceedsNodes(large, [aCluster('east', nodes('2')), aCluster('west', { ...nodes('2'), closed: 'cordoned' })])).toBe(true);
  });

  test('not if a cluster has a node for it, does not tell of its nodes, or does not take it for another reason', () => {
    for (const other of [
      aCluster('west', nodes('8')),
      aCluster('west', { ...nodes('8'), closed: 'cordoned' }),
      aCluster('west', { closed: 'cordoned' }),
    ])
      expect(exceedsNodes(large, [aCluster('east', nodes('2')), other])).toBe(false);
    const elsewhere = aWorkload('x', { cpu: '3' }, { wish: { kind: 'Names', names: ['west'] } });
    expect(exceedsNodes(elsewhere, [aCluster('east', nodes('2')), aCluster('west', nodes('2'))])).toBe(false);
    expect(exceedsNodes(large, [])).toBe(false);
  });
});

test('a Workload could run on a cluster that is full or closed now, and on none that is too small', () => {
  expect(couldRunOn(large, aCluster('a', { capacity: { cpu: '4' }, closed: 'cordoned' }))).toBe(true);
  expect(couldRunOn(large, aCluster('a', { capacity: { cpu: '2' } }))).toBe(false);
  expect(couldRunOn(large, aCluster('a', nodes('2')))).toBe(false);
});
