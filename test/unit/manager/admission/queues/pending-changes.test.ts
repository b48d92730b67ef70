import { expect, test } from 'vitest';
import { createSlicedPass } from '../../../../../manager/admission/cache/sliced-pass.ts';
import { PendingChanges } from '../../../../../manager/admission/queues/pending-changes.ts';
import { aWorkload } from '../setup.ts';

/** Pending Workloads of two shapes in two namespaces, and those that a visit queues again. */
function aWorld() {
  const workloads = ['round', 'square'].flatMap((shape) =>
    ['red', 'blue'].map((namespace) => aWorkload(`${namespace} ${shape}`, {}, { namespace, shape })),
  );
  let visited = 0;
  const visits = createSlicedPass(() => {
    visited++;
    return workloads.values();
  });
  const requeued: string[] = [];
  const changes = new PendingChanges(visits, ({ name }) => requeued.push(name));
  const visit = () => {
    visits.runUntil(() => false);
    return { requeued: requeued.splice(0), visited };
  };
  return { changes, visit };
}

test('one visit serves all changes of shapes and namespaces before it, and another one those after it', () => {
  const { changes, visit } = aWorld();
  changes.add('shapes', 'round');
  changes.add('shapes', 'round');
  changes.add('namespaces', 'blue');
  expect(visit()).toEqual({ requeued: ['red round', 'blue round', 'blue square'], visited: 1 });
  expect(visit()).toEqual({ requeued: [], visited: 1 });
  changes.add('namespaces', 'red');
  expect(visit()).toEqual({ requeued: ['red round', 'red square'], visited: 2 });
});

test('while no visit is made, so many changes concern all Workloads', () => {
  const { changes, visit } = aWorld();
  for (let index = 0; index < 999; index++) changes.add('shapes', `shape ${index}`);
  expect(visit().requeued).toEqual([]);
  for (let index = 0; index < 1_000; index++) changes.add('shapes', `shape ${index}`);
  expect(visit().requeued).toHaveLength(4);
});
