import { describe, expect, test } from 'vitest';
import { clusterState, kindView, VIEW_WORDS, wholeObject } from '../../../../../manager/cli/get/kinds.ts';
import { objectTable, type TableStyle } from '../../../../../manager/cli/get/object-table.ts';
import { stateOf, WORK_COLUMN_NAMES, workView } from '../../../../../manager/cli/get/work-view.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';
import { aCrew, aCrewKind, CREWS } from '../../work-kind/described/described.ts';
import { formatAdmissionRecord } from '../../../../../manager/api/records.ts';
import { ADMISSION_ANNOTATION } from '../../../../../shared/api/names.ts';
import { aRecord } from '../../../../support/jobs.ts';
import { JOBS } from '../../../../../shared/api/resources.ts';
import type { WorkerCluster } from '../../../../../manager/api/worker-cluster.ts';
import type { Job, KubeObject } from '../../../../../shared/api/kubernetes.ts';

const CREATED = '2026-01-01T00:00:00Z';
const metadata = (name: string): KubeObject['metadata'] & { namespace: string } => ({
  name,
  namespace: 'team',
  uid: name,
  resourceVersion: '1',
  creationTimestamp: CREATED,
});
const STYLE: TableStyle = { wide: false, namespaces: false, width: 80, nowMs: Date.parse(CREATED) + 60_000, paint: (cell) => cell };

const table = (word: string, objects: readonly KubeObject[], style: Partial<TableStyle> = {}): string[] => {
  const view = kindView(word) ?? workView(word, [JOB_KIND]);
  const whole = objects.map((object) => wholeObject(view.resources[0] ?? JOBS, object));
  return objectTable(view, whole, { ...STYLE, ...style });
};

const aCluster = (spec: object, conditions: readonly object[] = []): WorkerCluster =>
  ({
    metadata: metadata('east'),
    spec,
    status: { conditions, version: 'v1.36.0', allocatable: { cpu: '8', memory: '32Gi' } },
  }) as unknown as WorkerCluster;
const aJob = (held?: string): Job => ({
  metadata: {
    ...metadata('train'),
    labels: { 'switchyard.dev/queue-name': 'main' },
    ...(held ? { annotations: { 'switchyard.dev/hold': held } } : {}),
  },
  spec: { managedBy: 'switchyard.dev/manager', template: {} },
});

describe('a table', () => {
  test('has a line for each object, with namespaces where there are several', () => {
    expect(table('jobs', [aJob()])).toEqual([
      'NAME   QUEUE  CLUSTER  STATE    ACTIVE  OK  FAILED  AGE',
      'train  main   -        Waiting  0       0   0       60s',
    ]);
    expect(table('jobs', [aJob()], { namespaces: true })[1]).toMatch(/^team +train /);
  });

  test('leaves columns out rather than lines too long, and nothing with -o wide', () => {
    expect(table('jobs', [aJob()], { width: 40 })[0]).toBe('NAME   QUEUE  CLUSTER  STATE    OK  AGE');
    expect(table('jobs', [aJob()], { wide: true, width: 40 })[0]).toMatch(/FAILED +AGE +CLUSTERQUEUE +USER +REQUESTS +TRACE +WHY$/);
  });

  test('says beside each Job why it waits, below where there is no room, and nothing twice with -o wide', () => {
    const message = 'short of 2 cpu in flavor default of cluster queue main';
    const waits = {
      ...aJob(),
      status: { conditions: [{ type: 'QuotaReserved', status: 'False', reason: 'NoQuota', message }] },
    } as unknown as Job;
    expect(table('jobs', [waits], { width: 200 })[1]).toMatch(new RegExp(`60s +${message}$`));
    expect(table('jobs', [waits]).slice(2)).toEqual([`    ${message}`]);
    expect(table('jobs', [waits], { wide: true })).toHaveLength(2);
  });

  test('says of a Job without the label of a queue that it is not managed, and who tells how to mend that', () => {
    const job = { metadata: metadata('train'), spec: { template: {} } } as Job;
    expect(table('jobs', [job], { width: 200 })[1]).toMatch(
      /^train +- +- +Unmanaged .*no label switchyard\.dev\/queue-name; switchyard explain says how to mend that$/,
    );
  });

  test('of clusters says why one takes no Jobs', () => {
    const lost = aCluster({}, [{ type: 'Ready', status: 'False', reason: 'Unreachable', message: 'no answer' }]);
    expect(table('wc', [lost], { wide: true })[1]).toMatch(/^east +NotReady +v1\.36\.0 +8 +32Gi .*Unreachable: no answer$/);
  });
});

test('a cluster is in one state', () => {
  const ready = { type: 'Ready', status: 'True' };
  expect(clusterState(aCluster({}, [ready]))).toBe('Ready');
  expect(clusterState(aCluster({}))).toBe('Unknown');
  expect(clusterState(aCluster({ state: 'Draining' }, [ready]))).toBe('Draining');
  expect(clusterState(aCluster({}, [ready, { type: 'Removing', status: 'True' }]))).toBe('Leaving');
});

test('a Job that somebody has rest is held, and not waiting', () => {
  expect(stateOf(aJob('true'), JOB_KIND)).toBe('Held');
  expect(stateOf(aJob('false'), JOB_KIND)).toBe('Waiting');
});

test('kinds go by all of their names', () => {
  expect(VIEW_WORDS.filter((word) => kindView(word) === undefined)).toEqual([]);
  expect(kindView('pods')).toBeUndefined();
  expect(kindView('constructor')).toBeUndefined();
});

describe('objects of other kinds', () => {
  const crews = aCrewKind();
  const policy = { suspend: true, managedBy: 'example.com/elsewhere' };
  const crew = (changes: Parameters<typeof aCrew>[0] = {}): KubeObject =>
    wholeObject(CREWS, aCrew({ ...changes, spec: { policy, ...changes.spec } }) as KubeObject);
  const job = wholeObject(JOBS, aJob());

  test('stand beside Jobs of their name, each with its kind', () => {
    expect(objectTable(workView('jobs or crews', [JOB_KIND, crews]), [job, crew({ metadata: { name: 'train' } })], STYLE)).toEqual([
      'NAME   KIND  QUEUE  CLUSTER  STATE    ACTIVE  OK  FAILED  AGE',
      'train  Job   main   -        Waiting  0       0   0       60s',
      'train  Crew  main   -        Waiting  0       0   0       60s',
    ]);
    expect(objectTable(workView('crews', [crews]), [crew()], STYLE)[0]).toBe('NAME  QUEUE  CLUSTER  STATE    ACTIVE  OK  FAILED  AGE');
    expect(WORK_COLUMN_NAMES).toContain('KIND');
  });

  test('are counted and judged as their description says', () => {
    const metadata = {
      annotations: { [ADMISSION_ANNOTATION]: formatAdmissionRecord(aRecord({ cluster: 'east' }), { written: CREATED, seal: '' }) },
    };
    const status = { phase: 'Sailing', startTime: CREATED, done: { deck: 2 } };
    const runs = crew({ metadata, spec: { policy: { ...policy, suspend: false } }, status });
    expect(objectTable(workView('crews', [crews]), [runs], STYLE)[1]).toMatch(/^argo +main +east +Running +4 +2 +0 +60s$/);
    const ours = workView('crews', [crews]);
    expect([ours.isOurs(runs), ours.isOurs(wholeObject(CREWS, aCrew() as KubeObject))]).toEqual([true, false]);
  });
});
