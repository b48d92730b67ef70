import { describe, expect, test } from 'vitest';
import { decideMirror } from '../../../../../manager/dispatch/decisions/decide-mirror.ts';
import { contactDependence } from '../../../../../manager/dispatch/mirror/contact-dependence.ts';
import type { ClusterView, Copy, MirrorGroup } from '../../../../../manager/dispatch/mirror/mirror-group.ts';
import type { Job } from '../../../../../shared/api/kubernetes.ts';
import { aCondition, anAdmittedJob } from '../../../../support/jobs.ts';
import { CLUSTER, CONNECTING, copyOn, DISPATCHED, groupOf, LOST, NOW, RESERVED } from '../decisions/mirror-situation.ts';

const STARTED = '2026-01-01T00:00:10Z';
const RUNNING = { active: 1, startTime: STARTED, conditions: [RESERVED, DISPATCHED] };
const running = anAdmittedJob({ status: RUNNING });
const suspended = anAdmittedJob({ spec: { suspend: true }, status: RUNNING });
const finished = anAdmittedJob({ status: { conditions: [aCondition('Complete')] } });
const copy = copyOn('eu-1', running, { status: { active: 1, startTime: STARTED } });
const LOSS: MirrorGroup['loss'] = { kind: 'NotYet', forMs: 240_000, message: 'lost since', reportInMs: 50_000 };

/** As the controller observes it: only clusters that the Job has to do with. */
function observed(...[local, copies, views = {}, parts = {}]: Parameters<typeof groupOf>): MirrorGroup {
  const group = groupOf(local, copies, views, parts);
  const names = new Set([
    ...(group.place?.kind === 'Known' ? [group.place.cluster] : []),
    ...copies.map(({ cluster }) => cluster),
    ...Object.keys(views),
  ]);
  return { ...group, clusters: new Map([...group.clusters].filter(([name]) => names.has(name))) };
}

type Situation = [name: string, local: Job | undefined, copies: readonly Copy[]];

const INDEPENDENT: Situation[] = [
  ['runs in its place', running, [copy]],
  ['is to be suspended in its place', suspended, [copy]],
  ['rests in its place', suspended, [copyOn('eu-1', suspended, { suspend: true, status: { conditions: [aCondition('Suspended')] } })]],
  [
    'runs in its place and has just finished there',
    running,
    [copyOn('eu-1', running, { status: { conditions: [aCondition('Complete')] } })],
  ],
];

describe('a Job that depends on no contact', () => {
  test.each<Situation>(INDEPENDENT)('%s', (_, local, copies) => {
    expect(contactDependence(observed(local, copies))).toEqual([]);
  });

  test.each<Situation>(INDEPENDENT)('%s, and has nothing else to report when the cluster is lost', (_, local, copies) => {
    const { home } = decideMirror(observed(local, copies), NOW);
    expect(decideMirror(observed(local, copies, { 'eu-1': LOST }, { loss: LOSS }), NOW).home).toEqual(home);
    expect(decideMirror(observed(local, copies, { 'eu-1': LOST }), NOW).home).toEqual(home);
  });

  test('has finished, and has no copy any more', () => {
    expect(contactDependence(observed(finished, []))).toEqual([]);
    expect(contactDependence(observed(finished, [], { 'eu-1': LOST }, { loss: LOSS }))).toEqual([]);
    expect(contactDependence(observed(undefined, []))).toEqual([]);
  });

  test('has finished, and its copy is deleted on a cluster that answers', () => {
    expect(contactDependence(observed(finished, [copyOn('eu-1', finished)]))).toEqual([]);
  });
});

describe('a Job depends on the contact to a cluster', () => {
  const doubt: ClusterView = { ...CLUSTER, doubt: { kind: 'Waiting', forMs: 9_000 } };
  const refused = { reason: 'Refused', message: 'no' } as const;
  test.each<[...Situation, Record<string, ClusterView>, Partial<MirrorGroup>, readonly string[]]>([
    ['that is lost', running, [copy], { 'eu-1': LOST }, {}, ['eu-1']],
    ['that is not connected yet', running, [copy], { 'eu-1': CONNECTING }, {}, ['eu-1']],
    ['that still counts as lost', running, [copy], { 'eu-1': CLUSTER }, { loss: LOSS }, ['eu-1']],
    ['where its copy is to be made', running, [], {}, {}, ['eu-1']],
    ['where its copy is being deleted', running, [{ ...copy, deleting: true }], {}, {}, ['eu-1']],
    ['where an earlier copy is to be deleted', running, [copy, copyOn('us-2', running)], {}, {}, ['eu-1', 'us-2']],
    ['where a write may still be carried out', running, [copy], { 'us-2': doubt }, {}, ['us-2']],
    ['where a write of its last copy may be carried out', finished, [], { 'us-2': doubt }, {}, ['us-2']],
    ['where its last write was refused', running, [copy], { 'eu-1': { ...CLUSTER, problem: refused } }, {}, ['eu-1']],
    ['where its writes keep failing', running, [copy], { 'eu-1': { ...CLUSTER, trouble: refused } }, {}, ['eu-1']],
    ['where its copy is left, though it has finished', finished, [copy], { 'eu-1': LOST }, {}, ['eu-1']],
    ['where its copy is left, though it is gone', undefined, [copy], { 'eu-1': LOST }, {}, ['eu-1']],
  ])('%s', (_, local, copies, clusters, parts, expected) => {
    expect(contactDependence(observed(local, copies, clusters, parts))).toEqual(expected);
  });
});
