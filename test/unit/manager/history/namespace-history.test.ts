import { expect, test } from 'vitest';
import type { HistoryQuery } from '../../../../manager/history/history.ts';
import type { HistoryRecord } from '../../../../manager/history/history-record.ts';
import { createNamespaceHistory } from '../../../../manager/history/namespace-history.ts';
import { TooMuchWaits } from '../../../../shared/runtime/fair-slots.ts';

const TEAM = { name: 'team', uid: 'n1', createdMs: 0 };
const RECORD: HistoryRecord = {
  uid: 'u',
  namespace: 'team',
  name: 'train',
  outcome: 'Complete',
  user: 'ann',
  created: '2026-01-01T00:00:00Z',
  admitted: '2026-01-01T01:00:00Z',
  ended: '2026-01-01T03:00:00Z',
  requests: { cpu: '2' },
  succeeded: 1,
  failed: 0,
};
const DAY = { by: 'user', fromMs: Date.UTC(2026, 0, 1), untilMs: Date.UTC(2026, 0, 2) } as const;

function aHistory(answer: () => Promise<readonly HistoryRecord[]>) {
  const asked: HistoryQuery[] = [];
  const nothing = async () => undefined;
  const history = createNamespaceHistory(
    {
      query: (query) => {
        asked.push(query);
        return answer();
      },
      put: nothing,
      podsOf: async () => [],
      tail: nothing,
      latest: async () => new Set(),
      purge: async () => ({ jobs: 0, copies: 0, logs: 0 }),
      expire: async () => 0,
    },
    { of: (name) => (name === 'team' ? TEAM : undefined) },
  );
  return { history, asked };
}

test('the Jobs of the namespace that has the name now are summed, and those of none where it is gone', async () => {
  const { history, asked } = aHistory(async () => [RECORD]);
  expect(await history.usage({ namespace: 'team', ...DAY })).toMatchObject({
    isPartial: false,
    rows: [{ name: 'ann', jobs: 1, admittedHours: 2, hours: { cpu: 4 } }],
  });
  expect(asked).toEqual([{ namespace: 'team', of: TEAM, sinceMs: DAY.fromMs, limit: 10_000 }]);
  expect(await history.usage({ namespace: 'gone', ...DAY })).toMatchObject({ rows: [] });
});

test('several namespaces are summed as those that have the names now, and all with what is gone', async () => {
  const { history, asked } = aHistory(async () => [RECORD]);
  const by = { ...DAY, by: 'namespace' } as const;
  expect(await history.usageOfAll({ ...by, namespaces: ['team', 'gone'], owner: 'ann' })).toMatchObject({
    isPartial: false,
    rows: [{ name: 'team', jobs: 1, hours: { cpu: 4 } }],
  });
  expect(asked).toEqual([{ namespace: 'team', of: TEAM, sinceMs: DAY.fromMs, limit: 10_000 }]);
  expect(await history.usageOfAll({ ...by, namespaces: [], owner: 'nobody' })).toMatchObject({ rows: [], isPartial: false });
  await history.usageOfAll({ ...by, namespaces: 'All', owner: 'admin' });
  expect(asked.at(-1)).toEqual({ sinceMs: DAY.fromMs, limit: 10_000 });
  const many = Array.from({ length: 51 }, (_, number) => `team-${number}`);
  expect(await history.usageOfAll({ ...by, namespaces: many, owner: 'ann' })).toMatchObject({ isPartial: true });
});

test('many namespaces are read together no further than one', async () => {
  const { history, asked } = aHistory(async () => Array.from({ length: 10_000 }, () => RECORD));
  const usage = await history.usageOfAll({ ...DAY, namespaces: ['team', 'team'], owner: 'ann' });
  expect(usage).toMatchObject({ isPartial: true, rows: [{ jobs: 10_000 }] });
  expect(asked).toHaveLength(1);
});

test('more Jobs than are read are said to be missing', async () => {
  const { history } = aHistory(async () => Array.from({ length: 10_000 }, () => RECORD));
  expect(await history.usage({ namespace: 'team', ...DAY })).toMatchObject({ isPartial: true, rows: [{ jobs: 10_000 }] });
});

test('a namespace sums once at a time, and is refused what is too much; others are not kept waiting', async () => {
  const gate = Promise.withResolvers<readonly HistoryRecord[]>();
  const { history, asked } = aHistory(() => gate.promise);
  const sums = [1, 2, 3].map(() => history.usage({ namespace: 'team', ...DAY }));
  await expect(history.usage({ namespace: 'team', ...DAY })).rejects.toThrow(TooMuchWaits);
  expect(asked).toHaveLength(1);
  expect(await history.usage({ namespace: 'gone', ...DAY })).toMatchObject({ rows: [] });
  gate.resolve([]);
  expect(await Promise.all(sums)).toHaveLength(3);
});
