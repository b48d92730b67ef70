import { describe, expect, test } from 'vitest';
import { mayBeAnywhere } from '../../../../../manager/dispatch/mirror/mirror-group.ts';
import type { RecordedPlace } from '../../../../../manager/dispatch/mirror/recorded-place.ts';
import { nowhereMessage } from '../../../../../manager/api/rest-proof.ts';
import type { Job, JobStatus } from '../../../../../shared/api/kubernetes.ts';
import { aCondition, aHomeJob, anAdmittedJob, recordOn, restingAfter, type JobParts } from '../../../../support/jobs.ts';
import { actions, CLUSTER, conditionsHome, CONNECTING, copyOn, DISPATCHED, LOST, plan, RESERVED } from '../decisions/mirror-situation.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

const CHANGED: RecordedPlace = { kind: 'Changed', cluster: 'eu-1', uid: 'uid-now' };
const STOPPING = { deletionTimestamp: '2026-01-01T00:59:00Z', finalizers: ['switchyard.dev/copies'] };

describe('a Job whose WorkerCluster leads to another cluster now', () => {
  const running = { active: 1, startTime: '2026-01-01T00:00:10Z', conditions: [RESERVED, DISPATCHED] };

  test('is not made there, and says so', () => {
    const result = plan(anAdmittedJob({}, { clusterUID: 'uid-then' }), [], {}, { place: CHANGED });
    expect(actions(result)).toEqual([]);
    expect(conditionsHome(result)).toEqual(['Dispatched=False ClusterChanged']);
    expect(JSON.stringify(result.home)).toMatch(
      /another cluster now \(UID uid-now\).*\(UID uid-then\).*join that cluster again, under any name/,
    );
  });

  test('goes on counting as running, and keeps what it holds when it is suspended', () => {
    const local = anAdmittedJob({ status: running }, { clusterUID: 'uid-then' });
    expect(plan(local, [], {}, { place: CHANGED }).home).toMatchObject({ status: { active: 1 } });
    const suspended = anAdmittedJob({ spec: { suspend: true }, status: running }, { clusterUID: 'uid-then' });
    const { home } = plan(suspended, [], {}, { place: CHANGED });
    expect(home).toMatchObject({ status: { active: 1 } });
    expect(JSON.stringify(home)).not.toContain('AtRest');
  });

  test('neither follows nor ends what has its own placement there, and has what an earlier one left there deleted', () => {
    const local = anAdmittedJob({ status: running }, { clusterUID: 'uid-then', epoch: 2 });
    const brought = copyOn('eu-1', local, { epoch: 2, status: { active: 7 } });
    const left = copyOn('us-2', local, { epoch: 1 });
    const result = plan(local, [brought, left], {}, { place: CHANGED });
    expect(actions(result)).toEqual(['Delete us-2']);
    expect(result.home).toMatchObject({ status: { active: 1 } });
  });

  test('and that is deleted, holds until its cluster is back', () => {
    const local = anAdmittedJob({ metadata: STOPPING, status: running }, { clusterUID: 'uid-then' });
    const result = plan(local, [], {}, { place: CHANGED });
    expect(conditionsHome(result)).toContain('Dispatched=True ClusterChanged');
    expect(plan(local, [], {}, { place: { kind: 'Known', cluster: 'us-2' } }).home).toMatchObject({ kind: 'Release' });
  });
});

test('a Job whose cluster has another name now is followed and ended there', () => {
  const local = anAdmittedJob({ status: { conditions: [RESERVED, DISPATCHED] } }, { clusterUID: 'uid-eu' });
  const place: RecordedPlace = { kind: 'Known', cluster: 'us-2' };
  const copy = copyOn('us-2', local, { status: { active: 3 } });
  expect(plan(local, [copy], {}, { place })).toMatchObject({ remote: [], home: { patch: { active: 3 } } });
  const suspended = anAdmittedJob({ spec: { suspend: true } }, { clusterUID: 'uid-eu' });
  expect(actions(plan(suspended, [copy], {}, { place }))).toEqual(['Update us-2']);
  expect(actions(plan(anAdmittedJob({}, { clusterUID: 'uid-eu' }), [], {}, { place }))).toEqual(['Create us-2']);
});

describe('a Job that was admitted once, and whose record is lost', () => {
  const held = (status: JobStatus = {}, parts: JobParts = {}): Job =>
    aHomeJob({ ...parts, metadata: { finalizers: ['switchyard.dev/copies'], generation: 3, ...parts.metadata }, status });
  const proven = aCondition('Dispatched', { status: 'False', reason: 'AtRest', message: nowhereMessage(3) });

  test('is proven to rest only when every cluster has shown that nothing of it runs there', () => {
    expect(plan(held(), []).home).toMatchObject({
      status: { conditions: [{ type: 'Suspended' }, { reason: 'AtRest', message: nowhereMessage(3) }] },
    });
    for (const unseen of [LOST, CONNECTING]) {
      expect(JSON.stringify(plan(held(), [], { 'us-2': unseen }).home)).toMatch(
        /NotAdmitted.*on cluster \\"us-2\\" cannot be seen.*kubectl patch job/,
      );
    }
    const late = plan(held(), [], { 'us-2': { ...CLUSTER, doubt: { kind: 'Waiting', forMs: 9_000 } } });
    expect(late.againAfterMs).toBe(9_000);
    expect(JSON.stringify(late.home)).not.toContain('AtRest');
  });

  test('and runs somewhere, is suspended there first', () => {
    const local = held();
    const running = plan(local, [copyOn('us-2', local, { status: { active: 1 } })]);
    expect(actions(running)).toEqual(['Update us-2']);
    expect(JSON.stringify(running.home)).not.toContain('AtRest');
    const resting = copyOn('us-2', local, { suspend: true, status: { conditions: [aCondition('Suspended')] } });
    expect(conditionsHome(plan(local, [resting]))).toContain('Dispatched=False AtRest');
    const stopping = copyOn('us-2', local, { suspend: true, status: { terminating: 1, conditions: [aCondition('Suspended')] } });
    expect(conditionsHome(plan(local, [stopping]))).not.toContain('Dispatched=False AtRest');
  });

  test('is not said to rest while it may run by what it is told itself, nor by a proof of an earlier admission', () => {
    const released = held({}, { spec: { suspend: false } });
    expect(JSON.stringify(plan(released, []).home)).not.toContain('AtRest');
    const again = held({ conditions: [proven] }, { metadata: { generation: 5 } });
    expect(plan(again, []).home).toMatchObject({ status: { conditions: [{}, { message: nowhereMessage(5) }] } });
  });

  test('costs nothing more once that is proven', () => {
    expect(plan(held({ conditions: [proven] }), [], { 'us-2': LOST })).toMatchObject({ remote: [], home: { kind: 'None' } });
  });

  test('and that is deleted, may go when every cluster that serves it shows none', () => {
    const local = held({}, { metadata: STOPPING });
    expect(plan(local, [], { 'us-2': LOST }).home).toMatchObject({ kind: 'WriteStatus' });
    expect(plan(local, [], { 'us-2': { ...CLUSTER, contact: 'NotServed' } }).home).toMatchObject({ kind: 'Release' });
  });

  test('may be on any cluster; any other Job is where its record says, or nowhere', () => {
    expect(mayBeAnywhere(JOB_KIND, held(), recordOn(held()))).toBe(true);
    expect(mayBeAnywhere(JOB_KIND, aHomeJob({ status: { active: 1 } }), { kind: 'None' })).toBe(true);
    expect(mayBeAnywhere(JOB_KIND, aHomeJob(), { kind: 'None' })).toBe(false);
    const admitted = anAdmittedJob({ metadata: { finalizers: ['switchyard.dev/copies'] }, status: { active: 1 } });
    expect(mayBeAnywhere(JOB_KIND, admitted, recordOn(admitted))).toBe(false);
    expect(mayBeAnywhere(JOB_KIND, held({ conditions: [aCondition('Complete')] }), { kind: 'None' })).toBe(false);
  });
});

test('a suspended Job rests on its own cluster’s word, whatever other clusters are out of reach', () => {
  const local = anAdmittedJob({ spec: { suspend: true }, status: { conditions: [RESERVED, DISPATCHED] } }, { cluster: 'us-2', epoch: 4 });
  expect(conditionsHome(plan(local, [], { 'eu-1': LOST }))).toContain('Dispatched=False AtRest');
  const resting = anAdmittedJob({ spec: { suspend: true }, status: { conditions: [restingAfter()] } });
  expect(plan(resting, [], { 'eu-1': LOST })).toMatchObject({ remote: [], home: { kind: 'None' } });
});
