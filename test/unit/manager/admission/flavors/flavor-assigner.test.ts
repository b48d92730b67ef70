import { describe, expect, test } from 'vitest';
import { parseAmount } from '../../../../../manager/api/amount.ts';
import { assignFlavors, isHopeless } from '../../../../../manager/admission/flavors/flavor-assigner.ts';
import { sizedFor } from '../../../../../manager/admission/cache/reclaimable.ts';
import { nodeWishOf } from '../../../../../manager/admission/workload/node-wish.ts';
import { addUsage } from '../../../../../manager/admission/quota/quota-tree.ts';
import { aClusterQueue, aFlavor, aSnapshot, aWorkload, queueOf } from '../setup.ts';

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
    expect(options({ cpu: '3' })).toMatchObject({ kind: 'Fit', groups: [[{ flavor: 'spot', rank: 0 }]] });
  });

  test('says by how much each flavor is short', () => {
    const snapshot = aSnapshot([aClusterQueue('main', { default: '2', spot: '8' })], []);
    const queue = queueOf(snapshot, 'main');
    addUsage(queue.node, snapshot.usage, 'spot/cpu', parseAmount('cpu', '7500m'));
    expect(options({ cpu: '3' }, snapshot)).toMatchObject({
      kind: 'NoFit',
      reason: 'InsufficientQuota',
      message: 'cluster queue main: flavor default never has more than 2 of the 3 cpu asked for; flavor spot is short of 2500m cpu',
      shortOf: ['cpu'],
    });
  });

  test('names the resources of which the first flavor that is short has too little', () => {
    const short = aSnapshot([aClusterQueue('main', { default: '4', spot: '4' })], []);
    const queue = queueOf(short, 'main');
    for (const flavor of ['default', 'spot']) addUsage(queue.node, short.usage, `${flavor}/cpu`, parseAmount('cpu', '3'));
    expect(options({ cpu: '2' }, short)).toMatchObject({ kind: 'NoFit', shortOf: ['cpu'] });
    expect(options({ cpu: '9' })).toMatchObject({ reason: 'ExceedsQuota', shortOf: undefined });
  });

  test('a request that no flavor could ever meet is hopeless, not short', () => {
    expect(options({ cpu: '9' })).toMatchObject({ kind: 'NoFit', reason: 'ExceedsQuota' });
  });

  test('a resource without quota is refused, pods without quota are not', () => {
    expect(options({ cpu: '1', 'nvidia.com/gpu': '1' })).toMatchObject({
      reason: 'ExceedsQuota',
      message:
        'cluster queue main gives no quota for nvidia.com/gpu; add it to a resource group of the queue, or set quotaCheckStrategy: IgnoreUndeclared there',
    });
    expect(options({ cpu: '1' }).kind).toBe('Fit');
  });

  test('a resource without quota is none of the matter of a queue that ignores such ones, or excludes it', () => {
    const asks = { cpu: '1', 'nvidia.com/gpu': '1', 'example.com/net': '1' };
    const queue = (spec: object) => aSnapshot([aClusterQueue('main', { default: '4' }, spec)], []);
    const charges = [[{ flavor: 'default', charges: [['default/cpu', 1_000]] }]];
    expect(options(asks, queue({ quotaCheckStrategy: 'IgnoreUndeclared' }))).toMatchObject({ kind: 'Fit', groups: charges });
    expect(options(asks, queue({ excludeResourcePrefixes: ['nvidia.com/', 'example.'] }))).toMatchObject({ kind: 'Fit', groups: charges });
    expect(options(asks, queue({ excludeResourcePrefixes: ['nvidia.com/'] }))).toMatchObject({
      kind: 'NoFit',
      message: expect.stringMatching(/gives no quota for example[.]com\/net/) as string,
    });
  });

  test('a resource that is excluded is not charged, though the queue has quota for it', () => {
    const flavors = [
      {
        name: 'default',
        resources: [
          { name: 'cpu', nominalQuota: 4 },
          { name: 'nvidia.com/gpu', nominalQuota: 1 },
        ],
      },
    ];
    const resourceGroups = [{ coveredResources: ['cpu', 'nvidia.com/gpu'], flavors }];
    const spec = { resourceGroups, excludeResourcePrefixes: ['nvidia.com/'] };
    const found = options({ cpu: '1', 'nvidia.com/gpu': '8' }, aSnapshot([aClusterQueue('main', {}, spec)], []));
    expect(found).toMatchObject({ kind: 'Fit', groups: [[{ resources: ['cpu'], charges: [['default/cpu', 1_000]] }]] });
  });

  test('a queue that transforms resources charges the outputs, whether pods request them or not, and says what it lacks by their names', () => {
    const covered = (resource: string, nominalQuota: string) => ({
      coveredResources: ['cpu', resource],
      flavors: [
        {
          name: 'default',
          resources: [
            { name: 'cpu', nominalQuota: 4 },
            { name: resource, nominalQuota },
          ],
        },
      ],
    });
    const resourceTransformations = [{ input: 'nvidia.com/mig', strategy: 'Replace' as const, outputs: { credits: 10 } }];
    const offered = (asked: Record<string, string>, nominalQuota: string, resource = 'credits') => {
      const spec = { resourceGroups: [covered(resource, nominalQuota)], resourceTransformations };
      const snapshot = aSnapshot([aClusterQueue('main', {}, spec)], []);
      const queue = queueOf(snapshot, 'main');
      return assignFlavors(sizedFor(aWorkload('a', asked), queue), queue, snapshot.usage);
    };
    const asked = { cpu: '1', 'nvidia.com/mig': '2' };
    const charges = [
      ['default/cpu', 1_000],
      ['default/credits', 20],
    ];
    expect(offered(asked, '20')).toMatchObject({ kind: 'Fit', groups: [[{ flavor: 'default', charges }]] });
    expect(offered(asked, '19')).toMatchObject({
      reason: 'ExceedsQuota',
      message: 'cluster queue main: flavor default never has more than 19 of the 20 credits asked for',
    });
    expect(offered(asked, '20', 'nvidia.com/mig')).toMatchObject({
      message: expect.stringContaining('gives no quota for credits;') as string,
    });
    expect(offered({ cpu: '1', memory: '1Gi' }, '20')).toMatchObject({
      message: expect.stringContaining('gives no quota for memory;') as string,
    });
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

  test('use beyond nominal is marked as borrowing', () => {
    const snapshot = aSnapshot(
      [aClusterQueue('main', { default: '2' }, { cohortName: 'all' }), aClusterQueue('other', { default: '2' }, { cohortName: 'all' })],
      [],
    );
    expect(options({ cpu: '2' }, snapshot)).toMatchObject({ groups: [[{ borrowing: 0 }]] });
    expect(options({ cpu: '3' }, snapshot)).toMatchObject({ groups: [[{ borrowing: 1 }]] });
  });
});

describe('flavors on whose nodes the pods cannot run', () => {
  const wants = (type: string) => ({ nodeWish: nodeWishOf({ containers: [], nodeSelector: { type } }) });
  const resourceFlavors = [aFlavor('one', { nodeLabels: { type: 'one' } }), aFlavor('two', { nodeLabels: { type: 'two' } })];
  const snapshot = aSnapshot([aClusterQueue('main', { one: '4', two: '8' })], [], { resourceFlavors });

  test('are passed over, and told of', () => {
    expect(options({ cpu: '1' }, snapshot, wants('two'))).toMatchObject({
      groups: [[{ flavor: 'two', rank: 0 }]],
      mismatches: ["flavor one is for nodes with type=one, which the Job's nodeSelector excludes"],
    });
    expect(options({ cpu: '1' }, snapshot)).toMatchObject({ groups: [[{ flavor: 'one' }, { flavor: 'two' }]], mismatches: [] });
  });

  test('where there are no others, more quota does not help', () => {
    const result = options({ cpu: '1' }, snapshot, wants('three'));
    expect(result).toEqual({
      kind: 'NoFit',
      reason: 'NoMatchingFlavor',
      message:
        "cluster queue main: flavor one is for nodes with type=one, which the Job's nodeSelector excludes; flavor two is for nodes with type=two, which the Job's nodeSelector excludes",
    });
    expect(result.kind === 'NoFit' && isHopeless(result)).toBe(true);
  });

  test('do not hide that the one which matches is too small, or that it is only short', () => {
    expect(options({ cpu: '9' }, snapshot, wants('two'))).toMatchObject({ reason: 'ExceedsQuota' });
    const used = aSnapshot([aClusterQueue('main', { one: '4', two: '8' })], [], { resourceFlavors });
    addUsage(queueOf(used, 'main').node, used.usage, 'two/cpu', parseAmount('cpu', 8));
    const short = options({ cpu: '1' }, used, wants('two'));
    expect(short).toMatchObject({
      reason: 'InsufficientQuota',
      message:
        "cluster queue main: flavor one is for nodes with type=one, which the Job's nodeSelector excludes; flavor two is short of 1 cpu",
    });
    expect(short.kind === 'NoFit' && isHopeless(short)).toBe(false);
  });

  test('what can never be had of one resource group is told at once, though another one is only short', () => {
    const group = (resource: string, flavor: string) => ({
      coveredResources: [resource],
      flavors: [{ name: flavor, resources: [{ name: resource, nominalQuota: '4' }] }],
    });
    const both = aSnapshot([aClusterQueue('main', {}, { resourceGroups: [group('memory', 'default'), group('cpu', 'one')] })], [], {
      resourceFlavors: [...resourceFlavors, aFlavor('default')],
    });
    addUsage(queueOf(both, 'main').node, both.usage, 'default/memory', parseAmount('memory', 4));
    expect(options({ cpu: '1', memory: '1' }, both, wants('two'))).toMatchObject({ reason: 'NoMatchingFlavor' });
  });
});

describe('flavorFungibility: a first flavor in which the Job must borrow, and a second', () => {
  const lender = aClusterQueue('lender', { default: '9', spot: '9' }, { cohortName: 'all' });
  const names = (whenCanBorrow: 'Borrow' | 'MayStopSearch' | 'TryNextFlavor' | undefined, quota: Record<string, string>) => {
    const flavorFungibility = whenCanBorrow === undefined ? {} : { flavorFungibility: { whenCanBorrow } };
    const snapshot = aSnapshot([aClusterQueue('main', quota, { cohortName: 'all', ...flavorFungibility }), lender], []);
    const result = options({ cpu: '2' }, snapshot);
    return result.kind === 'Fit' ? result.groups.map((group) => group.map(({ flavor }) => flavor)) : result.reason;
  };

  test.each([undefined, 'MayStopSearch', 'Borrow'] as const)('with %s the first is preferred, as listed', (policy) => {
    expect(names(policy, { default: '1', spot: '2' })).toEqual([['default', 'spot']]);
  });
  test('with TryNextFlavor the second is preferred if it needs no borrowing', () => {
    expect(names('TryNextFlavor', { default: '1', spot: '2' })).toEqual([['spot', 'default']]);
  });
  test('with TryNextFlavor the first is preferred if it needs no borrowing, or if both do', () => {
    expect(names('TryNextFlavor', { default: '2', spot: '2' })).toEqual([['default', 'spot']]);
    expect(names('TryNextFlavor', { default: '1', spot: '1' })).toEqual([['default', 'spot']]);
  });
});
