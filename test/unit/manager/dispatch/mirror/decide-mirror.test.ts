import { describe, expect, test } from 'vitest';
import { NAME_PATIENCE_MS } from '../../../../../manager/dispatch/mirror/decide-mirror.ts';
import { COPY_LOST_DELAY_MS } from '../../../../../manager/dispatch/mirror/missing-copy.ts';
import type { ClusterView, Copy } from '../../../../../manager/dispatch/mirror/mirror-group.ts';
import { refusalOf } from '../../../../../manager/api/refusals.ts';
import { startedMessage } from '../../../../../manager/api/start-proof.ts';
import type { Job, JobStatus } from '../../../../../shared/api/kubernetes.ts';
import { aCondition, aHomeJob, anAdmittedJob, aRecord, restingAfter, type JobParts } from '../../../../support/jobs.ts';
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

describe('a Job that is not admitted', () => {
  test('has no copy, suspended or not', () => {
    expect(plan(aHomeJob(), [])).toEqual({ remote: [], home: { kind: 'None' } });
    expect(plan(aHomeJob({ spec: { suspend: false } }), [])).toEqual({ remote: [], home: { kind: 'None' } });
  });

  test('but lost its record has its copy suspended where it is', () => {
    const local = aHomeJob();
    expect(actions(plan(local, [copyOn('eu-1', local)]))).toEqual(['Update eu-1']);
    expect(actions(plan(local, [copyOn('eu-1', local, { suspend: true })]))).toEqual([]);
  });

  test('with a damaged record says what is wrong with it', () => {
    const local = aHomeJob({ metadata: { annotations: { 'switchyard.dev/admission': '{}' } } });
    expect(conditionsHome(plan(local, []))).toEqual(['Suspended=True JobSuspended', 'Dispatched=False NotAdmitted']);
  });
});

describe('a Job with a record that admission has not made', () => {
  const forged = JSON.stringify({ ...aRecord(), written: '2026-01-01T00:00:00Z', seal: 'x' });
  const local = aHomeJob({ metadata: { annotations: { 'switchyard.dev/admission': forged } }, spec: { suspend: false } });

  test('is not run, and says why', () => {
    const result = plan(local, []);
    expect(actions(result)).toEqual([]);
    expect(conditionsHome(result)).toEqual(['Dispatched=False NotAdmitted']);
  });
  test('has its copies suspended where they are', () => {
    expect(plan(local, [copyOn('eu-1', local)]).remote).toMatchObject([{ kind: 'Update', cluster: 'eu-1', spec: { suspend: true } }]);
  });
});

describe('a Job that lost its record and says that it runs', () => {
  const local = aHomeJob({ status: { active: 1, startTime: '2026-01-01T00:00:00Z', conditions: [DISPATCHED] } });

  test('is at rest when no cluster has a copy', () => {
    const { home } = plan(local, []);
    expect(home).toMatchObject({ kind: 'WriteStatus', patch: { active: null, startTime: null } });
    expect(conditionsHome(plan(local, []))).toEqual(['Suspended=True JobSuspended', 'Dispatched=False NotAdmitted']);
  });
  test('is left as it is while a cluster is out of sight that may have one', () => {
    expect(plan(local, [], { 'us-2': LOST }).home).toEqual({ kind: 'None' });
    expect(plan(local, [], { 'us-2': CONNECTING }).home).toEqual({ kind: 'None' });
  });
  test('runs until the copy that was told to rest says so', () => {
    const resting = copyOn('us-2', local, { suspend: true, status: { conditions: [aCondition('Suspended')] } });
    const running = copyOn('eu-1', local, { status: { active: 1, startTime: '2026-01-01T00:00:00Z' } });
    expect(actions(plan(local, [resting, running]))).toEqual(['Update eu-1']);
    expect(conditionsHome(plan(local, [resting, running]))).toEqual(['Dispatched=False NotAdmitted']);
    expect(conditionsHome(plan(local, [resting]))).toEqual(['Suspended=True Reason', 'Dispatched=False NotAdmitted']);
  });
});

describe('an admitted Job whose admission no longer stands', () => {
  const problem = { unresolved: 'cluster queue cq of its admission does not exist' };
  const local = anAdmittedJob();

  test('gets no copy, and says why', () => {
    const result = plan(local, [], {}, problem);
    expect(actions(result)).toEqual([]);
    expect(conditionsHome(result)).toEqual(['Dispatched=False AdmissionUnresolved']);
  });
  test('goes on where it runs, and is not resumed where it rests', () => {
    expect(actions(plan(local, [copyOn('eu-1', local)], {}, problem))).toEqual([]);
    expect(actions(plan(local, [copyOn('eu-1', local, { suspend: true })], {}, problem))).toEqual([]);
  });
  test('is suspended where it runs', () => {
    const evicted = anAdmittedJob({ spec: { suspend: true } });
    expect(actions(plan(evicted, [copyOn('eu-1', evicted)], {}, problem))).toEqual(['Update eu-1']);
  });
});

describe('an admitted Job that asks for more than its record holds', () => {
  const asking = (parallelism: number, parts: JobParts = {}) =>
    anAdmittedJob({ ...parts, spec: { completions: 9, parallelism, ...parts.spec } }, { requests: { pods: '2' } });

  test('gets no copy, and says by how much', () => {
    const result = plan(asking(3), []);
    expect(actions(result)).toEqual([]);
    expect(conditionsHome(result)).toEqual(['Dispatched=False ExceedsReservation']);
  });
  test('does not tell its copy, until it is admitted anew', () => {
    const copy = copyOn('eu-1', asking(2), { status: { active: 2 } });
    expect(actions(plan(asking(3), [copy]))).toEqual([]);
    expect(actions(plan(asking(1), [copy]))).toEqual(['Update eu-1']);
  });
  test('suspends its copy when it is evicted, and tells it nothing else', () => {
    const evicted = asking(3, { spec: { suspend: true } });
    expect(plan(evicted, [copyOn('eu-1', asking(2))]).remote).toMatchObject([{ spec: { suspend: true } }]);
    expect(plan(evicted, [copyOn('eu-1', asking(2))]).remote).not.toMatchObject([{ spec: { parallelism: 3 } }]);
  });
  test('does not resume its copy', () => {
    expect(actions(plan(asking(3), [copyOn('eu-1', asking(2), { suspend: true })]))).toEqual([]);
    expect(actions(plan(asking(2), [copyOn('eu-1', asking(2), { suspend: true })]))).toEqual(['Update eu-1']);
  });
});

test('the suspension of a Job reaches its copy also when a flavor of its admission is gone', () => {
  const local = anAdmittedJob({ spec: { suspend: true } }, { flavors: { cpu: 'gone' } });
  expect(plan(local, [copyOn('eu-1', local)]).remote).toMatchObject([{ kind: 'Update', spec: { suspend: true } }]);
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

describe('a Job that was evicted', () => {
  const local = aHomeJob({
    metadata: anAdmittedJob().metadata,
    status: { active: 1, startTime: '2026-01-01T00:00:10Z', conditions: [RESERVED, DISPATCHED] },
  });

  test('is suspended in place', () => {
    const result = plan(local, [copyOn('eu-1', local, { status: { active: 1, startTime: '2026-01-01T00:00:10Z' } })]);
    expect(result.remote).toMatchObject([{ kind: 'Update', cluster: 'eu-1', spec: { suspend: true } }]);
  });

  test('gets home that nothing runs any more', () => {
    const result = plan(local, [copyOn('eu-1', local, { suspend: true, status: { conditions: [aCondition('Suspended')] } })]);
    expect(actions(result)).toEqual([]);
    expect(result.home).toMatchObject({ patch: { active: null, startTime: null } });
  });

  test('is resumed in place when it is admitted to the same cluster', () => {
    const again = anAdmittedJob({ status: { conditions: [aCondition('Suspended'), RESERVED, DISPATCHED] } });
    const result = plan(again, [
      copyOn('eu-1', again, { suspend: true, status: { conditions: [aCondition('Suspended')], completedIndexes: '0' } }),
    ]);
    expect(result.remote).toMatchObject([{ kind: 'Update', cluster: 'eu-1', spec: { suspend: false } }]);
  });

  test('and had no copy yet needs none', () => {
    const early = aHomeJob({ metadata: anAdmittedJob().metadata });
    expect(actions(plan(early, []))).toEqual([]);
  });
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

describe('a copy that vanished', () => {
  const local = anAdmittedJob({ status: { active: 1, conditions: [RESERVED, DISPATCHED] } });

  test('is missed, and made again only when its pods have had time to stop', () => {
    const missed = plan(local, []);
    expect(actions(missed)).toEqual([]);
    expect(conditionsHome(missed)).toEqual(['QuotaReserved=True QuotaReserved', 'Dispatched=False CopyLost']);
    expect(missed.againAfterMs).toBe(COPY_LOST_DELAY_MS + 30_000);
    const lostAt = (time: string): Job =>
      anAdmittedJob({
        spec: { template: { spec: { containers: [], terminationGracePeriodSeconds: 120 } } },
        status: { conditions: [RESERVED, aCondition('Dispatched', { status: 'False', reason: 'CopyLost', lastTransitionTime: time })] },
      });
    expect(plan(lostAt('2026-01-01T00:57:57Z'), [])).toMatchObject({ remote: [], againAfterMs: 7_000 });
    expect(actions(plan(lostAt('2026-01-01T00:57:50Z'), []))).toEqual(['Create eu-1']);
  });
});

describe('a Job that is suspended', () => {
  const local = anAdmittedJob({ spec: { suspend: true } });
  test('has its copy suspended', () => {
    expect(actions(plan(local, [copyOn('eu-1', local)]))).toEqual(['Update eu-1']);
  });
  test('leaves a copy alone that has reached its verdict, or is on its way out', () => {
    const decided: JobStatus = { conditions: [aCondition('SuccessCriteriaMet')] };
    expect(actions(plan(local, [copyOn('eu-1', local, { status: decided })]))).toEqual([]);
    expect(actions(plan(local, [copyOn('eu-1', local, { deleting: true })]))).toEqual([]);
  });
});

describe('a Job that holds until its copies are gone', () => {
  const metadata = { finalizers: ['example.com/own', 'switchyard.dev/copies'], deletionTimestamp: '2026-01-01T00:59:00Z' };
  const local = anAdmittedJob({ metadata, status: { active: 1, conditions: [RESERVED, DISPATCHED] } });
  const released = { kind: 'Release', finalizers: ['example.com/own'] };

  test('has a copy deleted so that it stays for as long as its pods do, or in the background when nothing of it runs', () => {
    expect(plan(local, [copyOn('eu-1', local)]).remote).toMatchObject([{ kind: 'Delete', propagationPolicy: 'Foreground' }]);
    const resting = copyOn('eu-1', local, { suspend: true, status: { conditions: [aCondition('Suspended')] } });
    expect(plan(local, [resting]).remote).toMatchObject([{ kind: 'Delete', propagationPolicy: 'Background' }]);
    const stopping = copyOn('eu-1', local, { suspend: true, status: { terminating: 1, conditions: [aCondition('Suspended')] } });
    expect(plan(local, [stopping]).remote).toMatchObject([{ kind: 'Delete', propagationPolicy: 'Foreground' }]);
  });

  test('may go when its cluster shows none, and not before', () => {
    const stopping = copyOn('eu-1', local, { deleting: true, status: { active: 0, terminating: 1 } });
    expect(plan(local, [stopping])).toMatchObject({ remote: [], home: { kind: 'WriteStatus', patch: { terminating: 1 } } });
    expect(plan(local, [])).toMatchObject({ remote: [], home: released });
  });

  test('tells, where others keep it, that nothing of it runs any more, in the same write', () => {
    const { home } = plan(local, []);
    expect(home).toMatchObject({ kind: 'Release', patch: { active: null } });
    expect(JSON.stringify(home)).toContain('AtRest');
    const ours = anAdmittedJob({ metadata: { ...metadata, finalizers: ['switchyard.dev/copies'] }, status: { active: 1 } });
    expect(plan(ours, []).home).toEqual({ kind: 'Release', finalizers: [] });
  });

  test('may go when it was proven to rest on a cluster that is not there any more', () => {
    const left = { cluster: 'gone' };
    expect(
      plan(anAdmittedJob({ metadata, spec: { suspend: true }, status: { conditions: [restingAfter(left)] } }, left), []).home,
    ).toMatchObject(released);
    const earlier = restingAfter({ ...left, epoch: 1 });
    const later = anAdmittedJob({ metadata, spec: { suspend: true }, status: { conditions: [earlier] } }, { ...left, epoch: 2 });
    expect(plan(later, []).home).toMatchObject({ kind: 'WriteStatus' });
  });

  test('stays while its cluster is out of reach, unknown or not listed yet, and says how to give it up', () => {
    const conditions = { kind: 'WriteStatus', status: { active: 1 } };
    expect(plan(local, [], { 'eu-1': LOST })).toMatchObject({ remote: [], home: conditions });
    expect(conditionsHome(plan(local, [], { 'eu-1': LOST }))).toContain('Dispatched=True ClusterUnreachable');
    expect(plan(local, [], { 'eu-1': CONNECTING }).home).toMatchObject(conditions);
    const elsewhere = anAdmittedJob({ metadata, status: { conditions: [DISPATCHED] } }, { cluster: 'gone' });
    const { home } = plan(elsewhere, []);
    expect(home).toMatchObject({ kind: 'WriteStatus' });
    expect(JSON.stringify(home)).toContain('kubectl patch job -n team sum --field-manager switchyard-override');
  });

  test('that has moved waits for its recorded cluster, and for another only if that shows a copy', () => {
    const moved = anAdmittedJob({ metadata }, { cluster: 'us-2', epoch: 2 });
    expect(plan(moved, [], { 'eu-1': LOST }).home).toMatchObject(released);
    expect(plan(moved, [], { 'eu-1': LOST, 'us-2': LOST }).home).toMatchObject({ kind: 'WriteStatus' });
    const left = copyOn('eu-1', moved, { epoch: 1, suspend: true, status: { conditions: [aCondition('Suspended')] } });
    expect(plan(moved, [left])).toMatchObject({ remote: [{ kind: 'Delete', cluster: 'eu-1' }], home: { kind: 'None' } });
    const { home } = plan(moved, [left], { 'eu-1': CONNECTING });
    expect(JSON.stringify(home)).toContain('on cluster \\"eu-1\\" cannot be seen');
  });

  test('waits for no copy of another Job of its name', () => {
    const other = aHomeJob({ metadata: { uid: 'uid-home-0' } });
    expect(plan(local, [copyOn('us-2', other)], { 'us-2': LOST }).home).toMatchObject(released);
  });

  test('gives all back in the write that brings its end home', () => {
    const running = anAdmittedJob({ metadata: { finalizers: ['switchyard.dev/copies'] }, status: { active: 1 } });
    const { home } = plan(running, [copyOn('eu-1', running, { status: COMPLETE })]);
    expect(home).toMatchObject({ kind: 'WriteStatus', urgent: true, finalizers: [] });
  });
});
