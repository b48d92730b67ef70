import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PlacementPolicy } from '../../../../../manager/api/cluster-queue.ts';
import type { AdmissionRecord } from '../../../../../manager/api/records.ts';
import { parseAmount, ZERO, parseRequests } from '../../../../../manager/api/amount.ts';
import type { FlavorOption } from '../../../../../manager/admission/flavors/flavor-assigner.ts';
import { formatVerdicts } from '../../../../../manager/admission/flavors/cluster-verdict.ts';
import {
  couldEverBePlaced,
  leastMissing,
  takersByFlavors,
  place as placeAmong,
  type Placement,
} from '../../../../../manager/admission/flavors/placement.ts';
import type { ClusterState } from '../../../../../manager/admission/quota/cluster-state.ts';
import { createShapeAvoidance } from '../../../../../manager/admission/workload/shape-avoidance.ts';
import { clusterHolder, createUsage, type Usage } from '../../../../../manager/admission/quota/usage.ts';
import type { Workload } from '../../../../../manager/admission/workload/workload.ts';
import { parseLabelSelector } from '../../../../../shared/kube/selectors.ts';
import { aRecord } from '../../../../support/jobs.ts';
import { aCluster, aWorkload } from '../setup.ts';

const option = (flavor: string, selector: string, rank: number): FlavorOption => ({
  flavor,
  mode: 'Fit',
  rank,
  clusters: parseLabelSelector(selector),
  nodeLabels: {},
  terms: -1n,
  resources: ['cpu'],
  charges: [],
  borrowing: 0,
});
const NOW = Date.parse('2026-01-01T00:00:00Z');
const anywhere = [[option('default', '', 0)]];
const busy = (used: Record<string, string>) => {
  const usage = createUsage();
  for (const [cluster, cpu] of Object.entries(used)) usage.set(clusterHolder(cluster), 'cpu', parseAmount('cpu', cpu));
  return usage;
};
/** Where nothing is known of Jobs of any shape. */
const place = (
  workload: Workload,
  groups: readonly FlavorOption[][],
  clusters: readonly ClusterState[],
  usage: Usage,
  nowMs: number,
  policy: PlacementPolicy = 'MostRoom',
): Placement => placeAmong(workload, groups, clusters, usage, createShapeAvoidance(), nowMs, policy);
const record = (cluster: string): AdmissionRecord => ({
  clusterQueue: 'main',
  flavors: {},
  cluster,
  epoch: 1,
  since: '2026-01-01T00:00:00Z',
  requests: {},
});

describe('placing a Workload', () => {
  test('with MostRoom the cluster with most room left wins, and the first by name among equals', () => {
    const clusters = [aCluster('b', { capacity: { cpu: '10' } }), aCluster('a', { capacity: { cpu: '10' } })];
    expect(place(aWorkload('x'), anywhere, clusters, busy({ a: '4' }), NOW)).toMatchObject({ cluster: 'b' });
    expect(place(aWorkload('x'), anywhere, clusters, busy({}), NOW)).toMatchObject({ cluster: 'a' });
  });

  test('a cluster without the PriorityClass of its pods is not chosen; one that does not tell of classes may be, and those of the system are everywhere', () => {
    const clusters = [aCluster('a', { priorityClasses: ['batch'] }), aCluster('b', { priorityClasses: ['batch', 'urgent'] })];
    const urgent = (podClass: string) => aWorkload('x', { cpu: '1' }, { priorityWish: { podClass } });
    const placed = (podClass: string, among = clusters) => place(urgent(podClass), anywhere, among, busy({}), NOW);
    expect(placed('urgent')).toMatchObject({
      cluster: 'b',
      verdicts: [{ cluster: 'a', problem: 'no PriorityClass urgent' }, { cluster: 'b' }],
    });
    expect(formatVerdicts(placed('other').verdicts)).toBe('a: no PriorityClass other; b: no PriorityClass other');
    expect(couldEverBePlaced(urgent('other'), anywhere, clusters)).toBe(false);
    expect(placed('system-node-critical')).toMatchObject({ cluster: 'a' });
    expect(placed('other', [...clusters, aCluster('c')])).toMatchObject({ cluster: 'c' });
    expect(place(aWorkload('x'), anywhere, [aCluster('a', { priorityClasses: [] })], busy({}), NOW)).toMatchObject({ cluster: 'a' });
  });

  test('a cluster on whose nodes its pods do not fit is not chosen, whatever they offer in sum', () => {
    const nodes = (count: number, cpu: string) => [{ count, allocatable: parseRequests({ cpu, pods: '110' }) }];
    const small = aCluster('a', { capacity: { cpu: '32', pods: '1760' }, nodeShapes: nodes(16, '2') });
    const large = aCluster('b', { capacity: { cpu: '32', pods: '440' }, nodeShapes: nodes(4, '8') });
    const wide = aWorkload('x', {}, { requests: parseRequests({ pods: '4', cpu: '32' }) });
    const placed = (...among: ClusterState[]) => place(wide, anywhere, among, busy({}), NOW);
    expect(placed(small, large)).toMatchObject({ cluster: 'b' });
    expect(formatVerdicts(placed(small).verdicts)).toBe('a: 0 of 4 pods fit on its nodes, even when these are empty');
    expect([couldEverBePlaced(wide, anywhere, [small]), couldEverBePlaced(wide, anywhere, [small, large])]).toEqual([false, true]);
    expect(couldEverBePlaced(aWorkload('x', {}, { requests: parseRequests({ pods: '16', cpu: '32' }) }), anywhere, [small])).toBe(true);
  });

  test('a cluster without the RuntimeClass of its pods is not chosen; one that does not list classes may be', () => {
    const clusters = [aCluster('a', { runtimeClasses: ['kata'] }), aCluster('b', { runtimeClasses: ['gvisor', 'kata'] })];
    const sandboxed = (runtimeClass: string) => aWorkload('x', { cpu: '1' }, { runtimeClass });
    expect(place(sandboxed('gvisor'), anywhere, clusters, busy({}), NOW)).toMatchObject({
      cluster: 'b',
      verdicts: [{ cluster: 'a', problem: 'no RuntimeClass gvisor' }, { cluster: 'b' }],
    });
    expect(place(sandboxed('other'), anywhere, [...clusters, aCluster('c')], busy({}), NOW)).toMatchObject({ cluster: 'c' });
    expect(couldEverBePlaced(sandboxed('other'), anywhere, clusters)).toBe(false);
  });

  test('a cluster that lacks what a Job needs is not chosen, and says so; one without contact says why it has none', () => {
    const clusters = [aCluster('a'), aCluster('b', { closed: 'lost since noon' }), aCluster('c', { closed: 'cordoned' }), aCluster('d')];
    const silent = { problem: 'does not answer whether it has PersistentVolumeClaim team/data' };
    const missing = { problem: 'no PersistentVolumeClaim team/data', isMissing: true } as const;
    const workload = aWorkload('x', { cpu: '1' }, { lacks: { a: silent, b: silent, c: missing } });
    const placed = place(workload, anywhere, clusters, busy({}), NOW);
    expect(placed).toMatchObject({ cluster: 'd' });
    expect(formatVerdicts(placed.verdicts)).toBe(
      'a: does not answer whether it has PersistentVolumeClaim team/data; b: lost since noon; c: no PersistentVolumeClaim team/data; d: fits',
    );
  });

  test('among clusters of equal preference the one nearest to the data of a Job wins over room, and one without required data is not chosen', () => {
    const capacity = { cpu: '10' };
    const clusters = [
      aCluster('a', { capacity, data: [{ name: 'corpus', weight: 1 }] }),
      aCluster('b', { capacity, data: [{ name: 'imagenet', weight: 5 }] }),
      aCluster('c', { capacity }),
      aCluster('d', { capacity, preference: 1 }),
    ];
    const reading = (preferred: readonly string[], required: readonly string[] = []) =>
      aWorkload('x', { cpu: '1' }, { data: { preferred, required } });
    const used = busy({ a: '8', b: '8' });
    const placed = (workload: Workload, among = clusters.slice(0, 3)) => place(workload, anywhere, among, used, NOW);
    expect(placed(reading(['corpus', 'imagenet']))).toMatchObject({ cluster: 'b' });
    expect(placed(reading(['corpus']))).toMatchObject({ cluster: 'a' });
    expect(placed(reading(['unknown']))).toMatchObject({ cluster: 'c' });
    expect(placed(reading(['imagenet']), clusters)).toMatchObject({ cluster: 'd' });
    expect(formatVerdicts(placed(reading([], ['imagenet']), clusters).verdicts)).toBe(
      'a: no data imagenet; b: fits; c: no data imagenet; d: no data imagenet',
    );
    expect(couldEverBePlaced(reading([], ['unknown']), anywhere, clusters)).toBe(false);
  });

  test('where no capacity is known, Jobs spread by number', () => {
    const usage = createUsage();
    usage.set(clusterHolder('a'), 'pods', parseAmount('pods', 3));
    expect(place(aWorkload('x'), anywhere, [aCluster('a'), aCluster('b')], usage, NOW)).toMatchObject({ cluster: 'b' });
  });

  test('a better flavor outranks a roomier cluster', () => {
    const clusters = [aCluster('a', { labels: { pool: 'reserved' }, capacity: { cpu: '2' } }), aCluster('b', { capacity: { cpu: '100' } })];
    const groups = [[option('reserved', 'pool=reserved', 0), option('spot', '', 1)]];
    expect(place(aWorkload('x'), groups, clusters, busy({}), NOW)).toMatchObject({ cluster: 'a', flavors: [{ flavor: 'reserved' }] });
    expect(place(aWorkload('x', { cpu: '3' }), groups, clusters, busy({}), NOW)).toMatchObject({
      cluster: 'b',
      flavors: [{ flavor: 'spot' }],
    });
  });

  test('a cluster that refused the Workload is left out until its time has come, and then has no advantage', () => {
    const clusters = [aCluster('a', { capacity: { cpu: '10' } }), aCluster('b', { capacity: { cpu: '4' } })];
    const refused = { until: '2026-01-01T00:01:00Z', reason: 'NameTaken', refusals: 1, epoch: 1 };
    const workload = aWorkload('x', {}, { record: aRecord({ cluster: 'b', epoch: 1, avoid: { b: refused } }) });
    const at = (nowMs: number, some = clusters) => place(workload, anywhere, some, busy({}), nowMs);
    expect(at(NOW)).toMatchObject({ kind: 'Placed', cluster: 'a' });
    const nowhere = at(NOW, clusters.slice(1));
    expect(formatVerdicts(nowhere.verdicts)).toBe('b: refused it (NameTaken), avoided until 2026-01-01T00:01:00Z');
    expect(nowhere.verdicts[0]?.untilMs).toBe(NOW + 60_000);
    expect(at(NOW + 60_000, clusters.slice(1))).toMatchObject({ kind: 'Placed', cluster: 'b' });
    // Nothing of it is there to be resumed.
    expect(at(NOW + 60_000)).toMatchObject({ cluster: 'a' });
  });

  test('the cluster that ran the Workload before has the advantage under whatever name', () => {
    const clusters = [aCluster('a', { uid: 'uid-a' }), aCluster('b', { uid: 'uid-b' })];
    const workload = aWorkload('x', {}, { record: aRecord({ cluster: 'a', clusterUID: 'uid-b' }) });
    expect(place(workload, anywhere, clusters, busy({}), NOW)).toMatchObject({ cluster: 'b', clusterUID: 'uid-b' });
  });

  test('a cluster that is for other namespaces is left out, and says so', () => {
    const clusters = [aCluster('a', { servedNamespaces: ['x', 'y'] }), aCluster('b', { servedNamespaces: ['team'] })];
    const placement = place(aWorkload('x'), anywhere, clusters, busy({}), NOW);
    expect(placement).toMatchObject({ kind: 'Placed', cluster: 'b' });
    expect(formatVerdicts(placement.verdicts)).toBe('a: does not serve namespace team; b: fits');
  });

  test('all resource groups must be offered by the same cluster', () => {
    const clusters = [aCluster('a', { labels: { gpu: 'yes' } }), aCluster('b', { labels: { pool: 'x' } })];
    const groups = [[option('cpu-x', 'pool=x', 0), option('cpu-y', '', 1)], [option('gpu', 'gpu=yes', 0)]];
    expect(place(aWorkload('x'), groups, clusters, busy({}), NOW)).toMatchObject({
      cluster: 'a',
      flavors: [{ flavor: 'cpu-y' }, { flavor: 'gpu' }],
    });
  });

  test('flavors of different groups that are for different nodes are not taken together', () => {
    const zoned = (flavor: string, selector: string, rank: number, zone: string) => ({
      ...option(flavor, selector, rank),
      nodeLabels: { zone },
    });
    const groups = [[zoned('cpu-a', '', 0, 'a'), zoned('cpu-b', '', 1, 'b')], [zoned('gpu-b', 'gpu=yes', 0, 'b')]];
    const clusters = [aCluster('a'), aCluster('b', { labels: { gpu: 'yes' } })];
    const workload = aWorkload('x');
    expect(place(workload, groups, clusters, busy({}), NOW)).toMatchObject({
      cluster: 'b',
      flavors: [{ flavor: 'cpu-b' }, { flavor: 'gpu-b' }],
    });
    const nowhere = place(workload, [groups[0]?.slice(0, 1) ?? [], groups[1] ?? []], clusters, busy({}), NOW);
    expect(formatVerdicts(nowhere.verdicts)).toBe(
      'a: offers no flavors that have quota and go together; b: offers no flavors that have quota and go together',
    );
  });

  test('a Job goes back to the cluster it ran on, unless that is closed', () => {
    const clusters = [aCluster('a', { capacity: { cpu: '2' } }), aCluster('b', { capacity: { cpu: '100' } })];
    const workload = aWorkload('x', { cpu: '1' }, { record: record('a') });
    expect(place(workload, anywhere, clusters, busy({}), NOW)).toMatchObject({ cluster: 'a' });
    const draining = clusters.map((cluster) => (cluster.name === 'a' ? { ...cluster, closed: 'draining' } : cluster));
    expect(place(workload, anywhere, draining, busy({}), NOW)).toMatchObject({ cluster: 'b' });
  });

  test('every cluster gets its verdict', () => {
    const clusters = [
      aCluster('ap', { closed: 'cordoned' }),
      aCluster('eu', { capacity: { cpu: '4', memory: '1Gi' } }),
      aCluster('us', { closed: 'lost since 2026-01-01T00:00:00Z' }),
      aCluster('xx'),
    ];
    const workload = aWorkload('x', { cpu: '6', memory: '3Gi' }, { wish: { kind: 'Names', names: ['ap', 'eu', 'us'] } });
    const placement = place(workload, anywhere, clusters, busy({ eu: '2' }), NOW);
    expect(placement.kind).toBe('NoCluster');
    expect(formatVerdicts(placement.verdicts)).toBe(
      'ap: cordoned; eu: short of 4 cpu and 2Gi memory; us: lost since 2026-01-01T00:00:00Z; xx: not selected by the Job',
    );
  });

  test('a resource that the nodes of a cluster do not have is missing there', () => {
    const cluster = aCluster('a', { capacity: { cpu: '4' }, otherCapacity: ZERO });
    const placement = place(
      aWorkload('x', { 'nvidia.com/gpu': '1' }),
      anywhere,
      [{ ...cluster, capacity: new Map([...cluster.capacity, ['pods', parseAmount('pods', 10)]]) }],
      busy({}),
      NOW,
    );
    expect(formatVerdicts(placement.verdicts)).toBe('a: short of 1 nvidia.com/gpu');
  });

  test('a wished selector looks at the labels of clusters', () => {
    const wish = { kind: 'Selector' as const, requirements: parseLabelSelector('region in (eu)') };
    const clusters = [aCluster('a', { labels: { region: 'us' } }), aCluster('b', { labels: { region: 'eu' } })];
    expect(place(aWorkload('x', {}, { wish }), anywhere, clusters, busy({}), NOW)).toMatchObject({ cluster: 'b' });
  });
});

describe('placing a Workload where clusters are filled', () => {
  const least = (workload: Workload, clusters: readonly ClusterState[], usage: Usage = busy({})): string | undefined => {
    const placement = place(workload, anywhere, clusters, usage, NOW, 'LeastRoom');
    return placement.kind === 'Placed' ? placement.cluster : undefined;
  };
  const ten = (name: string, parts: Parameters<typeof aCluster>[1] = {}) => aCluster(name, { capacity: { cpu: '10' }, ...parts });

  test('the one with least room left wins that has enough, and the first by name among equals', () => {
    const clusters = [ten('c'), ten('b'), ten('a')];
    expect(least(aWorkload('x'), clusters)).toBe('a');
    expect(least(aWorkload('x', { cpu: '2' }), clusters, busy({ b: '8', c: '9' }))).toBe('b');
    expect(least(aWorkload('x'), clusters, busy({ b: '8', c: '9' }))).toBe('c');
    expect(least(aWorkload('x'), clusters, busy({ a: '10', b: '10', c: '10' }))).toBeUndefined();
  });

  test('room is judged on the resource that is scarcest there for the Job', () => {
    const clusters = [
      aCluster('a', { capacity: { cpu: '10', memory: '100Gi' } }),
      aCluster('b', { capacity: { cpu: '100', memory: '8Gi' } }),
      // Resources for which the Job does not ask play no part.
      aCluster('c', { capacity: { cpu: '100', memory: '100Gi', 'nvidia.com/gpu': '1' } }),
    ];
    // Of cpu 0.8 is left on a, of memory 0.5 on b.
    expect(least(aWorkload('x', { cpu: '2', memory: '4Gi' }), clusters)).toBe('b');
    expect(least(aWorkload('x', { cpu: '6', memory: '4Gi' }), clusters)).toBe('a');
  });

  test('a cluster whose capacity is unknown comes after those that can be filled; among such Jobs spread', () => {
    const usage = busy({ a: '1' });
    expect(least(aWorkload('x'), [aCluster('a'), ten('b')], usage)).toBe('b');
    usage.set(clusterHolder('a'), 'pods', parseAmount('pods', 1));
    expect(least(aWorkload('x'), [aCluster('a'), aCluster('c')], usage)).toBe('c');
  });

  test('a greater preference comes before room under both policies, after flavors and after the cluster where the Job ran before', () => {
    const clusters = [ten('cloud', { preference: -5 }), ten('far'), ten('own', { preference: 5, labels: { own: 'yes' } })];
    for (const policy of ['LeastRoom', 'MostRoom'] as const) {
      const placed = (workload: Workload, used: Record<string, string>, groups = anywhere) =>
        place(workload, groups, clusters, busy(used), NOW, policy);
      expect(placed(aWorkload('x'), { far: '5', own: '3' })).toMatchObject({ cluster: 'own' });
      expect(placed(aWorkload('x'), { own: '10' })).toMatchObject({ cluster: 'far' });
      expect(placed(aWorkload('x'), { own: '10', far: '10' })).toMatchObject({ cluster: 'cloud' });
      expect(placed(aWorkload('x', {}, { record: record('cloud') }), {})).toMatchObject({ cluster: 'cloud' });
      expect(placed(aWorkload('x'), {}, [[option('spot', 'own!=yes', 0), option('reserved', '', 1)]])).toMatchObject({ cluster: 'far' });
    }
  });

  test('a Job that waits, waits for the smallest shortage, and among equals for the greater preference', () => {
    const clusters = [ten('cloud'), ten('own', { preference: 5 })];
    const missing = (used: Record<string, string>) =>
      leastMissing(aWorkload('x', { cpu: '8' }), anywhere, { clusters, usage: busy(used), shapes: createShapeAvoidance() }, NOW)?.cluster;
    expect(missing({ own: '9', cloud: '5' })).toBe('cloud');
    expect(missing({ own: '5', cloud: '5' })).toBe('own');
  });

  test('a preemptor looks at clusters with room first, in the same order, and then at the smallest shortage', () => {
    const clusters = [ten('a'), ten('b'), ten('c'), ten('d', { preference: 1 }), ten('e', { preference: 2 })];
    const takers = (policy: PlacementPolicy) =>
      takersByFlavors(
        aWorkload('x', { cpu: '4' }),
        anywhere,
        { clusters, usage: busy({ a: '9', b: '2', c: '5', d: '1', e: '8' }), shapes: createShapeAvoidance() },
        NOW,
        policy,
      );
    const order = (policy: PlacementPolicy) => takers(policy).flatMap(({ all }) => all().map(({ cluster }) => cluster));
    const withRoom = (preferred?: string) => takers('LeastRoom').map((equals) => equals.withRoom(preferred)?.cluster);
    expect(order('LeastRoom')).toEqual(['d', 'c', 'b', 'e', 'a']);
    expect(order('MostRoom')).toEqual(['d', 'b', 'c', 'e', 'a']);
    expect([withRoom(), withRoom('b'), withRoom('a')]).toEqual([['d'], ['b'], ['d']]);
  });
});

test('a Workload could ever be placed where it wishes to be, a flavor of its is offered and the capacity is large enough, whoever uses it now', () => {
  const one = aCluster('eu', { capacity: { cpu: '1' }, closed: 'cordoned' });
  const wish = { kind: 'Names' as const, names: ['us'] };
  expect(couldEverBePlaced(aWorkload('a'), anywhere, [one])).toBe(true);
  expect(couldEverBePlaced(aWorkload('a', { cpu: '2' }), anywhere, [one])).toBe(false);
  expect(couldEverBePlaced(aWorkload('a', { cpu: '2' }), anywhere, [one, aCluster('us')])).toBe(true);
  expect(couldEverBePlaced(aWorkload('a', { cpu: '1' }, { wish }), anywhere, [one])).toBe(false);
  const elsewhere = [[option('spot', 'pool=spot', 0)]];
  expect(couldEverBePlaced(aWorkload('a'), elsewhere, [one])).toBe(false);
  expect(couldEverBePlaced(aWorkload('a'), elsewhere, [aCluster('eu', { labels: { pool: 'spot' }, closed: 'cordoned' })])).toBe(true);
  expect([couldEverBePlaced(aWorkload('a'), anywhere, []), couldEverBePlaced(aWorkload('a', {}, { wish }), anywhere, [])]).toEqual([
    true,
    false,
  ]);
});

test('of any clusters the one is chosen that a look at each of them in words and by hand finds', () => {
  const cluster = fc.record({
    cpu: fc.option(fc.integer({ min: 0, max: 6 })),
    used: fc.nat(4),
    pods: fc.nat(3),
    pool: fc.constantFrom('x', 'y', undefined),
    closed: fc.boolean(),
    serves: fc.constantFrom(undefined, ['team'], ['others']),
    avoided: fc.boolean(),
  });
  const groups = [[option('first', 'pool=x', 0), option('second', 'pool in (x, y)', 1), option('last', '', 2)]];
  fc.assert(
    fc.property(
      fc.array(cluster, { maxLength: 9 }),
      fc.nat(3),
      fc.nat(9),
      fc.boolean(),
      fc.constantFrom(anywhere, groups),
      (parts, asked, before, mayResume, options) => {
        const usage = createUsage();
        const clusters = parts.map(({ cpu, pool, closed, serves }, index) =>
          aCluster(`c${(index * 7) % 10}`, {
            ...(cpu === null ? {} : { capacity: { cpu: `${cpu}` } }),
            labels: pool === undefined ? {} : { pool },
            closed: closed ? 'cordoned' : undefined,
            servedNamespaces: serves,
          }),
        );
        for (const [index, { used, pods }] of parts.entries()) {
          usage.set(clusterHolder(clusters[index]?.name ?? ''), 'cpu', parseAmount('cpu', used));
          usage.set(clusterHolder(clusters[index]?.name ?? ''), 'pods', parseAmount('pods', pods));
        }
        const avoid = Object.fromEntries(
          clusters.flatMap(({ name }, index) =>
            parts[index]?.avoided === true
              ? [[name, { until: '2026-01-01T00:01:00Z', reason: 'Refused', refusals: 1, epoch: 0 }] as const]
              : [],
          ),
        );
        const workload = aWorkload('x', { cpu: `${asked}` }, mayResume ? { record: { ...record(`c${before}`), avoid } } : {});
        const placement = place(workload, options, clusters, usage.fork(), NOW);
        const fitting = place(workload, options, clusters, usage, NOW).verdicts.flatMap(({ cluster: name, problem }) => {
          const state = clusters.find((each) => each.name === name);
          if (problem !== undefined || state === undefined) return [];
          const pool = state.labels['pool'];
          const rank = options === anywhere ? 0 : pool === 'x' ? 0 : pool === 'y' ? 1 : 2;
          const capacity = state.capacity.get('cpu');
          const taken = usage.get(clusterHolder(name), 'cpu') + asked * 1000;
          const isLimited = capacity !== undefined && asked > 0;
          const room = isLimited ? (capacity - taken) / capacity : 1 / (1 + usage.get(clusterHolder(name), 'pods'));
          return [{ name, rank, resumes: mayResume && name === `c${before}`, room }];
        });
        fitting.sort((a, b) => a.rank - b.rank || Number(b.resumes) - Number(a.resumes) || b.room - a.room || (a.name < b.name ? -1 : 1));
        expect(placement.kind === 'Placed' ? placement.cluster : undefined).toBe(fitting[0]?.name);
        if (placement.kind === 'Placed') expect(placement.flavors[0]?.rank).toBe(fitting[0]?.rank);
      },
    ),
    { numRuns: 500 },
  );
});
