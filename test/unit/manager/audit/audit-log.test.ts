import { expect, test } from 'vitest';
import type { AuditEntry } from '../../../../manager/audit/audit-line.ts';
import { createAuditLog } from '../../../../manager/audit/audit-log.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const entry: AuditEntry = {
  user: { username: 'ann', uid: 'u1', groups: ['dev', 'ops'] },
  what: 'cancel',
  on: { kind: 'Job', namespace: 'team', name: 'train', uid: 'j1' },
  from: { door: 'dashboard', address: '10.0.0.1' },
  outcome: 'Done',
};

function aLog(takes = () => true) {
  const lines: string[] = [];
  const dropped: string[] = [];
  const clock = new FakeClock();
  const log = createAuditLog({ sink: { write: (line) => takes() && lines.push(line) > 0 }, clock });
  log.countDropped({ inc: ({ reason }) => void dropped.push(reason) });
  return { lines, dropped, clock, log };
}

test('lines that the sink does not take are counted', () => {
  const { dropped, log } = aLog(() => false);
  log.note(entry);
  expect(dropped).toEqual(['slow']);
});

test('a flood of unknown callers leaves room for known ones, and what it costs is counted', async () => {
  const { lines, dropped, log, clock } = aLog();
  for (let count = 0; count < 1_000; count++) log.note({ ...entry, user: undefined });
  log.note(entry);
  expect(lines).toHaveLength(101);
  expect(dropped).toEqual(Array.from({ length: 900 }, () => 'anonymous'));
  await clock.advance(1_000);
  log.note({ ...entry, user: undefined });
  expect(lines).toHaveLength(102);
});
