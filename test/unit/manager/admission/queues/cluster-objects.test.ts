import { expect, test } from 'vitest';
import { awaitedAnswer, createClusterObjects, withLacks } from '../../../../../manager/admission/queues/cluster-objects.ts';
import type { NeededObject, ObjectAnswer } from '../../../../../manager/api/needed-objects.ts';
import { waitingWorkload } from '../../../../support/waiting-workload.ts';

const DATA: NeededObject = { kind: 'PersistentVolumeClaim', name: 'data' };
const TRAINER: NeededObject = { kind: 'ServiceAccount', name: 'trainer' };
const workload = (needs: readonly NeededObject[], parts: object = {}) => waitingWorkload('train', {}, { needs, ...parts });
/** The answers about each object, by its name. */
const answers = (of: Readonly<Record<string, Readonly<Record<string, ObjectAnswer>>>>) => (_namespace: string, object: NeededObject) =>
  new Map(Object.entries(of[object.name] ?? {}));

test('a cluster lacks what it says to lack, and what it does not answer about', () => {
  const found = answers({ data: { east: 'Missing', west: 'Present', north: 'Unanswered', south: 'Unknown' } });
  expect(withLacks(workload([DATA]), found).lacks).toEqual({
    east: { problem: 'no PersistentVolumeClaim team/data', isMissing: true },
    north: { problem: 'does not answer whether it has PersistentVolumeClaim team/data' },
  });
});

test('of several objects the first one that is missing is named', () => {
  const found = answers({ data: { east: 'Asked', west: 'Missing' }, trainer: { east: 'Missing', west: 'Missing' } });
  expect(withLacks(workload([DATA, TRAINER]), found).lacks).toEqual({
    east: { problem: 'no ServiceAccount team/trainer', isMissing: true },
    west: { problem: 'no PersistentVolumeClaim team/data', isMissing: true },
  });
});

test('a Job that needs nothing asks nobody, and one that names clusters asks no other', () => {
  const asked: string[] = [];
  const find = (_namespace: string, { name }: NeededObject) => {
    asked.push(name);
    return new Map<string, ObjectAnswer>([
      ['east', 'Missing'],
      ['west', 'Asked'],
    ]);
  };
  const plain = workload([]);
  expect(withLacks(plain, find)).toBe(plain);
  expect(asked).toEqual([]);
  const chosen = withLacks(workload([DATA], { wish: { kind: 'Names', names: ['east'] } }), find);
  expect(Object.keys(chosen.lacks ?? {})).toEqual(['east']);
  expect(awaitedAnswer(chosen)).toBeUndefined();
});

test('once nothing is missing any more, nothing is left of what was', () => {
  const lacking = withLacks(workload([DATA]), answers({ data: { east: 'Missing' } }));
  expect('lacks' in withLacks(lacking, answers({ data: { east: 'Present' } }))).toBe(false);
});

test('a Job waits for first answers, with a reason that names cluster and object', () => {
  const asking = withLacks(workload([DATA]), answers({ data: { east: 'Asked', west: 'Missing' } }));
  expect(awaitedAnswer(asking)).toEqual({
    reason: 'ClustersAsked',
    message: 'east has not answered yet whether it has PersistentVolumeClaim team/data',
  });
  expect(awaitedAnswer(withLacks(workload([DATA]), answers({ data: { east: 'Unanswered' } })))).toBeUndefined();
});

test('before anyone needs objects, none is needed', () => {
  const objects = createClusterObjects(answers({}));
  expect(objects.isNeeded('team', 'PersistentVolumeClaim/data')).toBe(false);
  objects.changed('team');
  const changes: unknown[] = [];
  objects.serve({ isNeeded: (namespace) => namespace === 'team', changed: (...args) => void changes.push(args) });
  expect([objects.isNeeded('team', 'x'), objects.isNeeded('other', 'x')]).toEqual([true, false]);
  objects.changed('team', 'PersistentVolumeClaim/data');
  expect(changes).toEqual([['team', 'PersistentVolumeClaim/data']]);
});
