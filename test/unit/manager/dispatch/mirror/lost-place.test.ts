import { describe, expect, test } from 'vitest';
import type { LossJudgement } from '../../../../../manager/api/fenced-off.ts';
import { fencedOffMessage } from '../../../../../manager/api/rest-proof.ts';
import { aCondition, anAdmittedJob, aRecord } from '../../../../support/jobs.ts';
import { CLUSTER, conditionsHome, copyOn, DISPATCHED, LOST, plan, RESERVED } from '../decisions/mirror-situation.ts';

describe('a Job whose cluster is lost', () => {
  const lost = { 'eu-1': LOST };
  const fencedOff: LossJudgement = { kind: 'FencedOff', message: 'long ago' };
  const soon: LossJudgement = { kind: 'NotYet', forMs: 5_000, message: 'lost since noon' };
  const running = anAdmittedJob({ status: { active: 1, ready: 1, startTime: '2026-01-01T00:00:10Z', conditions: [RESERVED, DISPATCHED] } });
  const evicted = anAdmittedJob({ spec: { suspend: true }, status: running.status ?? {} }, { evicted: true });
  const atRest = aCondition('Dispatched', { status: 'False', reason: 'FencedOff', message: fencedOffMessage(aRecord()) });

  test('says since when, and what follows, beside what it said before; with its copy in sight or not', () => {
    for (const copies of [[], [copyOn('eu-1', running, { status: running.status ?? {} })]]) {
      const { home } = plan(running, copies, lost, { loss: soon });
      const told = home.kind === 'WriteStatus' ? home.status : undefined;
      expect(told?.conditions?.find(({ type }) => type === 'Dispatched')).toMatchObject({
        status: 'True',
        message: 'dispatched to cluster "eu-1" (placement 1); lost since noon',
      });
      expect(told).toMatchObject({ active: 1, startTime: '2026-01-01T00:00:10Z' });
    }
  });

  test('counts as at rest when it is suspended and fenced off, and not before', () => {
    for (const copies of [[], [copyOn('eu-1', evicted, { status: { active: 1 } })]]) {
      expect(conditionsHome(plan(evicted, copies, lost, { loss: fencedOff }))).toEqual(
        expect.arrayContaining(['Dispatched=False FencedOff', 'Suspended=True JobSuspended']),
      );
      expect(plan(evicted, copies, lost, { loss: fencedOff }).home).toMatchObject({ patch: { active: null, ready: 0, startTime: null } });
      const early = plan(evicted, copies, lost, { loss: soon });
      expect(conditionsHome(early)).not.toContain('Dispatched=False FencedOff');
      expect(early.againAfterMs).toBe(5_000);
      expect(conditionsHome(plan(evicted, copies, lost, { loss: { kind: 'Never', message: 'no fence' } }))).not.toContain(
        'Dispatched=False FencedOff',
      );
      expect(conditionsHome(plan(running, copies, lost, { loss: fencedOff }))).not.toContain('Dispatched=False FencedOff');
    }
  });

  test('is not taken for fenced off while its cluster answers', () => {
    for (const contact of ['Ready', 'Connecting'] as const)
      expect(conditionsHome(plan(evicted, [], { 'eu-1': { ...CLUSTER, contact } }, { loss: fencedOff }))).not.toContain(
        'Dispatched=False FencedOff',
      );
  });

  test('costs nothing more once it is said', () => {
    const said = { ...evicted, status: { conditions: [RESERVED, atRest, aCondition('Suspended')] } };
    expect(plan(said, [copyOn('eu-1', evicted, { status: { active: 1 } })], lost, { loss: fencedOff })).toEqual({
      remote: [],
      home: { kind: 'None' },
    });
  });

  test('ends where its queue says so, once it is fenced off', () => {
    const ending = anAdmittedJob(
      { spec: { suspend: true }, status: running.status ?? {} },
      { evicted: true, fail: { reason: 'ClusterLost', message: 'lost' } },
    );
    expect(conditionsHome(plan(ending, [], lost, { loss: fencedOff }))).toEqual(
      expect.arrayContaining(['FailureTarget=True ClusterLost', 'Failed=True ClusterLost']),
    );
    expect(conditionsHome(plan(ending, [], lost, { loss: soon }))).not.toContain('Failed=True ClusterLost');
  });

  test('is deleted: it holds what it holds until it is fenced off, and goes then; with its copy in sight or not', () => {
    const metadata = { finalizers: ['example.com/own', 'switchyard.dev/copies'], deletionTimestamp: '2026-01-01T00:59:00Z' };
    const deleted = anAdmittedJob({ metadata, status: running.status ?? {} });
    for (const copies of [[], [copyOn('eu-1', deleted, { status: { active: 1 } })]]) {
      const { home } = plan(deleted, copies, { 'eu-1': { ...LOST, doubt: { kind: 'Look' } } }, { loss: fencedOff });
      expect(home).toMatchObject({ kind: 'Release', finalizers: ['example.com/own'], patch: { active: null } });
      expect(JSON.stringify(home)).toContain(fencedOffMessage(aRecord()).replaceAll('"', '\\"'));
      const early = plan(deleted, copies, lost, { loss: soon });
      expect(early.home.kind).not.toBe('Release');
      expect(early.againAfterMs).toBe(5_000);
      expect(plan(deleted, copies, { 'eu-1': CLUSTER }, { loss: fencedOff }).home.kind === 'Release').toBe(copies.length === 0);
    }
    expect(JSON.stringify(plan(deleted, [], lost, { loss: soon }).home)).toContain('(lost since noon)');
  });

  test('moved, and is deleted: it does not wait for what is remembered of a cluster that is lost', () => {
    const metadata = { finalizers: ['switchyard.dev/copies'], deletionTimestamp: '2026-01-01T00:59:00Z' };
    const moved = anAdmittedJob({ metadata }, { cluster: 'us-2', epoch: 2 });
    const left = copyOn('eu-1', moved, { status: { active: 1 } });
    expect(plan(moved, [left], { 'eu-1': { ...LOST, doubt: { kind: 'Look' } } }).home).toEqual({ kind: 'Release', finalizers: [] });
    const later = copyOn('eu-1', moved, { epoch: 3, status: { active: 1 } });
    expect(plan(moved, [later], lost).home.kind).toBe('WriteStatus');
  });

  test('gets its next copy elsewhere though the last one is remembered as running there', () => {
    const moved = anAdmittedJob({ status: { conditions: [RESERVED] } }, { cluster: 'us-2', epoch: 2 });
    const { remote } = plan(moved, [copyOn('eu-1', moved, { status: { active: 1 } })], lost);
    expect(remote).toMatchObject([{ kind: 'Create', cluster: 'us-2' }]);
  });
});
