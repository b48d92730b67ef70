import { describe, expect, test } from 'vitest';
import { decideFate } from '../../../../../../shared/controlplane/controllers/garbage-collector/decide-fate.ts';
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../../../../../../shared/controlplane/controllers/garbage-collector/owner-graph.ts';
import { graphObject } from './graph-object.ts';

const child = graphObject('child', { owners: ['a', 'b'] });

describe('an object with two owners', () => {
  test('stays while both are there', () => {
    expect(decideFate(child, ['solid', 'solid'], [])).toEqual({ kind: 'keep' });
  });

  test('lets go of the one that is gone, and of the one that waits for it to go', () => {
    expect(decideFate(child, ['solid', 'absent'], [])).toEqual({ kind: 'detach', ownerUids: ['b'] });
    expect(decideFate(child, ['awaiting-dependents', 'solid'], [])).toEqual({ kind: 'detach', ownerUids: ['a'] });
  });

  test('goes in the background when both are gone', () => {
    expect(decideFate(child, ['absent', 'absent'], [])).toEqual({ kind: 'delete', policy: 'Background', unblockFirst: false });
  });

  test('goes after its own dependents when an owner waits for it', () => {
    const grandchild = graphObject('grandchild', { owners: ['child'] });
    expect(decideFate(child, ['absent', 'awaiting-dependents'], [grandchild])).toEqual({
      kind: 'delete',
      policy: 'Foreground',
      unblockFirst: false,
    });
  });

  test('stops blocking first when a dependent of it waits in turn: the circle would never end', () => {
    const waiting = graphObject('grandchild', { owners: ['child'], deleting: true, finalizers: [FOREGROUND_FINALIZER] });
    expect(decideFate(child, ['awaiting-dependents', 'absent'], [waiting])).toMatchObject({ policy: 'Foreground', unblockFirst: true });
  });
});

test.each([
  [[], 'Background'],
  [[FOREGROUND_FINALIZER], 'Foreground'],
  [[FOREGROUND_FINALIZER, ORPHAN_FINALIZER], 'Orphan'],
])('an object with the finalizers %j goes in the manner that was asked for: %s', (finalizers, policy) => {
  expect(decideFate(graphObject('child', { owners: ['a'], finalizers }), ['absent'], [])).toMatchObject({ kind: 'delete', policy });
});
