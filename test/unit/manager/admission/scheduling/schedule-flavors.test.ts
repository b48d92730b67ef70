/** Flavors and clusters together: where Jobs are admitted that cannot run on nodes of every flavor. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { schedule } from '../../../../../manager/admission/scheduling/schedule.ts';
import { nodeWishOf } from '../../../../../manager/admission/workload/node-wish.ts';
import { workloadOf } from '../../../../../manager/admission/workload/workload.ts';
import type { ClusterQueueSpec } from '../../../../../manager/api/cluster-queue.ts';
import type { ResourceFlavor } from '../../../../../manager/api/resource-flavor.ts';
import { remoteJob } from '../../../../../manager/work-kind/job/copy/remote-job.ts';
import type { Job, Node, PodSpec } from '../../../../../shared/api/kubernetes.ts';
import { misfits } from '../../../../../shared/controlplane/controllers/node-agent/fit.ts';
import { aHomeJob } from '../../../../support/jobs.ts';
import { aCluster, aClusterQueue, aFlavor, aSnapshot, aWorkload, head } from '../setup.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

const nowMs = Date.UTC(2026, 0, 1);
const pool = (name: string) => ({ clusterSelector: { matchLabels: { pool: name } } });

describe('a flavor that is preferred, and one that is not', () => {
  const resourceFlavors = [
    aFlavor('one', { ...pool('one'), nodeLabels: { type: 'one' } }),
    aFlavor('two', { ...pool('two'), nodeLabels: { type: 'two' } }),
  ];
  const one = aCluster('one', { labels: { pool: 'one' } });
  const two = aCluster('two', { labels: { pool: 'two' } });
  const wants = (type: string) => ({ nodeWish: nodeWishOf({ containers: [], nodeSelector: { type } }) });
  const decide = (clusters: readonly ReturnType<typeof aCluster>[], parts = {}, spec: Partial<ClusterQueueSpec> = {}) => {
    const lender = aClusterQueue('lender', { one: '9', two: '9' }, { cohortName: 'all' });
    const queue = aClusterQueue('main', { one: '1', two: '2' }, { cohortName: 'all', ...spec });
    const [decision] = schedule(
      aSnapshot([queue, lender], clusters, { resourceFlavors }),
      [head('main', aWorkload('a', { cpu: '2' }, parts))],
      nowMs,
    );
    if (decision === undefined) throw new Error('nothing was decided');
    return decision;
  };

  test('the Job goes to a cluster with the flavor on whose nodes it can run, and to no other', () => {
    expect(decide([one, two], wants('two'))).toMatchObject({ kind: 'Admit', record: { cluster: 'two', flavors: { cpu: 'two' } } });
  });

  test('while that cluster is closed it waits for it, and says why no other flavor will do', () => {
    expect(decide([one, { ...two, closed: 'cordoned' }], wants('two'))).toMatchObject({
      kind: 'Inadmissible',
      waitsFor: 'cluster',
      reason: 'NoClusterFits',
      message:
        "one: offers no flavor that has quota; two: cordoned; flavor one is for nodes with type=one, which the Job's nodeSelector excludes",
    });
  });

  test('where no cluster offers the flavor it waits for other clusters, not for room: what becomes free would not help', () => {
    expect(decide([one], wants('two'))).toMatchObject({ kind: 'Inadmissible', waitsFor: 'setup', reason: 'NoClusterFits' });
    expect(decide([one, two], wants('three'))).toMatchObject({ waitsFor: 'setup', reason: 'NoMatchingFlavor' });
  });

  test('the first is borrowed, or the second taken without borrowing, as the queue says', () => {
    const flavorFungibility = { whenCanBorrow: 'TryNextFlavor' as const };
    expect(decide([one, two])).toMatchObject({ record: { flavors: { cpu: 'one' } } });
    expect(decide([one, two], {}, { flavorFungibility })).toMatchObject({ record: { cluster: 'two', flavors: { cpu: 'two' } } });
  });

  test('a flavor that no open cluster with room offers does not end the search', () => {
    const full = { ...one, capacity: aCluster('one', { capacity: { cpu: '1' } }).capacity };
    for (const first of [[], [{ ...one, closed: 'cordoned' }], [full]]) {
      expect(decide([...first, two])).toMatchObject({ record: { cluster: 'two', flavors: { cpu: 'two' } } });
    }
    // Nor does one that needs no borrowing.
    const flavorFungibility = { whenCanBorrow: 'TryNextFlavor' as const };
    expect(decide([one, { ...two, closed: 'cordoned' }], {}, { flavorFungibility })).toMatchObject({ record: { flavors: { cpu: 'one' } } });
  });
});

/*
 * Labels that flavors name and pods ask for. Node selector and affinity ask for different ones, and a term asks once for each: pods that
 * contradict themselves run nowhere, whatever the flavor.
 */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  disk: ['a', 'b'],
  arch: ['a', 'b'],
  type: ['a', 'b'],
  generation: ['1', '2'],
};
const oneOf = (key: string) => fc.constantFrom(...(VALUES[key] ?? []));
const some = (keys: readonly string[]) =>
  fc.record(Object.fromEntries(keys.map((key) => [key, oneOf(key)])), { requiredKeys: [] }) as fc.Arbitrary<Record<string, string>>;
const listed = (key: string) =>
  fc.record({
    key: fc.constant(key),
    operator: fc.constantFrom('In', 'NotIn'),
    values: fc.uniqueArray(oneOf(key), { minLength: 1 }),
  });
const present = (key: string) => fc.record({ key: fc.constant(key), operator: fc.constantFrom('Exists', 'DoesNotExist') });
const compared = fc.record({
  key: fc.constant('generation'),
  operator: fc.constantFrom('Gt', 'Lt'),
  values: oneOf('generation').map((value) => [value]),
});
const requirement = fc.oneof(listed('type'), present('type'), listed('generation'), present('generation'), compared);
const effect = fc.constantFrom('NoSchedule' as const, 'PreferNoSchedule' as const, 'NoExecute' as const);
const taints = fc.uniqueArray(fc.record({ key: fc.constantFrom('gpu', 'spot'), value: fc.constantFrom('x', 'y'), effect }), {
  maxLength: 2,
  selector: ({ key, effect: each }) => `${key}:${each}`,
});
const tolerations = fc.array(
  fc.oneof(
    fc.record({ key: fc.constantFrom('gpu', 'spot'), operator: fc.constant('Exists' as const) }),
    fc.record({ key: fc.constantFrom('gpu', 'spot'), operator: fc.constant('Equal' as const), value: fc.constantFrom('x', 'y'), effect }),
  ),
  { maxLength: 2 },
);
const flavorSpec = fc.record({ nodeLabels: some(Object.keys(VALUES)), nodeTaints: taints, tolerations });
const term = fc.uniqueArray(requirement, { maxLength: 2, selector: ({ key }) => key }).map((matchExpressions) => ({ matchExpressions }));
const pods = fc.record({
  nodeSelector: some(['disk', 'arch']),
  tolerations,
  terms: fc.option(fc.array(term, { minLength: 1, maxLength: 3 })),
});

/** Every node that has these labels, with the others that pods may ask for or without. */
function nodesWith(labels: Readonly<Record<string, string>>): Node[] {
  let variants: Record<string, string>[] = [{ ...labels }];
  for (const [key, values] of Object.entries(VALUES)) {
    if (key in labels) continue;
    // Beyond the least and the greatest number that is named there are others.
    const others = key === 'generation' ? ['0', ...values, '3'] : values;
    variants = variants.flatMap((variant) => [variant, ...others.map((value) => ({ ...variant, [key]: value }))]);
  }
  const metadata = { name: 'node', uid: 'node', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
  return variants.map((variant) => ({ metadata: { ...metadata, labels: variant }, spec: {} }));
}

/** Whether some node that is of all these flavors is one that the Job asks for, and one for the pods that dispatch makes of it. */
function canRun(job: Job, flavors: readonly ResourceFlavor[]): boolean {
  const labels: Record<string, string> = {};
  for (const { spec } of flavors) {
    for (const [key, value] of Object.entries(spec?.nodeLabels ?? {})) {
      if ((labels[key] ?? value) !== value) return false;
      labels[key] = value;
    }
  }
  const podOf = (spec: PodSpec | undefined) => ({ metadata: { ...job.metadata, name: 'pod' }, spec: { containers: [], ...spec } });
  return nodesWith(labels).some((node) =>
    flavors.every((flavor) => {
      // A flavor's taints are tolerated by its own tolerations, not by those of another that happens to be taken with it.
      const options = { origin: 'x', epoch: 1, jobController: 'x', local: false, flavors: [flavor] };
      const sent = podOf(remoteJob(job, options).spec.template.spec);
      const asked = podOf({ ...sent.spec, nodeSelector: job.spec.template.spec?.nodeSelector ?? {} });
      const tainted = { ...node, spec: { taints: [...(flavor.spec?.nodeTaints ?? [])] } };
      return [sent, asked].every((pod) => misfits(pod, tainted, {}, {}).length === 0);
    }),
  );
}

test('a Job is admitted exactly where some flavors of its queue are for nodes on which its pods can run, and to such flavors', () => {
  fc.assert(
    fc.property(
      fc.array(flavorSpec, { minLength: 4, maxLength: 4 }),
      pods,
      fc.boolean(),
      (specs, { nodeSelector, terms, ...pod }, twoGroups) => {
        const flavors = specs.map((spec, index) => aFlavor(`f${index}`, spec));
        const group = (resource: string, members: readonly ResourceFlavor[]) => ({
          coveredResources: [resource],
          flavors: members.map(({ metadata }) => ({ name: metadata.name, resources: [{ name: resource, nominalQuota: '9' }] })),
        });
        const groups = twoGroups ? [flavors.slice(0, 2), flavors.slice(2)] : [flavors];
        const resourceGroups = groups.map((members, index) => group(['cpu', 'memory'][index] ?? '', members));
        const required = terms === null ? {} : { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } };
        const requests = { cpu: '1', ...(twoGroups ? { memory: '1' } : {}) };
        const containers = [{ name: 'main', image: 'x', resources: { requests } }];
        const job = aHomeJob({ spec: { template: { spec: { containers, nodeSelector, affinity: { nodeAffinity: required }, ...pod } } } });
        const workload = workloadOf(JOB_KIND, job, { kind: 'None' });
        if (workload === undefined) throw new Error('it is not the Job of the manager');
        const snapshot = aSnapshot([aClusterQueue('main', {}, { resourceGroups })], [aCluster('eu')], { resourceFlavors: flavors });
        const [decision] = schedule(snapshot, [head('main', workload)], nowMs);
        const possible = (groups[0] ?? []).flatMap((first) =>
          (groups[1] ?? [undefined]).map((second) => (second === undefined ? [first] : [first, second])),
        );
        expect(decision?.kind).toBe(possible.some((combination) => canRun(job, combination)) ? 'Admit' : 'Inadmissible');
        if (decision?.kind === 'Inadmissible') expect(decision.waitsFor).toBe('setup');
        if (decision?.kind !== 'Admit') return;
        const taken = Object.values(decision.record.flavors);
        expect(
          canRun(
            job,
            flavors.filter(({ metadata }) => taken.includes(metadata.name)),
          ),
        ).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
});
