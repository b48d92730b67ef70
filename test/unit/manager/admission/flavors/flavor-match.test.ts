import { describe, expect, test } from 'vitest';
import type { ResourceFlavorSpec } from '../../../../../manager/api/resource-flavor.ts';
import { agree, matchFlavor } from '../../../../../manager/admission/flavors/flavor-match.ts';
import { nodeWishOf } from '../../../../../manager/admission/workload/node-wish.ts';
import type { FlavorSetup } from '../../../../../manager/admission/snapshot/snapshot.ts';
import type { PodSpec } from '../../../../../shared/api/kubernetes.ts';
import type { NodeTerm } from '../../../../../shared/kube/node-terms.ts';
import { aClusterQueue, aFlavor, aSnapshot, queueOf } from '../setup.ts';

/** A flavor as a queue that gives it sees it. */
function flavor(name: string, spec: ResourceFlavorSpec): FlavorSetup {
  const snapshot = aSnapshot([aClusterQueue('main', { [name]: '1' })], [], { resourceFlavors: [aFlavor(name, spec)] });
  const setup = queueOf(snapshot, 'main').groups[0]?.flavors[0];
  if (setup === undefined) throw new Error('the queue has no flavor');
  return setup;
}
/** What keeps pods from a flavor; undefined when nothing does. */
function problem(pod: Partial<PodSpec>, setup: FlavorSetup): string | undefined {
  const match = matchFlavor(nodeWishOf({ containers: [], ...pod }), setup);
  return match.kind === 'Mismatch' ? match.problem : undefined;
}
const affinity = (...nodeSelectorTerms: NodeTerm[]): Partial<PodSpec> => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: nodeSelectorTerms as never } } },
});
const term = (key: string, operator: string, ...values: string[]): NodeTerm => ({ matchExpressions: [{ key, operator, values }] });

const one = flavor('one', { nodeLabels: { type: 'one' } });
const unlabelled = flavor('plain', {});

describe('labels', () => {
  test('a node selector excludes a flavor whose nodes have another value', () => {
    expect(problem({ nodeSelector: { type: 'two' } }, one)).toBe(
      "flavor one is for nodes with type=one, which the Job's nodeSelector excludes",
    );
    expect(problem({ nodeSelector: { type: 'one' } }, one)).toBeUndefined();
  });

  test('labels that the flavor does not name are not judged, though another flavor of its group names them', () => {
    expect(problem({ nodeSelector: { zone: 'a' }, ...affinity(term('disk', 'In', 'fast')) }, one)).toBeUndefined();
    expect(problem({ nodeSelector: { type: 'two' }, ...affinity(term('type', 'In', 'two')) }, unlabelled)).toBeUndefined();
  });

  test.each<[string, string[], boolean]>([
    ['In', ['one', 'two'], true],
    ['In', ['two'], false],
    ['NotIn', ['two'], true],
    ['NotIn', ['one'], false],
    ['Exists', [], true],
    ['DoesNotExist', [], false],
  ])('required affinity is judged by what it says: type %s %j: %s', (operator, values, fits) => {
    expect(problem(affinity(term('type', operator, ...values)), one)).toBe(
      fits ? undefined : "flavor one is for nodes with type=one, which the Job's required node affinity excludes",
    );
  });

  test.each<[string, string, boolean]>([
    ['Gt', '3', true],
    ['Gt', '4', false],
    ['Lt', '10', true],
    ['Lt', '4', false],
  ])('numbers are compared as numbers: 4 %s %s: %s', (operator, value, fits) => {
    expect(problem(affinity(term('generation', operator, value)), flavor('gen', { nodeLabels: { generation: '4' } })) === undefined).toBe(
      fits,
    );
  });

  test('one of several terms is enough, and all of what a term asks must hold', () => {
    expect(problem(affinity(term('type', 'In', 'two'), term('type', 'In', 'one')), one)).toBeUndefined();
    const both = { matchExpressions: [{ key: 'type', operator: 'Exists' }, ...(term('type', 'In', 'two').matchExpressions ?? [])] };
    expect(problem(affinity(both), one)).toBeDefined();
  });

  test('a term that asks about other labels only, or about names of nodes, can be met by any flavor, and so the affinity can', () => {
    expect(problem(affinity(term('disk', 'In', 'fast'), term('type', 'In', 'two')), one)).toBeUndefined();
    const named = { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-7'] }] };
    expect(problem(affinity(named, term('type', 'In', 'two')), one)).toBeUndefined();
  });

  test('within a term what is said of other labels is left out, and the rest counts', () => {
    const mixed = {
      matchExpressions: [...(term('disk', 'In', 'fast').matchExpressions ?? []), { key: 'type', operator: 'In', values: ['two'] }],
    };
    expect(problem(affinity(mixed), one)).toBeDefined();
  });

  test('node selector and affinity must both hold', () => {
    expect(problem({ nodeSelector: { type: 'one' }, ...affinity(term('type', 'In', 'two')) }, one)).toMatch(/required node affinity/);
    expect(problem({ nodeSelector: { type: 'two' }, ...affinity(term('type', 'In', 'one')) }, one)).toMatch(/nodeSelector/);
  });

  test('the labels that are asked about are named, and no others', () => {
    const zoned = flavor('zoned', { nodeLabels: { zone: 'a', disk: 'slow', pool: 'x' } });
    expect(problem(affinity(term('zone', 'In', 'b'), term('disk', 'In', 'fast')), zoned)).toBe(
      "flavor zoned is for nodes with zone=a and disk=slow, which the Job's required node affinity excludes",
    );
  });

  test('an empty term describes no node, so pods that have no other run nowhere', () => {
    expect(problem(affinity({}), unlabelled)).toBe(
      "flavor plain is for nodes with any labels, which the Job's required node affinity excludes",
    );
    expect(problem(affinity({}, term('type', 'In', 'one')), one)).toBeUndefined();
  });

  test('what is preferred excludes nothing', () => {
    const preferred = [{ weight: 1, preference: { matchExpressions: [{ key: 'type', operator: 'In', values: ['two'] }] } }];
    expect(problem({ affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } } }, one)).toBeUndefined();
  });

  test('two flavors agree unless one label has two values', () => {
    expect([agree({ a: '1' }, { b: '2' }), agree({ a: '1', b: '2' }, { b: '2' }), agree({ a: '1' }, { a: '2' })]).toEqual([
      true,
      true,
      false,
    ]);
  });
});

describe('taints', () => {
  const spot = { key: 'instance', value: 'spot', effect: 'NoSchedule' as const };
  const tainted = flavor('spot', { nodeTaints: [spot] });

  test('a flavor with a taint is for Jobs that tolerate it', () => {
    expect(problem({}, tainted)).toBe('flavor spot has the taint instance=spot:NoSchedule, which the Job does not tolerate');
    expect(
      problem({ tolerations: [{ key: 'instance', operator: 'Equal', value: 'spot', effect: 'NoSchedule' }] }, tainted),
    ).toBeUndefined();
    expect(problem({ tolerations: [{ key: 'instance', value: 'reserved' }] }, tainted)).toBeDefined();
    expect(problem({ tolerations: [{ operator: 'Exists' }] }, tainted)).toBeUndefined();
  });

  test('what the flavor itself tolerates, its pods tolerate', () => {
    const tolerations = [{ key: 'instance', operator: 'Exists' as const }];
    expect(problem({}, flavor('spot', { nodeTaints: [spot], tolerations }))).toBeUndefined();
    const gpu = { key: 'gpu', effect: 'NoExecute' as const };
    expect(problem({}, flavor('spot', { nodeTaints: [spot, gpu], tolerations }))).toBe(
      'flavor spot has the taint gpu:NoExecute, which the Job does not tolerate',
    );
  });

  test('NoExecute keeps pods away as NoSchedule does; PreferNoSchedule keeps nobody away', () => {
    expect(problem({}, flavor('x', { nodeTaints: [{ ...spot, effect: 'NoExecute' }] }))).toBeDefined();
    expect(problem({}, flavor('x', { nodeTaints: [{ ...spot, effect: 'PreferNoSchedule' }] }))).toBeUndefined();
  });

  test('a toleration for a while is one', () => {
    const eviction = flavor('x', { nodeTaints: [{ ...spot, effect: 'NoExecute' }] });
    const tolerations = [{ key: 'instance', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 }];
    expect(problem({ tolerations }, eviction)).toBeUndefined();
  });
});
