import { describe, expect, test } from 'vitest';
import type { Node, Pod } from '../../../../../../shared/api/kubernetes.ts';
import { amountsOf, misfits, requestsOf } from '../../../../../../shared/controlplane/controllers/node-agent/fit.ts';

const METADATA = { uid: 'uid', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
const pod = (spec: Partial<Pod['spec']> = {}): Pod => ({
  metadata: { ...METADATA, name: 'pod', namespace: 'default' },
  spec: { containers: [{ name: 'main', image: 'x' }], ...spec },
});
const node = (spec: NonNullable<Node['spec']> = {}, labels: Record<string, string> = {}): Node => ({
  metadata: { ...METADATA, name: 'node-1', labels },
  spec,
});
const container = (name: string, cpu: string) => ({ name, image: 'x', resources: { requests: { cpu } } });
const cpus = (count: number): bigint => BigInt(count * 1_000_000_000);

describe('what a pod takes of a node', () => {
  test('is the sum of its containers and sidecars, its overhead, and one pod', () => {
    const requests = requestsOf(
      pod({
        containers: [container('a', '1'), container('b', '500m')],
        initContainers: [{ ...container('sidecar', '1'), restartPolicy: 'Always' }],
        overhead: { cpu: '500m' },
      }),
    );
    expect(requests).toEqual({ cpu: cpus(3), pods: cpus(1) });
  });

  test('is the largest init container where that is more', () => {
    const requests = requestsOf(pod({ containers: [container('a', '1')], initContainers: [container('x', '3'), container('y', '2')] }));
    expect(requests['cpu']).toBe(cpus(3));
  });
});

describe('a pod fits a node', () => {
  const free = amountsOf({ cpu: '2', pods: '1' });
  const why = (what: Partial<Pod['spec']>, on: Node = node()): string | undefined =>
    misfits(pod(what), on, requestsOf(pod(what)), free).join(', ') || undefined;

  test('whose free room it needs at most', () => {
    expect(why({ containers: [container('a', '2')] })).toBeUndefined();
    expect(why({ containers: [container('a', '2001m')] })).toBe('Insufficient cpu');
    expect(misfits(pod(), node(), requestsOf(pod()), amountsOf({ cpu: '2', pods: '0' }))).toEqual(['Too many pods']);
    const large = pod({ containers: [container('a', '3')] });
    expect(misfits(large, node(), requestsOf(large), amountsOf({ cpu: '2', pods: '0' }))).toEqual(['Insufficient cpu', 'Too many pods']);
  });

  test('that is not cordoned, unless it tolerates that', () => {
    expect(why({}, node({ unschedulable: true }))).toBe('node(s) were unschedulable');
    const tolerations = [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }];
    expect(why({ tolerations }, node({ unschedulable: true }))).toBeUndefined();
  });

  test('whose taints it tolerates; a preference keeps nobody away', () => {
    expect(why({}, node({ taints: [{ key: 'gpu', effect: 'NoSchedule' }] }))).toBe('node(s) had untolerated taint(s)');
    expect(why({}, node({ taints: [{ key: 'gpu', effect: 'PreferNoSchedule' }] }))).toBeUndefined();
  });

  test('whose labels its node selector asks for', () => {
    const mismatch = "node(s) didn't match Pod's node affinity/selector";
    expect(why({ nodeSelector: { zone: 'a' } }, node({}, { zone: 'b' }))).toBe(mismatch);
    expect(why({ nodeSelector: { zone: 'a' } }, node({}, { zone: 'a' }))).toBeUndefined();
  });

  test('that one term of its required affinity describes in full; an empty term describes none', () => {
    type Term = { matchExpressions?: { key: string; operator: string; values?: string[] }[] };
    const terms = (...nodeSelectorTerms: Term[]): Partial<Pod['spec']> => ({
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
    });
    const inZone = (zone: string) => ({ matchExpressions: [{ key: 'zone', operator: 'In', values: [zone] }] });
    expect(why(terms(inZone('a'), inZone('b')), node({}, { zone: 'b' }))).toBeUndefined();
    expect(why(terms(inZone('a')), node({}, { zone: 'b' }))).toBeDefined();
    expect(why(terms({}), node({}, { zone: 'b' }))).toBeDefined();
  });
});
