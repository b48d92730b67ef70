import { describe, expect, test } from 'vitest';
import { jobLine } from '../../../../manager/dashboard/job-line.ts';
import { jobView, keptJobView } from '../../../../manager/dashboard/job-view.ts';
import type { JobView } from '../../../../manager/dashboard/views.ts';
import { formatAdmissionRecord } from '../../../../manager/api/records.ts';
import type { Job, JobCondition } from '../../../../shared/api/kubernetes.ts';
import { ADMISSION_ANNOTATION, TRACE_ID_ANNOTATION } from '../../../../shared/api/names.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';
import { createKinds } from '../../../../manager/work-kind/kinds.ts';
import { aCrew, aCrewKind } from '../work-kind/described/described.ts';
import { aHomeJob, aRecord, type JobParts } from '../../../support/jobs.ts';

const KINDS = createKinds(JOB_KIND, [aCrewKind()]);
const condition = (type: string, status: string, reason: string, message: string, at = '2026-01-01T00:05:00Z'): JobCondition =>
  ({ type, status, reason, message, lastTransitionTime: at }) as unknown as JobCondition;
const viewOf = (job: Job): JobView => {
  const line = jobLine(job, KINDS);
  if (line === undefined) throw new Error('it is not the manager’s');
  return jobView(job, line, KINDS, []);
};
const admitted = (parts: JobParts, record = {}): Job =>
  aHomeJob({
    ...parts,
    metadata: {
      annotations: {
        [ADMISSION_ANNOTATION]: formatAdmissionRecord(aRecord({ cluster: 'east', ...record }), {
          written: '2026-01-01T00:00:01.000Z',
          seal: 's',
        }),
      },
    },
    spec: { suspend: false, ...parts.spec },
  });
const statesOf = ({ stages }: JobView): string[] => stages.map(({ name, state }) => `${name} ${state}`);

describe('the story of a Job', () => {
  test('that waits stops at its admission, with what stands in its way', () => {
    const view = viewOf(aHomeJob({ status: { conditions: [condition('QuotaReserved', 'False', 'InsufficientQuota', 'short of 2 cpu')] } }));
    expect(statesOf(view)).toEqual(['Queued Done', 'Admitted Now', 'Dispatched Ahead', 'Started Ahead', 'Ended Ahead']);
    expect(view.stages[1]?.about).toBe('short of 2 cpu');
    expect(view.commands.map(({ line }) => line)).toContain('switchyard explain team/sum');
  });

  test('that runs has come as far as its conditions say', () => {
    const dispatched = condition('Dispatched', 'True', 'Dispatched', '');
    expect(statesOf(viewOf(admitted({ status: { conditions: [dispatched] } })))).toEqual([
      'Queued Done',
      'Admitted Done',
      'Dispatched Done',
      'Started Now',
      'Ended Ahead',
    ]);
    const running = viewOf(admitted({ status: { active: 1, conditions: [dispatched, condition('Started', 'True', 'Started', '')] } }));
    expect(statesOf(running).slice(3)).toEqual(['Started Done', 'Ended Ahead']);
    expect(running.facts).toContainEqual({ name: 'Cluster', value: 'east' });
  });

  test('that failed ends with why', () => {
    const view = viewOf(admitted({ status: { conditions: [condition('Failed', 'True', 'BackoffLimitExceeded', 'too often')] } }));
    expect(view.stages.at(-1)).toMatchObject({ name: 'Failed', state: 'Bad', about: 'too often' });
  });

  test('that has moved tells of each placement, and of what is not recorded nothing', () => {
    const [since, until] = ['2026-01-01T00:10:00Z', '2026-01-01T00:20:00Z'];
    const moved = viewOf(
      admitted(
        { status: { active: 1 } },
        { since: '2026-01-01T01:00:00Z', executedSeconds: 600, pastAdmissions: [{ cluster: 'west', since, until }] },
      ),
    );
    expect(moved.placements).toEqual([
      { cluster: 'west', fromMs: Date.parse(since), untilMs: Date.parse(until) },
      { cluster: 'east', fromMs: Date.parse('2026-01-01T01:00:00Z') },
    ]);
    expect(viewOf(aHomeJob()).placements).toEqual([]);
  });

  test('that has moved begins its way again where the placement before ended', () => {
    const [created, since, until] = ['2026-01-01T00:00:00Z', '2026-01-01T00:10:00Z', '2026-01-01T00:20:00Z'];
    const started = condition('Started', 'True', 'Started', '', '2026-01-01T00:11:00Z');
    const dispatched = condition('Dispatched', 'True', 'Dispatched', '', '2026-01-01T01:00:01Z');
    const moved = viewOf(
      admitted(
        { status: { active: 1, conditions: [dispatched, started] } },
        { since: '2026-01-01T01:00:00Z', executedSeconds: 600, pastAdmissions: [{ cluster: 'west', since, until }] },
      ),
    );
    expect(moved.stages.slice(0, 4).map(({ name, state, atMs }) => [name, state, atMs])).toEqual([
      ['Queued again', 'Done', Date.parse(until)],
      ['Admitted', 'Done', Date.parse('2026-01-01T01:00:00Z')],
      ['Dispatched', 'Done', Date.parse('2026-01-01T01:00:01Z')],
      // That it has started once is no moment of this placement.
      ['Started', 'Done', undefined],
    ]);
    const kept = keptJobView(
      {
        uid: 'u1',
        namespace: 'team',
        name: 'sum',
        outcome: 'Complete',
        created,
        admitted: '2026-01-01T01:00:00Z',
        ended: '2026-01-01T01:10:00Z',
        admittedSeconds: 1200,
        pastAdmissions: [{ cluster: 'west', since, until }],
        succeeded: 1,
        failed: 0,
      },
      [],
    );
    expect(kept.stages[0]).toEqual({ name: 'Queued again', state: 'Done', atMs: Date.parse(until) });
  });

  test('that was preempted waits since then, and is on no cluster and holds nothing', () => {
    const until = '2026-01-01T00:20:00Z';
    const preempted = viewOf(
      admitted(
        { spec: { suspend: true }, status: { conditions: [condition('QuotaReserved', 'False', 'InsufficientQuota', 'short of 1 cpu')] } },
        {
          since: '2026-01-01T00:10:00Z',
          evicted: true,
          executedSeconds: 600,
          requests: { cpu: '3' },
          pastAdmissions: [{ cluster: 'east', since: '2026-01-01T00:10:00Z', until }],
        },
      ),
    );
    expect(preempted.stages.slice(0, 2).map(({ name, state, atMs }) => [name, state, atMs])).toEqual([
      ['Queued again', 'Done', Date.parse(until)],
      ['Admitted', 'Now', undefined],
    ]);
    expect(preempted.facts.map(({ name }) => name)).not.toContain('Cluster');
    expect(preempted.requests).toEqual({});
  });

  test('with indexes shows which ended how, as runs', () => {
    const indexed = admitted({
      spec: { completionMode: 'Indexed', completions: 10 },
      status: { completedIndexes: '0-2,5', failedIndexes: '4', active: 2, succeeded: 4 },
    });
    expect(viewOf(indexed).indexes).toEqual([
      { kind: 'Succeeded', count: 3 },
      { kind: 'Active', count: 1 },
      { kind: 'Failed', count: 1 },
      { kind: 'Succeeded', count: 1 },
      { kind: 'Active', count: 1 },
      { kind: 'Ahead', count: 3 },
    ]);
    expect(viewOf(aHomeJob()).indexes).toBeUndefined();
  });

  test('that is gone is told as it was kept, with what its pods ended with', () => {
    const view = keptJobView(
      {
        uid: 'u1',
        namespace: 'team',
        name: 'sum',
        outcome: 'Deleted',
        created: '2026-01-01T00:00:00Z',
        ended: '2026-01-01T00:10:00Z',
        succeeded: 1,
        failed: 2,
        cluster: 'west',
      },
      [{ cluster: 'west', pods: [{ pod: 'sum-a', phase: 'Failed', exitCode: 3, tail: true, started: '2026-01-01T00:01:00Z' }] }],
    );
    expect(view).toMatchObject({ fromHistory: true, line: { key: 'team/sum', state: 'Failed', reason: 'Deleted' } });
    expect(view.pods).toEqual([
      { pod: 'sum-a', cluster: 'west', phase: 'Failed', exitCode: 3, hasLog: true, startedMs: Date.parse('2026-01-01T00:01:00Z') },
    ]);
    expect(statesOf(view)).toEqual(['Queued Done', 'Deleted Bad']);
  });
});

test('a trace is told with where it is to be seen, and what is no id is none, whoever wrote it', () => {
  const id = '0af7651916cd43dd8448eb211c80319c';
  const traced = (text: string, url?: string) => {
    const job = aHomeJob({ metadata: { annotations: { [TRACE_ID_ANNOTATION]: text } } });
    return jobView(job, jobLine(job, KINDS) ?? expect.unreachable(), KINDS, [], url).trace;
  };
  expect(traced(id)).toEqual({ id });
  expect(traced(id, 'https://jaeger.example/trace/{traceId}?ui=flat')).toEqual({ id, url: `https://jaeger.example/trace/${id}?ui=flat` });
  for (const wrong of ['', '../../evil', `${id}0`, 'javascript:alert(1)'])
    expect(traced(wrong, 'https://jaeger.example/{traceId}')).toBeUndefined();
});

describe('an object of another kind', () => {
  const crew = aCrew({
    metadata: { name: 'crews.example.com:argo' },
    spec: { policy: { suspend: true, managedBy: 'example.com/elsewhere' } },
  }) as unknown as Job;

  test('has a line of its own beside the Job of its name, with its kind', () => {
    const line = jobLine(crew, KINDS);
    expect(line).toMatchObject({ key: 'team/crews.example.com/argo', kind: 'Crew', state: 'Waiting', completions: 6, queue: 'main' });
    expect(jobLine(aHomeJob({ metadata: { namespace: 'team', name: 'argo' } }), KINDS)).not.toHaveProperty('kind');
    expect(jobLine(aCrew({ metadata: { name: 'crews.example.com:argo' } }) as unknown as Job, KINDS)).toBeUndefined();
  });

  test('is told with its pod sets and the commands for it', () => {
    const { facts, commands } = viewOf(crew);
    expect(facts).toContainEqual({ name: 'Kind', value: 'Crew' });
    expect(facts).toContainEqual({ name: 'Pod sets', value: 'captain 1, deck 2, oars 3' });
    expect(commands.map(({ line }) => line)).toEqual([
      'switchyard explain crew/argo -n team',
      'switchyard hold crew/argo -n team',
      'switchyard cancel crew/argo -n team',
    ]);
  });

  test('keeps its kind in what is kept of it', () => {
    const kept = { uid: 'u', namespace: 'team', name: 'argo', kind: 'Crew', resource: 'crews.example.com' };
    const times = { created: '2026-01-01T00:00:00Z', ended: '2026-01-01T00:01:00Z' };
    const { line, commands } = keptJobView({ ...kept, ...times, outcome: 'Complete', succeeded: 6, failed: 0 }, []);
    expect(line).toMatchObject({ key: 'team/crews.example.com/argo', kind: 'Crew' });
    expect(commands).toEqual([{ does: 'history', line: 'switchyard history crew/argo -n team' }]);
  });
});
