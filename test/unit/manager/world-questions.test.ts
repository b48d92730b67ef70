import { expect, test } from 'vitest';
import { answering } from '../../../manager/world-questions.ts';
import { aJobOf, theWorld } from './world-of-jobs.ts';

test('an explanation and the order of a queue are told of the same world', () => {
  const answer = answering(theWorld([aJobOf('late', 2), aJobOf('early', 1), aJobOf('urgent', 3, 10)]), {}, 0);
  expect(answer({ kind: 'Order', clusterQueue: 'main' })).toEqual({
    kind: 'Ordered',
    waiting: 3,
    first: [
      { key: 'team/urgent', priority: 10 },
      { key: 'team/early', priority: 0 },
      { key: 'team/late', priority: 0 },
    ],
  });
  expect(answer({ kind: 'Order', clusterQueue: 'other' })).toEqual({ kind: 'Ordered', waiting: 0, first: [] });
  expect(answer({ kind: 'Explain', uid: 'uid-late' })).toMatchObject({
    kind: 'Explained',
    explanation: { kind: 'Waiting', job: 'team/late', position: 2 },
  });
  expect(answer({ kind: 'Explain', uid: 'nobody' })).toEqual({ kind: 'Nothing' });
});
