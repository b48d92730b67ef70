import { describe, expect, test } from 'vitest';
import {
  awaitsDependents,
  awaitsOrphaning,
  blocks,
  FOREGROUND_FINALIZER,
  ORPHAN_FINALIZER,
  OwnerGraph,
} from '../../../../../../shared/controlplane/controllers/garbage-collector/owner-graph.ts';
import { graphObject } from './graph-object.ts';

describe('the graph of owners', () => {
  test('knows the dependents of an owner that it has never seen', () => {
    const graph = new OwnerGraph();
    graph.set(graphObject('child', { owners: ['unseen'] }));
    expect(graph.dependentsOf('unseen').map(({ uid }) => uid)).toEqual(['child']);
    expect(graph.hasDependents('unseen')).toBe(true);
  });

  test('follows an object that changes its owner', () => {
    const graph = new OwnerGraph();
    graph.set(graphObject('child', { owners: ['a'] }));
    expect(graph.set(graphObject('child', { owners: ['b'] }))?.owners).toMatchObject([{ uid: 'a' }]);
    expect(graph.hasDependents('a')).toBe(false);
    expect(graph.dependentsOf('b')).toHaveLength(1);
  });

  test('forgets what goes', () => {
    const graph = new OwnerGraph();
    graph.set(graphObject('child', { owners: ['a'] }));
    expect(graph.remove('child')?.uid).toBe('child');
    expect(graph.remove('child')).toBeUndefined();
    expect(graph.get('child')).toBeUndefined();
    expect(graph.hasDependents('a')).toBe(false);
  });
});

test('an object waits for its dependents, or for their release, only once it is being deleted', () => {
  expect(awaitsDependents(graphObject('a', { finalizers: [FOREGROUND_FINALIZER] }))).toBe(false);
  expect(awaitsDependents(graphObject('a', { deleting: true, finalizers: [FOREGROUND_FINALIZER] }))).toBe(true);
  expect(awaitsOrphaning(graphObject('a', { deleting: true, finalizers: [ORPHAN_FINALIZER] }))).toBe(true);
  expect(awaitsOrphaning(graphObject('a', { deleting: true, finalizers: [FOREGROUND_FINALIZER] }))).toBe(false);
});

test('a dependent blocks the owner that it says it blocks, and no other', () => {
  const blocking = graphObject('child', { owners: ['a'], blocking: true });
  expect(blocks(blocking, 'a')).toBe(true);
  expect(blocks(blocking, 'b')).toBe(false);
  expect(blocks(graphObject('child', { owners: ['a'] }), 'a')).toBe(false);
});
