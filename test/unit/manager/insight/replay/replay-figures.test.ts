import { expect, test } from 'vitest';
import { objectName } from '../../../../../manager/admission/decision-log/decision-log.ts';
import { historyOf } from '../../../../../manager/insight/replay/logged-history.ts';
import { loggedOutcome } from '../../../../../manager/insight/replay/logged-outcome.ts';
import { agreementOf, figuresOf, lastSetup } from '../../../../../manager/insight/replay/replay-figures.ts';
import { admits, aLoggedQueue, arrives, at, begun, ends, waits } from './logged-day.ts';

const history = historyOf([
  ...begun(),
  arrives(0, 'a', 2),
  ...admits(0, 'a'),
  arrives(20, 'b', 1),
  ...waits(20, 'b'),
  arrives(30, 'c', 4),
  ends(50, 'a'),
  ...admits(50, 'b'),
  ends(100, 'b'),
  { kind: 'looked', at: at(100), because: 'idle' },
]);

test('figures of a queue: waits by nearest rank, the part of the quota held, and who still waits', () => {
  expect(figuresOf(loggedOutcome(history), history, lastSetup(history, [], objectName))).toEqual([
    {
      queue: 'main',
      jobs: 3,
      admitted: 2,
      preempted: 0,
      waiting: 1,
      done: 2,
      waits: { p50: 0, p90: 30_000, p99: 30_000 },
      // Half of the time all of it, and then half of it.
      used: { resource: 'default/cpu', part: 0.75 },
      makespan: 100_000,
    },
  ]);
});

test('the setup is the last of the log, with what stands instead', () => {
  const [queue] = lastSetup(history, [aLoggedQueue('main', '9')], objectName).filter(({ kind }) => kind === 'ClusterQueue');
  expect(queue).toEqual(aLoggedQueue('main', '9'));
});

test('decisions agree until the first that is another one', () => {
  const { cycles } = loggedOutcome(history);
  expect(agreementOf(cycles, cycles)).toEqual({ cycles: 3, of: 3 });
  expect(agreementOf(cycles, cycles.slice(0, 1))).toEqual({
    cycles: 1,
    of: 3,
    first: { atMs: at(20), logged: 'team/b waits (InsufficientQuota, for eu)', replayed: 'nobody is tried' },
  });
});
