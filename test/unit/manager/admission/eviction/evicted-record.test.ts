import { describe, expect, test } from 'vitest';
import { evictedRecord } from '../../../../../manager/admission/eviction/evicted-record.ts';
import { EvictionReason } from '../../../../../manager/admission/eviction/evictions.ts';
import { cacheOf, queueingOf } from '../../../../../manager/insight/world/world.ts';
import { aWorld, holding, NOW_MS } from '../../insight/explain/explained-world.ts';
import { aCluster, aClusterQueue } from '../setup.ts';

const queue = aClusterQueue('main', { default: '4' }, { onCannotStart: 'Fail', maxMoves: 1 });
const world = aWorld([queue], [aCluster('eu')], [holding('a', '1')]);
const cache = cacheOf(world, queueingOf(world));
const reservation = cache.get('team/a');
if (reservation === undefined) throw new Error('nobody holds anything');
const record = (eviction: Partial<Parameters<typeof evictedRecord>[0]>) =>
  evictedRecord({ reservation, reason: EvictionReason.Preempted, message: '', ...eviction }, cache, 'Eviction', NOW_MS);

describe('the record of one that gives its place up', () => {
  test('says so, and for how long it ran', () => {
    expect(record({})).toMatchObject({ ...reservation.record, evicted: true, executedSeconds: 86_400 });
  });

  test('says for whose sake', () => {
    const displacement = { by: { key: 'team/b', uid: 'b', clusterQueue: 'other' }, rule: 'InCohortReclamation' as const };
    expect(record({ displacement }).preempted).toEqual({ by: 'team/b', clusterQueue: 'other', rule: 'InCohortReclamation' });
  });

  test('avoids the cluster that refused it, and ends where it may not try another', () => {
    const refused = record({ reason: EvictionReason.ClusterRefused, refusal: 'NamespaceMissing' });
    expect(refused.avoid?.['eu']).toMatchObject({ reason: 'NamespaceMissing', refusals: 1 });
    expect(refused.fail).toMatchObject({ reason: 'CannotStart' });
  });

  test('queues behind the others where it did not start in time', () => {
    expect(record({ reason: EvictionReason.StartTimeout }).queuedSince).toBe('2026-01-02T00:00:00Z');
  });
});
