import { describe, expect, test } from 'vitest';
import { podStrategy } from '../../../../../shared/controlplane/kinds/pod-strategy.ts';
import type { AnyObject } from '../../../../../shared/controlplane/apimachinery/object.ts';
import { driveKind } from '../../../../support/kind-driver.ts';

const pods = driveKind(podStrategy);
const spec = { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] };
const create = (fields: object = {}) => pods.create({ metadata: { name: 'p' }, spec: { ...spec, ...fields } });
const stored = (fields: object = {}, status: object = {}): AnyObject => ({
  ...create(fields).object,
  status: { phase: 'Running', qosClass: 'BestEffort', ...status },
});
type Spec = Record<string, unknown>;
const change = (pod: AnyObject, edit: (spec: Spec) => void) => pods.update(pod, (next) => edit(next['spec'] as Spec));
const container = (resources: object) => ({ containers: [{ name: 'c', image: 'i', resources }] });

describe('a new pod', () => {
  test('is pending, whatever it says', () => {
    const { object } = pods.create({ metadata: { name: 'p' }, spec, status: { phase: 'Running', message: 'x' } });
    expect(object['status']).toEqual({ phase: 'Pending', qosClass: 'BestEffort' });
    expect(object.metadata.generation).toBe(1);
  });
  test('says that its gates hold it back', () => {
    expect(create({ schedulingGates: [{ name: 'a/b' }] }).object['status']).toMatchObject({
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated', lastProbeTime: null }],
    });
  });
  test.each([
    [{ limits: { cpu: '1', memory: '1Gi' } }, 'Guaranteed'],
    [{ limits: { cpu: '1' } }, 'Burstable'],
    [{ requests: { cpu: '100m' } }, 'Burstable'],
    [{ requests: { 'ephemeral-storage': '1Gi' } }, 'BestEffort'],
  ])('with resources %j is %s', (resources, qosClass) => {
    expect(create(container(resources)).object['status']).toMatchObject({ qosClass });
  });
  test('requests what it limits', () => {
    expect(create(container({ limits: { cpu: '1' } })).object['spec']).toMatchObject(container({ requests: { cpu: '1' } }));
  });
  test.each<[object, string]>([
    [
      { nodeName: 'n', schedulingGates: [{ name: 'a/b' }] },
      'spec.nodeName | Forbidden: cannot be set until all schedulingGates have been cleared',
    ],
    [
      { containers: [{ name: 'c', image: ' i ' }] },
      'spec.containers[0].image | Invalid value: " i ": must not have leading or trailing whitespace',
    ],
    [{ activeDeadlineSeconds: 0 }, 'spec.activeDeadlineSeconds | Invalid value: 0: must be between 1 and 2147483647, inclusive'],
    [{ initContainers: [{ name: 'c', image: 'i' }] }, 'spec.initContainers[0].name | Duplicate value: "c"'],
    [{ ephemeralContainers: [{ name: 'e', image: 'i' }] }, 'spec.ephemeralContainers | Forbidden: cannot be set on create'],
    [
      { hostNetwork: true, containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80, hostPort: 81 }] }] },
      'spec.containers[0].ports[0].hostPort | Invalid value: 81: must match `containerPort` when `hostNetwork` is true',
    ],
  ])('with %j is refused', (fields, finding) => expect(create(fields).findings).toEqual([finding]));
});

describe('an update of a pod', () => {
  const fixed = /^spec \| Forbidden: pod updates may not change fields other than `spec\.containers\[\*\]\.image`/;
  test('may change images and set a deadline, which makes a new generation', () => {
    const { object, findings } = change(stored(), (next) => {
      Object.assign(next, { activeDeadlineSeconds: 10, containers: [{ name: 'c', image: 'other' }] });
    });
    expect([object.metadata.generation, findings]).toEqual([2, []]);
  });
  test.each<[string, (next: Spec) => void]>([
    ['its node', (next) => (next['nodeName'] = 'n')],
    ['its grace period', (next) => (next['terminationGracePeriodSeconds'] = 5)],
    ['a command', (next) => (next['containers'] = [{ name: 'c', image: 'i', command: ['x'] }])],
    ['its node selector', (next) => (next['nodeSelector'] = { a: 'b' })],
  ])('may not change %s', (_what, edit) => {
    expect(change(stored(), edit).findings).toEqual([expect.stringMatching(fixed)]);
  });
  test('may not move its deadline back, nor drop it', () => {
    const pod = stored({ activeDeadlineSeconds: 10 });
    expect(change(pod, (next) => (next['activeDeadlineSeconds'] = 20)).findings).toEqual([
      'spec.activeDeadlineSeconds | Invalid value: 20: must be less than or equal to previous value',
    ]);
    expect(change(pod, (next) => delete next['activeDeadlineSeconds']).findings).toEqual([
      'spec.activeDeadlineSeconds | Invalid value: null: must not update from a positive integer to nil value',
    ]);
  });
  test('may add tolerations and change their time, not take them away', () => {
    const pod = stored({ tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }] });
    const tolerations = [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 9 }, { operator: 'Exists' }];
    expect(change(pod, (next) => (next['tolerations'] = tolerations)).findings).toEqual([]);
    expect(change(pod, (next) => (next['tolerations'] = [])).findings).toEqual([
      'spec.tolerations | Forbidden: existing toleration can not be modified except its tolerationSeconds',
    ]);
  });
  test('may narrow where a gated pod runs', () => {
    const pod = stored({ schedulingGates: [{ name: 'a/b' }, { name: 'a/c' }], nodeSelector: { a: 'b' } });
    expect(
      change(pod, (next) => Object.assign(next, { nodeSelector: { a: 'b', c: 'd' }, schedulingGates: [{ name: 'a/b' }] })).findings,
    ).toEqual([]);
    expect(change(pod, (next) => (next['nodeSelector'] = {})).findings).toEqual([
      'spec.nodeSelector | Invalid value: {}: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
    ]);
    expect(change(pod, (next) => (next['schedulingGates'] = [{ name: 'a/d' }])).findings).toEqual([
      "spec.schedulingGates[0].name | Forbidden: only deletion is allowed, but found new scheduling gate 'a/d'",
    ]);
  });
});

describe('the status of a pod', () => {
  test('may go through phases in any order', () => {
    expect(pods.updateStatus(stored({}, { phase: 'Succeeded' }), { phase: 'Running', qosClass: 'BestEffort' }).findings).toEqual([]);
  });
  test('keeps its quality of service', () => {
    expect(pods.updateStatus(stored(), { phase: 'Running', qosClass: 'Guaranteed' }).findings).toEqual([
      'status.qosClass | Invalid value: "Guaranteed": field is immutable',
    ]);
  });
  test('brings no container back that has ended for good', () => {
    const ended = (exitCode: number) => ({ containerStatuses: [{ name: 'c', state: { terminated: { exitCode } } }] });
    const running = { qosClass: 'BestEffort', containerStatuses: [{ name: 'c', state: { running: {} } }] };
    const refused = ['status.containerStatuses[0].state | Forbidden: may not be transitioned to non-terminated state'];
    expect(pods.updateStatus(stored({}, ended(0)), running).findings).toEqual(refused);
    expect(pods.updateStatus(stored({ restartPolicy: 'OnFailure' }, ended(1)), running).findings).toEqual([]);
    expect(pods.updateStatus(stored({ restartPolicy: 'OnFailure' }, ended(0)), running).findings).toEqual(refused);
  });
  test('has one address under two names', () => {
    expect(
      pods.updateStatus(stored(), { qosClass: 'BestEffort', podIP: '10.0.0.2', podIPs: [{ ip: '10.0.0.1' }] }).object['status'],
    ).toMatchObject({
      podIPs: [{ ip: '10.0.0.2' }],
    });
    expect(pods.updateStatus(stored(), { qosClass: 'BestEffort', podIPs: [{ ip: '10.0.0.1' }] }).object['status']).toMatchObject({
      podIP: '10.0.0.1',
    });
  });
});

test.each<[string, object, object, number | undefined, number]>([
  ['a bound pod gets the grace of its spec', { nodeName: 'n' }, {}, undefined, 30],
  ['a bound pod gets what was asked for', { nodeName: 'n' }, {}, 5, 5],
  ['a negative period is one second', { nodeName: 'n' }, {}, -1, 1],
  ['a pod without a node goes at once', {}, {}, 60, 0],
  ['a pod that has ended goes at once', { nodeName: 'n' }, { phase: 'Failed' }, 60, 0],
])('%s', (_situation, fields, status, requested, seconds) => {
  expect(podStrategy.gracePeriodSeconds?.(stored(fields, status), requested)).toBe(seconds);
});
