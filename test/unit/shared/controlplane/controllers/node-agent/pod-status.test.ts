import { describe, expect, test } from 'vitest';
import type { Pod, PodCondition } from '../../../../../../shared/api/kubernetes.ts';
import { toWireTime } from '../../../../../../shared/api/wire-time.ts';
import {
  podStatus,
  type ContainerRecord,
  type ContainerState,
  type PodRecord,
} from '../../../../../../shared/controlplane/controllers/node-agent/pod-status.ts';

const NOW = Date.UTC(2026, 0, 1);
const EARLIER = '2025-12-31T00:00:00Z';

const aPod = (conditions: PodCondition[] = [], generation?: number): Pod => ({
  metadata: {
    name: 'p',
    namespace: 'ns',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: EARLIER,
    ...(generation === undefined ? {} : { generation }),
  },
  spec: { containers: [] },
  status: { conditions },
});
const running: ContainerState = { kind: 'running', startedAtMs: NOW };
const waiting: ContainerState = { kind: 'waiting', reason: 'ContainerCreating' };
const ended = (exitCode: number): ContainerState => ({ kind: 'terminated', exitCode, reason: exitCode === 0 ? 'Completed' : 'Error' });

const container = (state: ContainerState, parts: Partial<ContainerRecord> = {}): ContainerRecord => ({
  name: 'main',
  image: 'i',
  state,
  last: undefined,
  restarts: 0,
  started: true,
  ...parts,
});
const aRecord = (parts: Partial<PodRecord> = {}): PodRecord => ({
  init: [],
  main: [container(running)],
  initialized: true,
  outcome: undefined,
  startedAtMs: NOW,
  podIp: '10.0.0.7',
  hostIp: '10.0.0.1',
  ...parts,
});
const statusOf = (parts: Partial<PodRecord> = {}, pod = aPod()) => podStatus(pod, aRecord(parts), NOW);
const told = (parts: Partial<PodRecord>): string[] =>
  statusOf(parts).conditions.map(({ type, status, reason, message }) => [`${type}=${status}`, reason, message].filter(Boolean).join(' '));

describe('a pod', () => {
  test('tells where it runs and since when', () => {
    expect(statusOf()).toMatchObject({
      hostIP: '10.0.0.1',
      hostIPs: [{ ip: '10.0.0.1' }],
      podIP: '10.0.0.7',
      podIPs: [{ ip: '10.0.0.7' }],
      startTime: toWireTime(NOW),
    });
  });

  test.each<[string, Partial<PodRecord>, string]>([
    ['whose containers wait is pending', { main: [container(waiting)] }, 'Pending'],
    ['whose init containers run is pending', { initialized: false }, 'Pending'],
    ['of which one container runs is running', { main: [container(waiting), container(running)] }, 'Running'],
    ['of which one container has ended is running', { main: [container(waiting), container(ended(1))] }, 'Running'],
    ['whose container waits for its restart is running', { main: [container(waiting, { restarts: 1 })] }, 'Running'],
    ['that has ended is what it ended as', { outcome: { phase: 'Failed' } }, 'Failed'],
  ])('%s', (_what, parts, phase) => {
    expect(statusOf(parts).phase).toBe(phase);
  });

  test('says why it ended, where there is more to say than how', () => {
    expect(statusOf({ outcome: { phase: 'Failed', reason: 'DeadlineExceeded', message: 'too long' } })).toMatchObject({
      reason: 'DeadlineExceeded',
      message: 'too long',
    });
    expect(statusOf({ outcome: { phase: 'Succeeded' } })).not.toHaveProperty('reason');
    expect(statusOf()).not.toHaveProperty('message');
  });

  test('tells which generation this is about, where it has one', () => {
    expect(statusOf({}, aPod([], 3)).observedGeneration).toBe(3);
    expect(statusOf()).not.toHaveProperty('observedGeneration');
  });

  test('tells of init containers where it has any', () => {
    expect(statusOf()).not.toHaveProperty('initContainerStatuses');
    expect(statusOf({ init: [container(ended(0), { name: 'first' })] }).initContainerStatuses).toMatchObject([{ name: 'first' }]);
  });
});

describe('a container', () => {
  const shown = (parts: Partial<ContainerRecord>) => statusOf({ main: [container(parts.state ?? running, parts)] }).containerStatuses?.[0];

  test('that runs is ready, and has an ID of its own', () => {
    expect(shown({})).toEqual({
      name: 'main',
      image: 'i',
      imageID: '',
      containerID: 'process://u/main/0',
      restartCount: 0,
      ready: true,
      started: true,
      state: { running: { startedAt: toWireTime(NOW) } },
      lastState: {},
    });
  });

  test('that waits has no ID yet', () => {
    const status = shown({ state: { ...waiting, message: 'pulling' } as ContainerState });
    expect(status).toMatchObject({ ready: false, started: false, state: { waiting: { reason: 'ContainerCreating', message: 'pulling' } } });
    expect(status).not.toHaveProperty('containerID');
  });

  test('that has ended tells how, and of its times those that are known', () => {
    const state: ContainerState = {
      kind: 'terminated',
      exitCode: 3,
      reason: 'Error',
      message: 'x',
      startedAtMs: NOW,
      finishedAtMs: NOW + 1000,
    };
    expect(shown({ state })?.state).toEqual({
      terminated: {
        exitCode: 3,
        reason: 'Error',
        message: 'x',
        startedAt: toWireTime(NOW),
        finishedAt: toWireTime(NOW + 1000),
        containerID: 'process://u/main/0',
      },
    });
    expect(shown({ state: ended(0) })?.state).toEqual({
      terminated: { exitCode: 0, reason: 'Completed', containerID: 'process://u/main/0' },
    });
  });

  test('that was restarted tells how it ended before, under the ID it had then', () => {
    expect(shown({ restarts: 2, last: ended(1) })).toMatchObject({
      containerID: 'process://u/main/2',
      restartCount: 2,
      lastState: { terminated: { exitCode: 1, containerID: 'process://u/main/1' } },
    });
  });
});

describe('conditions', () => {
  test.each<[string, Partial<PodRecord>, string[]]>([
    ['of a pod that runs', {}, ['PodReadyToStartContainers=True', 'Initialized=True', 'Ready=True', 'ContainersReady=True']],
    [
      'of a pod whose containers do not all run name them',
      { main: [container(running), container(waiting, { name: 'a' }), container(ended(1), { name: 'b' })] },
      [
        'PodReadyToStartContainers=True',
        'Initialized=True',
        'Ready=False ContainersNotReady containers with unready status: [a b]',
        'ContainersReady=False ContainersNotReady containers with unready status: [a b]',
      ],
    ],
    [
      'of a pod that is being initialized name what is not complete',
      {
        initialized: false,
        init: [container(ended(0), { name: 'done' }), container(ended(1), { name: 'failed' }), container(waiting, { name: 'next' })],
        main: [container(waiting)],
      },
      [
        'PodReadyToStartContainers=True',
        'Initialized=False ContainersNotInitialized containers with incomplete status: [failed next]',
        'Ready=False ContainersNotReady containers with unready status: [main]',
        'ContainersReady=False ContainersNotReady containers with unready status: [main]',
      ],
    ],
    [
      'of a pod that has succeeded',
      { outcome: { phase: 'Succeeded' }, main: [container(ended(0))] },
      [
        'PodReadyToStartContainers=False',
        'Initialized=True PodCompleted',
        'Ready=False PodCompleted',
        'ContainersReady=False PodCompleted',
      ],
    ],
    [
      'of a pod that has failed',
      { outcome: { phase: 'Failed' }, main: [container(ended(1))] },
      ['PodReadyToStartContainers=False', 'Initialized=True', 'Ready=False PodFailed', 'ContainersReady=False PodFailed'],
    ],
  ])('%s', (_what, parts, conditions) => {
    expect(told(parts)).toEqual(conditions);
  });

  test('keep their time while their status stays, and lose the reason they had', () => {
    const known = [
      { type: 'Ready', status: 'True', lastTransitionTime: EARLIER },
      { type: 'Initialized', status: 'True', reason: 'Before', message: 'before', lastTransitionTime: EARLIER },
      { type: 'ContainersReady', status: 'False', lastTransitionTime: EARLIER },
    ];
    expect(statusOf({}, aPod(known)).conditions).toEqual([
      { type: 'PodReadyToStartContainers', status: 'True', lastTransitionTime: toWireTime(NOW) },
      { type: 'Initialized', status: 'True', reason: null, message: null, lastTransitionTime: EARLIER },
      { type: 'Ready', status: 'True', lastTransitionTime: EARLIER },
      { type: 'ContainersReady', status: 'True', lastTransitionTime: toWireTime(NOW) },
    ]);
  });
});
