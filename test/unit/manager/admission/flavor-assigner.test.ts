import { describe, expect, test } from 'vitest';
import { parseAmount } from '../../../../manager/api/amount.ts';
import { assignFlavors } from '../../../../manager/admission/flavor-assigner.ts';
import { addUsage } from '../../../../manager/admission/quota-tree.ts';
import { aClusterQueue, aFlavor, aSnapshot, aWorkload, queueOf } from './setup.ts';

const twoFlavors = aSnapshot([aClusterQueue('main', { default: '2', spot: '8' })], []);
const options = (requests: Record<string, string>, snapshot = twoFlavors, parts = {}) =>
  assignFlavors(aWorkload('a', requests, parts), queueOf(snapshot, 'main'), snapshot.usage.fork());

describe('assigning flavors', () => {
  test('lists every flavor with room, in the order of the queue', () => {
    expect(options({ cpu: '2' })).toMatchObject({
      kind: 'Fit',
      groups: [
        [
          { flavor: 'default', rank: 0 },
          { flavor: 'spot', rank: 1 },
        ],
      ],
    });
    expect(options({ cpu: '3' })).toMatchObject({ kind: 'Fit', groups: [[{ flavor: 'spot', rank: 1 }]] });
  });

  test('says by how much each flavor is short', () => {
    const snapshot = aSnapshot([aClusterQueue('main', { default: '2', spot: '8' })], []);
    const queue = queueOf(snapshot, 'main');
    addUsage(queue.node, snapshot.usage, 'spot/cpu', parseAmount('cpu', '7500m'));
    expect(options({ cpu: '3' }, snapshot)).toEqual({
      kind: 'NoFit',
      reason: 'InsufficientQuota',
      message: 'cluster queue main: flavor default never has more than 2 of the 3 cpu asked for; flavor spot is short of 2500m cpu',
    });
  });

  test('a request that no flavor could ever meet is hopeless, not short', () => {
    expect(options({ cpu: '9' })).toMatchObject({ kind: 'NoFit', reason: 'ExceedsQuota' });
  });

  test('a resource without quota is refused, pods without quota are not', () => {
    expect(options({ cpu: '1', 'nvidia.com/gpu': '1' })).toMatchObject({
      reason: 'ExceedsQuota',
      message: 'cluster queue main gives no quota for nvidia.com/gpu',
    });
    expect(options({ cpu: '1' }).kind).toBe('Fit');
  });

  test('quota for pods counts where the queue gives it', () => {
    const resourceGroups = [{ coveredResources: ['pods'], flavors: [{ name: 'default', resources: [{ name: 'pods', nominalQuota: 0 }] }] }];
    const snapshot = aSnapshot([aClusterQueue('main', {}, { resourceGroups })], []);
    expect(options({}, snapshot)).toMatchObject({ reason: 'ExceedsQuota' });
  });

  test('a Job that asks for nothing still takes a flavor, and so a cluster of its queue', () => {
    expect(options({})).toMatchObject({
      kind: 'Fit',
      groups: [[{ flavor: 'default', charges: [['default/cpu', 0]] }, { flavor: 'spot' }]],
    });
  });

  test('a flavor for other nodes than the Job selects is passed over', () => {
    const resourceFlavors = [aFlavor('default', { nodeLabels: { disk: 'ssd' } }), aFlavor('spot')];
    const snapshot = aSnapshot([aClusterQueue('main', { default: '2', spot: '8' })], [], { resourceFlavors });
    expect(options({ cpu: '1' }, snapshot, { nodeSelector: { disk: 'hdd' } })).toMatchObject({ groups: [[{ flavor: 'spot' }]] });
    expect(options({ cpu: '1' }, snapshot, { nodeSelector: { disk: 'ssd' } })).toMatchObject({ groups: [[{ flavor: 'default' }, {}]] });
  });

  test('use beyond nominal is marked as borrowing', () => {
    const snapshot = aSnapshot(
      [aClusterQueue('main', { default: '2' }, { cohortName: 'all' }), aClusterQueue('other', { default: '2' }, { cohortName: 'all' })],
      [],
    );
    expect(options({ cpu: '2' }, snapshot)).toMatchObject({ groups: [[{ borrowing: false }]] });
    expect(options({ cpu: '3' }, snapshot)).toMatchObject({ groups: [[{ borrowing: true }]] });
  });
});
