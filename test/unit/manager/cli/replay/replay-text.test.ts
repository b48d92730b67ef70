import { describe, expect, test } from 'vitest';
import { historyOf } from '../../../../../manager/insight/replay/logged-history.ts';
import { loggedOutcome } from '../../../../../manager/insight/replay/logged-outcome.ts';
import { replay } from '../../../../../manager/insight/replay/replay.ts';
import { replayReport } from '../../../../../manager/cli/replay/report.ts';
import { lengthText, replayText } from '../../../../../manager/cli/replay/replay-text.ts';
import { admits, aLoggedQueue, arrives, at, begun, ends, waits } from '../../insight/replay/logged-day.ts';

const lines = [
  ...begun(),
  arrives(0, 'a', 2),
  ...admits(0, 'a'),
  arrives(20, 'b', 2),
  ...waits(20, 'b'),
  ends(50, 'a'),
  ...admits(50, 'b'),
  ends(100, 'b'),
  { kind: 'looked', at: at(100), because: 'idle' } as const,
];
const reported = (objects: ReturnType<typeof aLoggedQueue>[] = []) => {
  const history = historyOf(lines);
  const isOther = objects.length > 0;
  return replayReport({ history, cutOff: 1, logged: loggedOutcome(history), replayed: replay(history, { objects }), objects, isOther });
};

describe('the report of a replay', () => {
  test('under the same setup says that all was decided as it was', () => {
    expect(replayText(reported())).toBe(`2026-01-05T00:00:00.000Z to 2026-01-05T00:01:40.000Z (1m40s), 2 Jobs in 1 queue
passed over, because cut off: 1 line
decided as it was, in all 3 cycles

            admitted preempted waiting     p50     p90     p99  used  makespan
main (2 Jobs)
  logged           2         0       0      0s     30s     30s  100%     1m40s
  replayed         2         0       0      0s     30s     30s  100%     1m40s
`);
  });

  test('under another one says from when on it was decided otherwise, and compares', () => {
    const report = reported([aLoggedQueue('main', '4')]);
    const text = replayText(report);
    expect(text).toContain('with others: ClusterQueue main\n');
    expect(text).toContain('  logged:   team/b waits (InsufficientQuota, for eu)\n  replayed: team/b goes to eu (default)\n');
    expect(text).toContain('  replayed         2         0       0      0s      0s      0s   50%     1m10s\n');
    expect(report.queues[0]?.logged?.waits?.p99).toBe(30_000);
  });

  test('has no line of more than 80 columns, and nothing that moves a cursor', () => {
    for (const line of replayText(reported()).split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    expect(replayText({ ...reported(), queues: [{ queue: 'a\u001b[2J' }] })).toContain('a?[2J (0 Jobs)');
  });
});

test.each([
  [0, '0s'],
  [1_440, '1.4s'],
  [59_400, '59s'],
  [185_000, '3m05s'],
  [7_800_000, '2h10m'],
  [356_400_000, '4d03h'],
])('%i ms are %s', (ms, text) => {
  expect(lengthText(ms)).toBe(text);
});
