import { expect, test } from 'vitest';
import type { AuditEntry } from '../../../../manager/audit/audit-line.ts';
import { createWriteAudit } from '../../../../manager/audit/write-audit.ts';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import { CLUSTERS_ANNOTATION, HOLD_ANNOTATION } from '../../../../shared/api/names.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { aHomeJob } from '../../../support/jobs.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const version = (resourceVersion: string, annotations: Record<string, string> = {}, uid = 'u1'): Job =>
  aHomeJob({ metadata: { uid, resourceVersion, annotations } });
const HELD = { [HOLD_ANNOTATION]: 'true' };
const [FREE, STORED] = [version('5'), version('6', HELD)];

function world(there: Job = FREE) {
  const clock = new FakeClock();
  const entries: AuditEntry[] = [];
  const audit = createWriteAudit({ kind: JOB_KIND, log: { note: (entry) => entries.push(entry) }, jobs: { get: () => there }, clock });
  const claims = (username: string, job: Job, oldJob: Job = FREE): void =>
    audit.passed({ user: { username, groups: ['dev'] }, job, oldJob, address: '10.0.0.1' });
  const lines = (): string[] =>
    entries.splice(0).map(({ user, what, value, outcome }) => [user?.username, what, value, outcome].filter(Boolean).join(' '));
  return { audit, entries, claims, lines, clock };
}

test('what a user asks for is noted once the API server has stored it, and once', () => {
  const { audit, entries, claims, lines } = world();
  claims('ann', version('5', { ...HELD, [CLUSTERS_ANNOTATION]: 'eu-1' }));
  expect(entries).toEqual([]);
  const stored = version('6', { ...HELD, [CLUSTERS_ANNOTATION]: 'eu-1' });
  audit.handler.updated?.(stored, FREE);
  expect(entries[0]).toEqual({
    user: { username: 'ann', groups: ['dev'] },
    what: 'hold',
    on: { kind: 'Job', namespace: 'team', name: 'sum', uid: 'u1' },
    from: { door: 'webhook', address: '10.0.0.1' },
    outcome: 'Done',
  });
  expect(lines()).toEqual(['ann hold Done', 'ann set-clusters eu-1 Done']);
  audit.handler.updated?.(version('7'), stored);
  audit.handler.updated?.(version('8', HELD), version('7'));
  expect(lines()).toEqual([]);
});

test('a claim of what nobody stores leaves no line, nor does one of a Job that is not there', async () => {
  const { audit, claims, lines, clock } = world();
  claims('liar', version('5', HELD));
  audit.handler.updated?.(version('6', { note: 'x' }), FREE);
  await clock.advance(61_000);
  audit.handler.updated?.(STORED, FREE);
  const elsewhere = world(version('5', {}, 'u2'));
  elsewhere.claims('liar', version('5', HELD));
  elsewhere.audit.handler.updated?.(STORED, FREE);
  expect([lines(), elsewhere.lines()]).toEqual([[], []]);
});

test('a liar who claims the same change does not get the name onto it: both are noted, as not known', () => {
  const { audit, entries, claims, lines } = world();
  claims('ann', version('5', HELD));
  claims('liar', version('5', HELD));
  audit.handler.updated?.(STORED, FREE);
  expect(entries[0]?.reason).toContain('the audit log of the API server');
  expect(lines()).toEqual(['ann hold Failed', 'liar hold Failed']);
});

test('who asked for the version that was changed counts before those who asked for another', () => {
  const { audit, claims, lines } = world();
  claims('liar', version('4', HELD), version('4'));
  claims('ann', version('5', HELD));
  audit.handler.updated?.(STORED, FREE);
  expect(lines()).toEqual(['ann hold Done']);
});

test('a write that is tried again after a conflict, or of which the watch shows a later version, is one line', () => {
  const { audit, claims, lines } = world();
  claims('ann', version('4', HELD), version('4'));
  claims('ann', version('5', HELD));
  audit.handler.updated?.(version('9', { ...HELD, note: 'x' }), version('3'));
  expect(lines()).toEqual(['ann hold Done']);
});

test('claims for Jobs that go, or for very many, are forgotten', () => {
  const { audit, claims, lines } = world();
  claims('ann', version('5', HELD));
  audit.handler.deleted?.(FREE, false);
  audit.handler.updated?.(STORED, FREE);
  expect(lines()).toEqual([]);
  const many = createWriteAudit({
    kind: JOB_KIND,
    log: { note: ({ on }) => noted.push(on.uid) },
    jobs: { get: ({ name }) => aHomeJob({ metadata: { name, uid: name } }) },
    clock: new FakeClock(),
  });
  const noted: (string | undefined)[] = [];
  const of = (uid: string, annotations: Record<string, string> = {}) => aHomeJob({ metadata: { name: uid, uid, annotations } });
  for (let each = 0; each <= 10_000; each++)
    many.passed({ user: { username: 'ann' }, job: of(`j${each}`, HELD), oldJob: of(`j${each}`), address: undefined });
  for (const uid of ['j0', 'j1', 'j10000']) many.handler.updated?.(of(uid, HELD), of(uid));
  expect(noted).toEqual(['j1', 'j10000']);
});
