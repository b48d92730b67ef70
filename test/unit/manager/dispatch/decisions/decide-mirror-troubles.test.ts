/** What is decided while writes to a cluster fail, and of copies that were not made as they were sent. */
import { describe, expect, test } from 'vitest';
import { refusalOf } from '../../../../../manager/api/refusals.ts';
import { anAdmittedJob } from '../../../../support/jobs.ts';
import { actions, CLUSTER, conditionsHome, copyOn, DISPATCHED, plan, RESERVED } from './mirror-situation.ts';

describe('a Job whose writes go on failing', () => {
  const trouble = { reason: 'ClusterError', message: 'the webhook is down (500)' } as const;
  const failing = { ...CLUSTER, trouble };

  test('says why it has no copy, and is offered on', () => {
    const result = plan(anAdmittedJob(), [], { 'eu-1': failing });
    expect(actions(result)).toEqual(['Create eu-1']);
    expect(conditionsHome(result)).toContain('Dispatched=False ClusterError');
  });

  test('says beside its copy why that cannot be changed, and is dispatched all the same', () => {
    const local = anAdmittedJob({ spec: { suspend: true }, status: { conditions: [DISPATCHED, RESERVED] } });
    const result = plan(local, [copyOn('eu-1', local)], { 'eu-1': failing });
    expect(actions(result)).toEqual(['Update eu-1']);
    const told = result.home.kind === 'WriteStatus' ? (result.home.status.conditions ?? []) : [];
    const message = 'dispatched to cluster "eu-1" (placement 1); the webhook is down (500)';
    expect(told).toContainEqual(expect.objectContaining({ type: 'Dispatched', status: 'True', reason: 'Dispatched', message }));
    // A Job that says more than that it is dispatched is dispatched: its copy is missed.
    const gone = anAdmittedJob({ status: { conditions: [{ ...DISPATCHED, message }, RESERVED] } });
    expect(conditionsHome(plan(gone, []))).toContain('Dispatched=False CopyLost');
  });

  test('says why the copy of its last placement does not go', () => {
    const result = plan(anAdmittedJob({}, { epoch: 2, cluster: 'us-2' }), [copyOn('eu-1', anAdmittedJob())], { 'eu-1': failing });
    expect(actions(result)).toEqual(['Delete eu-1']);
    expect(conditionsHome(result)).toContain('Dispatched=False ClusterError');
  });

  test('says while it is being deleted why its copy does not go', () => {
    const local = anAdmittedJob({
      metadata: { finalizers: ['switchyard.dev/copies'], deletionTimestamp: '2026-01-01T00:59:00Z' },
      status: { active: 1, conditions: [DISPATCHED, RESERVED] },
    });
    expect(conditionsHome(plan(local, [copyOn('eu-1', local, { status: { active: 1 } })], { 'eu-1': failing }))).toContain(
      'Dispatched=True ClusterError',
    );
  });
});

describe('a copy that its cluster has not made as it was sent', () => {
  const problem = refusalOf(1, { reason: 'FieldsDropped', message: 'without spec.successPolicy' });
  const refusing = { ...CLUSTER, problem };

  test('goes, and its placement ends when nothing of it is left', () => {
    const local = anAdmittedJob();
    const there = plan(local, [copyOn('eu-1', local, { status: { active: 1 } })], { 'eu-1': refusing });
    expect(there.remote).toMatchObject([{ kind: 'Delete', cluster: 'eu-1', propagationPolicy: 'Foreground' }]);
    expect(there.home).toEqual({ kind: 'None' });
    expect(plan(local, [copyOn('eu-1', local, { deleting: true })], { 'eu-1': refusing })).toMatchObject({
      remote: [],
      home: { kind: 'None' },
    });
    const gone = plan(local, [], { 'eu-1': refusing });
    expect(actions(gone)).toEqual([]);
    expect(conditionsHome(gone)).toContain('Dispatched=False FieldsDropped');
  });

  test('shows by itself that it has lost its controller, whoever made it', () => {
    const local = anAdmittedJob();
    const { job } = copyOn('eu-1', local, { status: { active: 1 } });
    const { managedBy: _dropped, ...spec } = { managedBy: undefined, ...job.spec };
    expect(actions(plan(local, [{ cluster: 'eu-1', job: { ...job, spec }, deleting: false }]))).toEqual(['Delete eu-1']);
    // One that was sent without the field has lost nothing, whatever its cluster is set to now.
    const { 'switchyard.dev/job-controller': _sent, ...annotations } = job.metadata.annotations ?? {};
    const older = { ...job, spec, metadata: { ...job.metadata, annotations } };
    expect(actions(plan(local, [{ cluster: 'eu-1', job: older, deleting: false }]))).toEqual([]);
  });

  test('is made anew where another Job controller is to run the copies by now, and none has begun with it', () => {
    const local = anAdmittedJob();
    const builtIn = { 'eu-1': { ...CLUSTER, jobController: 'kubernetes.io/job-controller' } };
    expect(actions(plan(local, [copyOn('eu-1', local)], builtIn))).toEqual(['Delete eu-1']);
    expect(actions(plan(local, [copyOn('eu-1', local, { status: { active: 1 } })], builtIn))).toEqual([]);
  });

  test('of an earlier placement says nothing of this one', () => {
    const local = anAdmittedJob({}, { epoch: 2 });
    expect(actions(plan(local, [copyOn('eu-1', local, { epoch: 2 })], { 'eu-1': refusing }))).toEqual([]);
  });
});
