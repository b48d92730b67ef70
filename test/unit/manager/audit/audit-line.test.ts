import { expect, test } from 'vitest';
import { auditLine, type AuditEntry } from '../../../../manager/audit/audit-line.ts';

const entry: AuditEntry = {
  user: { username: 'ann', uid: 'u1', groups: ['dev', 'ops'] },
  what: 'set-clusters',
  value: 'eu-1',
  on: { kind: 'Job', namespace: 'team', name: 'train', uid: 'j1' },
  from: { door: 'dashboard', address: '10.0.0.1' },
  outcome: 'Done',
};

test('a line has all its fields, and null for what is not known', () => {
  const time = '2026-01-01T00:00:00.000Z';
  const unknown: AuditEntry = {
    user: undefined,
    what: 'act',
    on: { kind: 'Unknown' },
    from: { door: 'http', address: undefined },
    reason: 'no',
    outcome: 'Refused',
  };
  expect([entry, unknown].map((each) => JSON.parse(auditLine(each, Date.parse(time))) as unknown)).toEqual([
    {
      log: 'audit',
      time,
      who: { user: 'ann', uid: 'u1', groups: 2 },
      what: 'set-clusters',
      value: 'eu-1',
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
      value: null,
      on: { kind: 'Unknown', namespace: null, name: null, uid: null },
      from: { door: 'http', address: null },
      reason: 'no',
      outcome: 'Refused',
    },
  ]);
});

test('names that callers choose neither begin a line of their own nor make one long', () => {
  const on = { kind: 'Submission', name: `a\n{"log":"audit"}${'x'.repeat(100_000)}` };
  const line = auditLine({ ...entry, on, reason: '\u2028'.repeat(100_000) }, 0);
  expect(line.split('\n')).toHaveLength(2);
  expect(line.length).toBeLessThan(4_096);
});
