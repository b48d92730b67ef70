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

test('a line has all its fields, and null for what is not known', () => {
  const { lines, log, clock } = aLog();
  log.note(entry);
  log.note({
    user: undefined,
    what: 'act',
    on: { kind: 'Unknown' },
    from: { door: 'http', address: undefined },
    reason: 'no',
    outcome: 'Refused',
  });
  const time = new Date(clock.now()).toISOString();
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    {
      log: 'audit',
      time,
      who: { user: 'ann', uid: 'u1', groups: 2 },
      what: 'cancel',
      on: { kind: 'Job', namespace: 'team', name: 'train', uid: 'j1' },
      from: { door: 'dashboard', address: '10.0.0.1' },
      reason: null,
      outcome: 'Done',
    },
    {
      log: 'audit',
      time,
      who: { user: null, uid: null, groups: 0 },
      what: 'act',
      on: { kind: 'Unknown', namespace: null, name: null, uid: null },
      from: { door: 'http', address: null },
      reason: 'no',
      outcome: 'Refused',
    },
  ]);
});

test('names that callers choose neither begin a line of their own nor make one long', () => {
  const { lines, log } = aLog();
  log.note({ ...entry, on: { kind: 'Submission', name: `a\n{"log":"audit"}${'x'.repeat(100_000)}` }, reason: '\u2028'.repeat(100_000) });
  expect(lines).toHaveLength(1);
  expect(lines[0]?.split('\n')).toHaveLength(2);
  expect(lines[0]?.length).toBeLessThan(4_096);
});

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
