import { describe, expect, test } from 'vitest';
import { refusalOf } from '../../../../../manager/api/refusals.ts';
import { startedMessage } from '../../../../../manager/api/start-proof.ts';
import { NAME_PATIENCE_MS } from '../../../../../manager/dispatch/decisions/decide-missing-copy.ts';
import type { ClusterView, Copy } from '../../../../../manager/dispatch/mirror/mirror-group.ts';
import { aCondition, aHomeJob, anAdmittedJob, aRecord } from '../../../../support/jobs.ts';
import {
  actions,
  CLUSTER,
  COMPLETE,
  conditionsHome,
  CONNECTING,
  copyOn,
  DISPATCHED,
  LOST,
  NOW,
  plan,
  RESERVED,
} from './mirror-situation.ts';

const STARTED = aCondition('Started', { reason: 'Started', message: startedMessage(aRecord()) });

describe('while the manager cluster was restored, and a cluster has not shown yet what runs there', () => {
  const homeRestored = { reason: 'HomeRestored', message: 'not seen yet: "us-2"' } as const;

  test('no copy is made, and the Job says why', () => {
    const result = plan(anAdmittedJob(), [], {}, { homeRestored });
    expect(actions(result)).toEqual([]);
    expect(conditionsHome(result)).toContain('Dispatched=False HomeRestored');
  });

  test('none is resumed', () => {
    const local = anAdmittedJob();
    const resting = copyOn('eu-1', local, { suspend: true, status: { conditions: [aCondition('Suspended')] } });
    expect(actions(plan(local, [resting]))).toEqual(['Update eu-1']);
    expect(actions(plan(local, [resting], {}, { homeRestored }))).toEqual([]);
  });

  test('what is to go goes, what is to rest is suspended, and what runs where it is recorded goes on', () => {
    const local = anAdmittedJob();
    expect(actions(plan(local, [copyOn('us-2', local)], {}, { homeRestored }))).toEqual(['Delete us-2']);
    expect(actions(plan(local, [copyOn('eu-1', local)], {}, { homeRestored }))).toEqual([]);
    const suspended = anAdmittedJob({ spec: { suspend: true } });
    expect(actions(plan(suspended, [copyOn('eu-1', suspended)], {}, { homeRestored }))).toEqual(['Update eu-1']);
  });
});

describe('a Job that is not there', () => {
  test('leaves orphans, which go once its absence is confirmed', () => {
    const result = plan(undefined, [copyOn('eu-1', aHomeJob()), copyOn('us-2', aHomeJob())]);
    expect(actions(result)).toEqual(['Delete eu-1', 'Delete us-2']);
    expect(result.remote.every((action) => action.kind === 'Delete' && action.confirm === 'Gone')).toBe(true);
  });

  test('leaves alone what is already being deleted', () => {
    expect(actions(plan(undefined, [copyOn('eu-1', aHomeJob(), { deleting: true })]))).toEqual([]);
  });

  test('came back under its name as another: the copy of the first goes before one is made', () => {
    const first = aHomeJob({ metadata: { uid: 'uid-home-0' } });
    const held = plan(anAdmittedJob(), [copyOn('eu-1', first)]);
    expect(actions(held)).toEqual(['Delete eu-1']);
    expect(held).toMatchObject({ nameHeld: true, againAfterMs: NAME_PATIENCE_MS });
    expect(conditionsHome(held)).toEqual(['Dispatched=False NameTaken']);
    expect(actions(plan(anAdmittedJob(), [copyOn('eu-1', first, { deleting: true })]))).toEqual([]);
    expect(actions(plan(anAdmittedJob(), []))).toEqual(['Create eu-1']);
  });

  test('came back while a copy of the first does not go: after a while its cluster is asked, and elsewhere it is in nobody’s way', () => {
    const first = aHomeJob({ metadata: { uid: 'uid-home-0' } });
    const after = (ms: number) => plan(anAdmittedJob(), [copyOn('eu-1', first)], {}, { nameHeldSinceMs: NOW - ms });
    expect(actions(after(NAME_PATIENCE_MS - 1))).toEqual(['Delete eu-1']);
    expect(after(NAME_PATIENCE_MS - 1).againAfterMs).toBe(1);
    expect(actions(after(NAME_PATIENCE_MS))).toEqual(['Create eu-1', 'Delete eu-1']);
    expect(actions(plan(anAdmittedJob({}, { cluster: 'us-2' }), [copyOn('eu-1', first)]))).toEqual(['Delete eu-1', 'Create us-2']);
  });

  test('came back managed by somebody else', () => {
    const other = aHomeJob({ metadata: { uid: 'uid-home-2' }, spec: { managedBy: 'acme.io/x' } });
    expect(actions(plan(other, [copyOn('eu-1', aHomeJob())]))).toEqual(['Delete eu-1']);
  });
});

describe('an admitted Job', () => {
  test('gets its copy on the recorded cluster and nowhere else', () => {
    const result = plan(anAdmittedJob({}, { cluster: 'us-2' }), []);
    expect(actions(result)).toEqual(['Create us-2']);
    expect(result.home).toEqual({ kind: 'None' });
  });

  test('that is running says so at home, in one write that is not urgent', () => {
    const local = anAdmittedJob({
      status: { conditions: [aCondition('QuotaReserved', { status: 'False', reason: 'InsufficientQuota' })] },
    });
    const result = plan(local, [copyOn('eu-1', local, { status: { active: 1, ready: 0, startTime: '2026-01-01T00:00:10Z' } })]);
    expect(result.remote).toEqual([]);
    expect(conditionsHome(result)).toEqual(['QuotaReserved=True QuotaReserved', 'Dispatched=True Dispatched']);
    expect(result.home).toMatchObject({ urgent: false, patch: { active: 1, startTime: '2026-01-01T00:00:10Z' } });
  });

  test('whose status is home costs nothing more', () => {
    const local = anAdmittedJob({ status: { active: 1, ready: 1, conditions: [RESERVED, DISPATCHED, STARTED] } });
    expect(plan(local, [copyOn('eu-1', local, { status: { active: 1, ready: 1 } })])).toEqual({ remote: [], home: { kind: 'None' } });
  });

  test('needs no write when only the worker’s ledger changed', () => {
    const local = anAdmittedJob({ status: { active: 1, ready: 0, conditions: [RESERVED, DISPATCHED] } });
    const status = { active: 1, ready: 0, uncountedTerminatedPods: { succeeded: ['p'] } };
    expect(plan(local, [copyOn('eu-1', local, { status })]).home).toEqual({ kind: 'None' });
  });

  test('that ended there ends at home at once, before its copy goes', () => {
    const local = anAdmittedJob({ status: { active: 1, conditions: [RESERVED, DISPATCHED] } });
    const copy = copyOn('eu-1', local, { status: COMPLETE });
    const result = plan(local, [copy]);
    expect(result.remote).toEqual([]);
    expect(result.home).toMatchObject({ urgent: true, patch: { succeeded: 1, active: null } });
    expect(actions(plan(anAdmittedJob({ status: COMPLETE }), [copy]))).toEqual(['Delete eu-1']);
  });

  test('that ended while somebody deletes the copy still gets its end', () => {
    const local = anAdmittedJob({ status: { conditions: [RESERVED, DISPATCHED] } });
    expect(plan(local, [copyOn('eu-1', local, { status: COMPLETE, deleting: true })]).home).toMatchObject({ urgent: true });
  });

  test('that is deleted takes its copy along at once', () => {
    const local = anAdmittedJob({ metadata: { deletionTimestamp: '2026-01-01T00:59:00Z' } });
    expect(actions(plan(local, [copyOn('eu-1', local)]))).toEqual(['Delete eu-1']);
  });

  test('waits, and says why, when its cluster is unknown, out of reach, refuses, or lacks the flavor', () => {
    expect(conditionsHome(plan(anAdmittedJob({}, { cluster: 'gone' }), []))).toEqual(['Dispatched=False ClusterNotFound']);
    const unreachable = plan(anAdmittedJob(), [], { 'eu-1': LOST });
    expect(actions(unreachable)).toEqual([]);
    expect(conditionsHome(unreachable)).toEqual(['Dispatched=False ClusterUnreachable']);
    const refused = plan(anAdmittedJob(), [], { 'eu-1': { ...CLUSTER, problem: { reason: 'Refused', message: 'no' } } });
    expect(actions(refused)).toEqual(['Create eu-1']);
    expect(conditionsHome(refused)).toEqual(['Dispatched=False Refused']);
    expect(conditionsHome(plan(anAdmittedJob({}, { flavors: { cpu: 'spot' } }), []))).toEqual(['Dispatched=False ResourceFlavorNotFound']);
  });

  test('whose cluster has refused this placement for good says so, and is not offered to it again', () => {
    const refusal = refusalOf(1, { reason: 'NamespaceMissing', message: 'no such namespace' });
    const refused = plan(anAdmittedJob(), [], { 'eu-1': { ...CLUSTER, problem: refusal } });
    expect(actions(refused)).toEqual([]);
    expect(refused.home).toMatchObject({ status: { conditions: [{ type: 'Dispatched', status: 'False', ...refusal }] } });
    const told = aCondition('Dispatched', { status: 'False', ...refusal });
    expect(plan(anAdmittedJob({ status: { conditions: [told] } }), [])).toMatchObject({ remote: [], home: { kind: 'None' } });
    // The next placement is another matter.
    expect(actions(plan(anAdmittedJob({ status: { conditions: [told] } }, { epoch: 2 }), []))).toEqual(['Create eu-1']);
  });

  test('waits, and says why, when its cluster is not for its namespace; what may run there goes on being said to run', () => {
    const elsewhere: ClusterView = { ...CLUSTER, contact: 'NotServed' };
    const waiting = plan(anAdmittedJob(), [], { 'eu-1': elsewhere });
    expect(actions(waiting)).toEqual([]);
    expect(waiting.home).toMatchObject({
      status: {
        conditions: [
          {
            type: 'Dispatched',
            status: 'False',
            reason: 'ClusterUnreachable',
            message: 'cluster "eu-1" does not serve namespace "team" (servedNamespaces of its WorkerCluster)',
          },
        ],
      },
    });
    const running = anAdmittedJob({ status: { active: 1, conditions: [RESERVED, DISPATCHED] } });
    const unseen = plan(running, [], { 'eu-1': elsewhere });
    expect(actions(unseen)).toEqual([]);
    const message = expect.stringMatching(/^dispatched to cluster "eu-1" .*; cluster "eu-1" no longer serves namespace "team"/) as string;
    expect(unseen.home).toMatchObject({
      status: { active: 1, conditions: [{ type: 'QuotaReserved' }, { type: 'Dispatched', status: 'True', message }] },
    });
  });

  test('says nothing before its cluster has been looked at', () => {
    expect(plan(anAdmittedJob(), [], { 'eu-1': CONNECTING })).toEqual({ remote: [], home: { kind: 'None' } });
  });

  test('goes on saying that it is dispatched while its cluster is out of reach', () => {
    const local = anAdmittedJob({ status: { active: 1, conditions: [RESERVED, DISPATCHED] } });
    expect(plan(local, [], { 'eu-1': LOST })).toEqual({ remote: [], home: { kind: 'None' } });
  });
});

test('copies of other Jobs under its name on other clusters do not delay a Job, whether they go or not', () => {
  const foreign = (deleting: boolean): Copy => copyOn('us-2', anAdmittedJob({ metadata: { uid: 'another' } }), { deleting });
  expect(actions(plan(anAdmittedJob(), [foreign(false)]))).toEqual(['Delete us-2', 'Create eu-1']);
  expect(actions(plan(anAdmittedJob(), [foreign(true)]))).toEqual(['Create eu-1']);
});

describe('a Job that moved to another cluster', () => {
  const local = anAdmittedJob({ status: { conditions: [RESERVED, DISPATCHED] } }, { cluster: 'us-2', epoch: 2 });

  test('loses its old copy first', () => {
    expect(actions(plan(local, [copyOn('eu-1', local, { epoch: 1 })]))).toEqual(['Delete eu-1']);
    expect(actions(plan(local, [copyOn('eu-1', local, { epoch: 1, deleting: true })]))).toEqual([]);
    expect(actions(plan(local, []))).toEqual(['Create us-2']);
  });

  test('does not wait for a cluster that is out of reach: that nothing runs there was proven before it moved', () => {
    const resting = { epoch: 1, suspend: true, status: { conditions: [aCondition('Suspended')] } };
    expect(actions(plan(local, [copyOn('eu-1', local, resting)], { 'eu-1': LOST }))).toEqual(['Create us-2']);
    expect(actions(plan(local, [copyOn('eu-1', local, { epoch: 1 })], { 'eu-1': LOST }))).toEqual(['Create us-2']);
  });

  test('waits for no other cluster: it was recorded only when nothing of it ran anywhere else', () => {
    for (const elsewhere of [CONNECTING, LOST]) expect(actions(plan(local, [], { 'eu-1': elsewhere }))).toEqual(['Create us-2']);
  });

  test('waits for a write of ours to another cluster that may still be carried out, and looks what became of it', () => {
    const open = plan(local, [], { 'eu-1': { ...CLUSTER, doubt: { kind: 'Waiting', forMs: 5_000 } } });
    expect(open).toMatchObject({ remote: [], againAfterMs: 5_000 });
    expect(actions(plan(local, [], { 'eu-1': { ...CLUSTER, doubt: { kind: 'Look' } } }))).toEqual(['Look eu-1']);
  });

  test('is not ended by what its old cluster says when it comes back', () => {
    const current = copyOn('us-2', local, { epoch: 2, status: { active: 1 } });
    const result = plan(local, [copyOn('eu-1', local, { epoch: 1, status: COMPLETE }), current]);
    expect(actions(result)).toEqual(['Delete eu-1']);
    expect(result.home).toMatchObject({ urgent: false, patch: { active: 1 } });
  });

  test('and back again does not adopt the copy of its first stay', () => {
    const back = anAdmittedJob({}, { cluster: 'eu-1', epoch: 3 });
    expect(actions(plan(back, [copyOn('eu-1', back, { epoch: 1 })]))).toEqual(['Delete eu-1']);
  });

  test('neither starts nor resumes beside a copy of a later placement than its cache knows, which goes once it is confirmed that there is none', () => {
    const behind = anAdmittedJob({}, { cluster: 'eu-1', epoch: 1 });
    const later = copyOn('us-2', behind, { epoch: 2 });
    const goes = { kind: 'Delete', cluster: 'us-2', propagationPolicy: 'Foreground', confirm: 'Older' };
    expect(plan(behind, [later]).remote).toMatchObject([goes]);
    expect(plan(behind, [later, copyOn('eu-1', behind)]).remote).toMatchObject([goes]);
    const resting = copyOn('eu-1', behind, { suspend: true, status: { conditions: [aCondition('Suspended')] } });
    expect(plan(behind, [later, resting]).remote).toMatchObject([goes]);
    expect(actions(plan(behind, [{ ...later, deleting: true }, resting]))).toEqual([]);
    expect(actions(plan(behind, [later], { 'us-2': LOST }))).toEqual([]);
    expect(actions(plan(behind, [resting]))).toEqual(['Update eu-1']);
  });

  test('although its verdict was home is not run again', () => {
    const judged = anAdmittedJob(
      { status: { startTime: '2026-01-01T00:00:10Z', conditions: [aCondition('FailureTarget')] } },
      { cluster: 'us-2', epoch: 2 },
    );
    const result = plan(judged, []);
    expect(actions(result)).toEqual([]);
    expect(conditionsHome(result)).toEqual(['FailureTarget=True Reason', 'Failed=True Reason']);
  });
});
