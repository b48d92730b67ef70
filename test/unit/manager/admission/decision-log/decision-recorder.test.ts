import { beforeEach, describe, expect, test } from 'vitest';
import type { Decision } from '../../../../../manager/admission/scheduling/decision.ts';
import { createDecisionRecorder, type DecisionRecorder } from '../../../../../manager/admission/decision-log/decision-recorder.ts';
import { loggedPlace, partsOf, recordFor } from '../../../../../manager/admission/decision-log/logged-decisions.ts';
import { loggable, loggedObject, type SetupObjects } from '../../../../../manager/admission/decision-log/logged-object.ts';
import { settingsFrom, settingsOf } from '../../../../../manager/admission/decision-log/logged-settings.ts';
import { type LoggedJob, loggedJob, withNeeded, workloadFrom } from '../../../../../manager/admission/decision-log/logged-workload.ts';
import type { Workload } from '../../../../../manager/admission/workload/workload.ts';
import { ANY_NODE } from '../../../../../manager/admission/workload/node-wish.ts';
import { workloadOf } from '../../../../../manager/admission/workload/workload.ts';
import type { WorkloadPodSet } from '../../../../../manager/admission/workload/workload-pod-sets.ts';
import { parseRequests } from '../../../../../manager/api/amount.ts';
import type { WorkerCluster } from '../../../../../manager/api/worker-cluster.ts';
import { memoryLineSink, type MemoryLineSink } from '../../../../support/memory-line-sink.ts';
import { aHomeJob, aRecord } from '../../../../support/jobs.ts';
import { aClusterQueue, aWorkload, head, objects } from '../setup.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

const cluster: WorkerCluster = {
  metadata: {
    name: 'eu',
    uid: 'eu',
    resourceVersion: '1',
    creationTimestamp: '',
    labels: { region: 'eu' },
    annotations: { note: 'secret' },
  },
  spec: { kubeconfigSecretRef: { namespace: 'switchyard', name: 'eu-kubeconfig' }, capacity: { cpu: '8' } },
  status: {
    clusterUID: 'uid-eu',
    conditions: [
      { type: 'Ready', status: 'True', reason: 'Connected', message: 'since noon', lastTransitionTime: '2026-01-01T00:00:00Z' },
      { type: 'WorkerAlive', status: 'True', reason: 'Seen', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
    ],
  },
};
const setup = (parts: Partial<SetupObjects> = {}): SetupObjects => ({
  ...objects({ clusterQueues: [aClusterQueue('main', { default: '4' })] }),
  workerClusters: [cluster],
  workloadPriorityClasses: [],
  priorityClasses: [],
  ...parts,
});

let sink: MemoryLineSink;
let there: Workload[];
let now: SetupObjects;
let later: (() => void)[];
let recorder: DecisionRecorder;
const lines = (): { readonly kind: string; readonly [field: string]: unknown }[] =>
  sink.files.flatMap((file) => file.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)])));
const kinds = (): string[] => lines().map(({ kind }) => kind);

beforeEach(() => {
  sink = memoryLineSink();
  there = [];
  now = setup();
  later = [];
  recorder = createDecisionRecorder({
    sink,
    settings: {},
    objects: () => now,
    workloads: function* () {
      for (const [arrival, workload] of there.entries()) yield { workload, arrival };
    },
    now: () => 5_000,
    soon: (callback) => void later.push(callback),
  });
});

describe('what is written down', () => {
  test('nothing while somebody else leads', () => {
    recorder.seen(aWorkload('a'), 0);
    recorder.cycle(1, 1, []);
    recorder.looked('idle');
    expect(sink.files).toEqual(['']);
    recorder.start();
    recorder.stop();
    const before = sink.files[0];
    recorder.seen(aWorkload('a'), 0);
    expect(sink.files[0]).toBe(before);
  });

  test('a section begins with all objects and all Jobs, and says when they are told', () => {
    there = [aWorkload('a'), aWorkload('b')];
    recorder.start();
    expect(kinds()).toEqual(['log', ...Array.from({ length: 5 }, () => 'object'), 'job', 'job', 'whole']);
  });

  test('many Jobs are told bit by bit; what happens meanwhile is told in between, and nobody twice', () => {
    there = Array.from({ length: 600 }, (_, index) => aWorkload(`job-${index}`));
    recorder.start();
    expect(kinds()).not.toContain('whole');
    recorder.seen(aWorkload('job-599'), 599);
    recorder.ended('team/job-598', 'Finished');
    there.splice(598, 1);
    while (later.length > 0) later.shift()?.();
    expect(kinds().filter((kind) => kind === 'job').length).toBe(599);
    expect(kinds().filter((kind) => kind === 'end').length).toBe(1);
    expect(kinds().at(-1)).toBe('whole');
  });

  test('a section that begins while an earlier one is still being told is whole once all Jobs are told in it', () => {
    there = Array.from({ length: 600 }, (_, index) => aWorkload(`job-${index}`));
    recorder.start();
    later.shift()?.();
    recorder.stop();
    recorder.start();
    const from = kinds().lastIndexOf('log');
    while (later.length > 0) later.shift()?.();
    const told = kinds().slice(from);
    expect(told.filter((kind) => kind === 'job').length).toBe(600);
    expect(told.indexOf('whole')).toBe(told.length - 1);
  });

  test('a Job is told when it comes, when it is another one, and when it is gone; one that was only written again with a word', () => {
    recorder.start();
    const from = kinds().length;
    recorder.seen(aWorkload('a'), 0);
    recorder.seen(aWorkload('a'), 0);
    recorder.seen(aWorkload('a', { cpu: '2' }), 0);
    recorder.ended('team/a', 'Deleted');
    recorder.ended('team/a', 'Deleted');
    expect(kinds().slice(from)).toEqual(['job', 'again', 'job', 'end']);
  });

  test('one that is admitted is told of when it holds less, and when it is suspended', () => {
    recorder.start();
    const from = kinds().length;
    const admitted = aWorkload('a', { cpu: '1' }, { phase: 'Admitted' });
    recorder.seen(aWorkload('a'), 0);
    recorder.seen(admitted, 0);
    recorder.seen({ ...admitted, podsNeeded: 1, started: true }, 0, true);
    recorder.seen({ ...admitted, phase: 'Evicting' }, 0);
    recorder.seen({ ...admitted, phase: 'Evicting' }, 0);
    expect(lines().slice(from)).toMatchObject([{ kind: 'job' }, { phase: 'Admitted', needed: 1 }, { phase: 'Evicting' }]);
    expect(kinds().length).toBe(from + 3);
  });

  test('a Job of which clusters lack something else now is logged again, and read back with what they lack, its RuntimeClass and its data', () => {
    recorder.start();
    const from = kinds().length;
    const lacks = { east: { problem: 'no PersistentVolumeClaim team/data', isMissing: true } } as const;
    recorder.seen(aWorkload('a', { cpu: '1' }, { runtimeClass: 'gvisor' }), 0);
    const data = { preferred: ['corpus'], required: [] };
    recorder.seen(aWorkload('a', { cpu: '1' }, { runtimeClass: 'gvisor', data, lacks }), 0);
    recorder.seen(aWorkload('a', { cpu: '1' }, { runtimeClass: 'gvisor', lacks: structuredClone(lacks) }), 0);
    expect(kinds().slice(from)).toEqual(['job', 'job', 'again']);
    const logged = lines()[from + 1] as unknown as LoggedJob;
    expect(workloadFrom(logged, undefined)).toMatchObject({ runtimeClass: 'gvisor', data, lacks });
  });

  test('one that its queue waits for is told of while its pods are not ready, and once they are', () => {
    recorder.start();
    const from = kinds().length;
    const admitted = aWorkload('a', { cpu: '1' }, { phase: 'Admitted' });
    recorder.seen(aWorkload('a'), 0);
    recorder.seen(admitted, 0, true);
    recorder.seen({ ...admitted, started: true }, 0, true);
    expect(lines().slice(from + 1)).toEqual([
      expect.objectContaining({ kind: 'phase', phase: 'Admitted', starting: true }),
      expect.not.objectContaining({ starting: true }),
    ]);
  });

  test('of the setup what has changed, and what is gone', () => {
    recorder.start();
    const from = kinds().length;
    recorder.setup();
    now = setup({ workerClusters: [{ ...cluster, status: { ...cluster.status, nodes: 5 } as WorkerCluster['status'] & object }] });
    recorder.setup();
    expect(kinds().length).toBe(from);
    now = setup({ clusterQueues: [aClusterQueue('main', { default: '5' })], workerClusters: [] });
    recorder.setup();
    expect(lines().slice(from)).toMatchObject([{ kind: 'object' }, { kind: 'gone', object: 'WorkerCluster eu' }]);
  });

  test('a pass is told of where anything was since the last one', () => {
    recorder.start();
    const from = kinds().length;
    recorder.pass();
    recorder.looked('idle');
    recorder.pass();
    recorder.looked('idle');
    recorder.pass();
    recorder.cycle(6_000, 4, []);
    recorder.cycle(6_001, 8, []);
    recorder.looked('busy');
    expect(lines().slice(from)).toMatchObject([
      { kind: 'looked', first: true, because: 'idle' },
      { kind: 'cycle', at: 6_000, cycle: 1, first: true, most: 4 },
      { kind: 'cycle', at: 6_001, cycle: 2, most: 8 },
      { kind: 'looked', because: 'busy' },
    ]);
  });
});

describe('a disk that is slow or full', () => {
  test('what cannot be written is counted, and a gap told once there is room, with all that there is then', () => {
    recorder.start();
    const from = kinds().length;
    sink.broken = true;
    there = [aWorkload('a')];
    recorder.seen(aWorkload('a'), 0);
    recorder.cycle(1, 1, []);
    sink.broken = false;
    recorder.seen(aWorkload('a'), 0);
    expect(lines()[from]).toMatchObject({ kind: 'log', because: 'gap', dropped: 2 });
    expect(kinds().slice(from + 1)).toEqual([...Array.from({ length: 5 }, () => 'object'), 'job', 'whole']);
  });

  test('a file that is full is followed by the next, which can be read alone', () => {
    sink.fileBytesMax = 2_000;
    recorder.start();
    for (let index = 0; index < 30; index++) {
      recorder.pass();
      recorder.cycle(index, 1, []);
      recorder.looked('idle');
    }
    expect(sink.files.length).toBeGreaterThan(1);
    for (const file of sink.files.slice(1)) expect(file).toMatch(/^\{"kind":"log","version":1,"at":5000,"because":"rotation"/);
  });

  test('what sections repeat is never more than half of what is written', () => {
    sink.fileBytesMax = 1;
    recorder.start();
    for (let index = 0; index < 200; index++) {
      recorder.cycle(index, 1, []);
      recorder.looked('idle');
    }
    const repeated = lines().filter(({ kind }) => kind === 'log' || kind === 'object');
    expect(JSON.stringify(repeated).length).toBeLessThan(JSON.stringify(lines()).length * 0.6);
  });
});

describe('what is not written down', () => {
  test('of a cluster where its kubeconfig is, its annotations, and words that change', () => {
    const text = [...loggable(setup())].map(({ kind, object }) => JSON.stringify(loggedObject(kind, object))).join();
    expect(text).toContain('"capacity":{"cpu":"8"}');
    for (const word of ['kubeconfig', 'secret', 'since noon', 'WorkerAlive']) expect(text).not.toContain(word);
  });

  test('of a Job what it runs: commands, arguments, environment, images and annotations', () => {
    const job = aHomeJob();
    job.metadata.annotations = { ...job.metadata.annotations, token: 'hunter2' };
    const [container] = job.spec.template.spec?.containers ?? [];
    Object.assign(container ?? {}, {
      image: 'registry/hunter2',
      command: ['hunter2'],
      args: ['hunter2'],
      env: [{ name: 'PASSWORD', value: 'hunter2' }],
    });
    const workload = workloadOf(JOB_KIND, job, { kind: 'None' });
    if (workload === undefined) throw new Error('it is the manager’s');
    expect(JSON.stringify(loggedJob(workload, 0))).not.toContain('hunter2');
  });

  test('what a tenant has written wrongly', () => {
    const wrong = aWorkload('a', { cpu: '1' }, { problem: 'annotation says hunter2', wish: { kind: 'Invalid', problem: 'hunter2' } });
    expect(JSON.stringify(loggedJob(wrong, 0))).not.toContain('hunter2');
  });
});

test('a Workload comes out of the log as it went in, as far as decisions depend on it', () => {
  const workload = aWorkload(
    'a',
    { cpu: '2' },
    {
      minPods: 1,
      priorityWish: { podClass: 'high' },
      wish: { kind: 'Names', names: ['eu'] },
      createdMs: 7,
      maxExecutionSeconds: 60,
      fenced: false,
    },
  );
  const told = loggedJob(workload, 3);
  const back = workloadFrom(JSON.parse(JSON.stringify(told)), undefined);
  const { schedulingHash: _hash, resourceVersion: _version, graceSeconds: _grace, ...same } = workload;
  expect(back).toMatchObject(same);
  expect(loggedJob(back, 3)).toEqual(told);
});

test('several pod sets come out of the log with what each may have fewer, has finished, and takes', () => {
  const set = (podSet: string, cpu: string, pods: string, parts: Partial<WorkloadPodSet> = {}): WorkloadPodSet => ({
    podSet,
    requests: parseRequests({ cpu, pods }),
    nodeWish: ANY_NODE,
    ...parts,
  });
  const podSets = [set('head', '2', '2', { podsNeeded: 1 }), set('workers', '8', '4', { minPods: 1, podsNeeded: 3 })];
  const workload = aWorkload('a', {}, { requests: parseRequests({ cpu: '10', pods: '6' }), minPods: 3, podSets });
  const told = loggedJob(workload, 3);
  expect(told.needed).toEqual({ head: 1, workers: 3 });
  const back = workloadFrom(JSON.parse(JSON.stringify(told)), undefined);
  expect(back.podSets).toEqual(podSets);
  expect(withNeeded(back, { workers: 2 }).podSets?.map(({ podsNeeded }) => podsNeeded)).toEqual([undefined, 2]);
  expect(withNeeded(back, undefined)).not.toHaveProperty('podSets.1.podsNeeded');
  expect(withNeeded(aWorkload('b'), 4)).toEqual({ ...aWorkload('b'), podsNeeded: 4 });
  const record = aRecord({
    cluster: 'eu',
    flavors: { cpu: 'spot' },
    parallelism: 5,
    podSets: [
      { name: 'head', flavors: { cpu: 'spot' }, requests: { cpu: '2', pods: '2' } },
      { name: 'workers', flavors: { cpu: 'default' }, requests: { cpu: '6', pods: '3' }, count: 3 },
    ],
  });
  const place = loggedPlace(record);
  expect(place).toEqual({
    cluster: 'eu',
    flavors: { cpu: 'spot' },
    podSets: { head: { cpu: 'spot' }, workers: { cpu: 'default' } },
    pods: 5,
  });
  expect(recordFor({ job: 'team/a', queue: 'main', ...place }, back, 0)).toMatchObject({
    requests: { cpu: '8', pods: '5' },
    podSets: record.podSets,
    parallelism: 5,
  });
});

test('decisions are told by what they came to, and no message is looked for', () => {
  const decision = {
    kind: 'Inadmissible',
    head: head('main', aWorkload('a')),
    waitsFor: 'quota',
    reason: 'InsufficientQuota',
    get message(): string {
      throw new Error('nobody asked for it');
    },
    verdicts: [],
  } as Decision;
  expect(partsOf([decision, { kind: 'Requeue', head: head('main', aWorkload('b')) }])).toEqual({
    waiting: [{ job: 'team/a', queue: 'main', reason: 'InsufficientQuota', waitsFor: 'quota' }],
    again: ['team/b'],
  });
});

test('flags come out of the log as they went in', () => {
  const settings = {
    defaultPlacement: 'LeastRoom' as const,
    fairSharing: { preemptionStrategies: ['LessThanInitialShare'] as const },
    admissionFairSharing: { halfLifeMs: 1, samplingIntervalMs: 2, resourceWeights: new Map([['cpu', 3]]) },
  };
  expect(settingsFrom(JSON.parse(JSON.stringify(settingsOf(settings))))).toEqual(settings);
  expect(settingsFrom(settingsOf({}))).toEqual({ fairSharing: undefined, admissionFairSharing: undefined, defaultPlacement: 'LeastRoom' });
  // Managers that wrote nothing of placement spread all Jobs.
  expect(settingsFrom({})).toMatchObject({ defaultPlacement: 'MostRoom' });
});
