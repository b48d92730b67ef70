import { describe, expect, test } from 'vitest';
import type { DecodedPod, DecodedPodSpec, DecodedPodStatus } from '../../../../../shared/controlplane/kinds/decoded.ts';
import { goPodSpecText } from '../../../../../shared/controlplane/kinds/go-pod-spec.ts';
import { bindPod, checkBinding } from '../../../../../shared/controlplane/kinds/pod-binding.ts';
import { withPodCondition } from '../../../../../shared/controlplane/kinds/pod-conditions.ts';
import { applyPodDefaults, applyPodSpecDefaults } from '../../../../../shared/controlplane/kinds/pod-defaults.ts';
import { qosClassOf } from '../../../../../shared/controlplane/kinds/pod-qos.ts';
import { validatePodStatusUpdate } from '../../../../../shared/controlplane/kinds/pod-status-validation.ts';
import { validatePodUpdate } from '../../../../../shared/controlplane/kinds/pod-update-validation.ts';
import { podTemplateWarnings, podWarnings } from '../../../../../shared/controlplane/kinds/pod-warnings.ts';
import { anObject } from '../a-served-resource.ts';
import { aContainer, told } from './findings.ts';

const aSpec = (parts: DecodedPodSpec = {}): DecodedPodSpec => ({
  containers: [aContainer()],
  restartPolicy: 'Always',
  dnsPolicy: 'ClusterFirst',
  terminationGracePeriodSeconds: 30,
  ...parts,
});
const aPod = (spec: DecodedPodSpec = {}, status?: DecodedPodStatus, metadata: Partial<DecodedPod['metadata']> = {}): DecodedPod =>
  anObject('p', { spec: aSpec(spec), ...(status === undefined ? {} : { status }) }, metadata) as DecodedPod;

describe('an update of a pod', () => {
  const updated = (next: DecodedPodSpec, previous: DecodedPodSpec = {}) => told(validatePodUpdate(aPod(next), aPod(previous)));
  const gated = { schedulingGates: [{ name: 'a' }] };
  test.each<[string, DecodedPodSpec, DecodedPodSpec]>([
    ['another image', { containers: [aContainer({ image: 'j' })] }, {}],
    ['a deadline', { activeDeadlineSeconds: 5 }, {}],
    ['an earlier deadline', { activeDeadlineSeconds: 5 }, { activeDeadlineSeconds: 6 }],
    ['more tolerations', { tolerations: [{ key: 'a' }, { key: 'b' }] }, { tolerations: [{ key: 'a' }] }],
    [
      'another time of tolerating',
      { tolerations: [{ key: 'a', effect: 'NoExecute', tolerationSeconds: 1 }] },
      { tolerations: [{ key: 'a', effect: 'NoExecute' }] },
    ],
    ['fewer gates', {}, gated],
    ['narrower nodes behind a gate', { ...gated, nodeSelector: { a: 'b', c: 'd' } }, { ...gated, nodeSelector: { a: 'b' } }],
  ])('may bring %s', (_what, next, previous) => {
    expect(updated(next, previous)).toEqual([]);
  });
  test.each<[string, DecodedPodSpec, DecodedPodSpec, string]>([
    [
      'more containers',
      { containers: [aContainer(), aContainer({ name: 'd' })] },
      {},
      'spec.containers | Forbidden: pod updates may not add or remove containers',
    ],
    ['no image', { containers: [aContainer({ image: '' })] }, {}, 'spec.containers[0].image | Required value'],
    [
      'a later deadline',
      { activeDeadlineSeconds: 7 },
      { activeDeadlineSeconds: 6 },
      'spec.activeDeadlineSeconds | Invalid value: 7: must be less than or equal to previous value',
    ],
    [
      'no deadline',
      {},
      { activeDeadlineSeconds: 6 },
      'spec.activeDeadlineSeconds | Invalid value: null: must not update from a positive integer to nil value',
    ],
    [
      'other tolerations',
      { tolerations: [{ key: 'b' }] },
      { tolerations: [{ key: 'a' }] },
      'spec.tolerations | Forbidden: existing toleration can not be modified except its tolerationSeconds',
    ],
    ['more gates', gated, {}, `spec.schedulingGates[0].name | Forbidden: only deletion is allowed, but found new scheduling gate 'a'`],
    [
      'wider nodes behind a gate',
      gated,
      { ...gated, nodeSelector: { a: 'b' } },
      'spec.nodeSelector | Invalid value: null: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
    ],
  ])('does not bring %s', (_what, next, previous, finding) => {
    expect(updated(next, previous)).toContain(finding);
  });
  test('that changes anything else is told what differs, as Go prints it', () => {
    const [finding = ''] = updated({ hostname: 'new' });
    expect(finding).toMatch(/^spec \| Forbidden: pod updates may not change fields other than /);
    expect(finding).toContain('"Hostname": "new"');
  });
});

test('a spec is written as Go writes the internal type: every field, maps in order, and what is of the host in the security context', () => {
  const written = JSON.parse(
    goPodSpecText({ hostNetwork: true, nodeSelector: { b: '1', a: '<&>' }, containers: [{ name: 'c' }] }),
  ) as Record<string, unknown>;
  expect(written).toMatchObject({
    Containers: [{ Name: 'c', Image: '' }],
    NodeSelector: { a: '<&>', b: '1' },
    SecurityContext: { HostNetwork: true, HostPID: false },
    Volumes: null,
  });
  expect(written).not.toHaveProperty('HostNetwork');
  const text = goPodSpecText({ nodeSelector: { b: '1', a: '<&>' } });
  expect(text.indexOf('"a": "\\u003c\\u0026\\u003e"')).toBeLessThan(text.indexOf('"b": "1"'));
});

describe('the status of a pod', () => {
  const updated = (next: DecodedPodStatus, previous: DecodedPodStatus = {}, spec: DecodedPodSpec = {}) =>
    told(validatePodStatusUpdate(aPod(spec, next), aPod(spec, previous)));
  const ended = (exitCode: number) => ({ containerStatuses: [{ name: 'c', state: { terminated: { exitCode } } }] });
  const running = { containerStatuses: [{ name: 'c', state: { running: {} } }] };
  test.each<[DecodedPodStatus, DecodedPodStatus, DecodedPodSpec, string[]]>([
    [{ phase: 'Anything' }, {}, {}, []],
    [running, ended(1), { restartPolicy: 'Always' }, []],
    [running, ended(1), { restartPolicy: 'OnFailure' }, []],
    [
      running,
      ended(0),
      { restartPolicy: 'OnFailure' },
      ['status.containerStatuses[0].state | Forbidden: may not be transitioned to non-terminated state'],
    ],
    [
      running,
      ended(1),
      { restartPolicy: 'Never' },
      ['status.containerStatuses[0].state | Forbidden: may not be transitioned to non-terminated state'],
    ],
    [{ qosClass: 'Burstable' }, { qosClass: 'BestEffort' }, {}, ['status.qosClass | Invalid value: "Burstable": field is immutable']],
    [{ podIPs: [{ ip: '10.0.0.1' }, { ip: '::1' }] }, {}, {}, []],
    [
      { podIPs: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }] },
      {},
      {},
      ['status.podIPs | Invalid value: [{"IP":"10.0.0.1"},{"IP":"10.0.0.2"}]: may specify no more than one IP for each IP family'],
    ],
    [{ podIPs: [{ ip: 'x' }] }, { podIPs: [{ ip: 'x' }] }, {}, []],
    [
      { hostIP: '10.0.0.1', hostIPs: [{ ip: '10.0.0.2' }] },
      {},
      {},
      ['status.hostIPs[0].ip | Invalid value: "10.0.0.2": must be equal to `hostIP`'],
    ],
    [
      { nominatedNodeName: 'n' },
      {},
      { nodeName: 'm' },
      ['status.nominatedNodeName | Forbidden: may not be set on pods that are already bound to a node'],
    ],
    [{ observedGeneration: -1 }, {}, {}, ['status.observedGeneration | Invalid value: -1: must be a non-negative integer']],
    [
      { resourceClaimStatuses: [{ name: 'x' }] },
      {},
      {},
      ['status.resourceClaimStatuses[0].name | Invalid value: "x": must match the name of an entry in `spec.resourceClaims`'],
    ],
  ])('%j after %j of %j', (next, previous, spec, findings) => {
    expect(updated(next, previous, spec)).toEqual(findings);
  });

  test('has one condition of a type, whose time stays while its truth does', () => {
    const first = withPodCondition({}, { type: 'Ready', status: 'True' }, 'T1');
    expect(first.conditions).toEqual([{ type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: 'T1' }]);
    expect(withPodCondition(first, { type: 'Ready', status: 'True', reason: 'r' }, 'T2').conditions).toEqual([
      { type: 'Ready', status: 'True', reason: 'r', lastProbeTime: null, lastTransitionTime: 'T1' },
    ]);
    expect(withPodCondition(first, { type: 'Ready', status: 'False' }, 'T2').conditions?.[0]?.lastTransitionTime).toBe('T2');
    expect(withPodCondition(first, { type: 'Other', status: 'True' }, 'T2').conditions?.map(({ type }) => type)).toEqual([
      'Ready',
      'Other',
    ]);
    expect(first.conditions).toHaveLength(1);
  });
});

describe('a binding', () => {
  const binding = {
    metadata: { name: 'p', labels: { a: 'of the binding', b: '1' }, annotations: { a: 'of the binding' } },
    target: { kind: 'Node', name: 'n' },
  };
  test('names the pod and a node', () => {
    expect(() => checkBinding('p', binding)).not.toThrow();
    expect(() => checkBinding('p', { ...binding, target: { name: 'n' } })).not.toThrow();
    expect(() => checkBinding('q', binding)).toThrow('name in URL does not match name in Binding object');
    expect(() => checkBinding('p', { ...binding, target: {} })).toThrow('target.name: Required value');
    expect(() => checkBinding('p', { ...binding, target: { kind: 'Pod' } })).toThrow(
      '[target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>", target.name: Required value]',
    );
  });
  test('puts the pod on its node; labels of the pod are its own', () => {
    const pod = aPod({}, {}, { labels: { a: 'of the pod' }, annotations: { a: 'of the pod' } });
    expect(bindPod(pod, binding, 'T')).toMatchObject({
      metadata: { labels: { a: 'of the pod', b: '1' }, annotations: { a: 'of the binding' } },
      spec: { nodeName: 'n' },
      status: { conditions: [{ type: 'PodScheduled', status: 'True', lastTransitionTime: 'T' }] },
    });
    expect(pod.spec).not.toHaveProperty('nodeName');
  });
  test.each<[DecodedPodSpec, Partial<DecodedPod['metadata']>, string]>([
    [{ nodeName: 'm' }, {}, 'pod p is already assigned to node "m"'],
    [{ schedulingGates: [{ name: 'a' }] }, {}, 'pod p has non-empty .spec.schedulingGates'],
    [{}, { deletionTimestamp: '2026-01-01T00:00:00Z' }, 'pod p is being deleted, cannot be assigned to a host'],
  ])('is refused to a pod of %j %j', (spec, metadata, why) => {
    expect(() => bindPod(aPod(spec, {}, metadata), binding, 'T')).toThrow(why);
  });
});

test.each<[string, DecodedPodSpec]>([
  ['BestEffort', { containers: [aContainer()] }],
  ['BestEffort', { containers: [aContainer({ resources: { requests: { cpu: '0', 'example.com/gpu': '1' } } })] }],
  ['Burstable', { containers: [aContainer({ resources: { requests: { cpu: '1' } } })] }],
  [
    'Burstable',
    { containers: [aContainer({ resources: { requests: { cpu: '1', memory: '1' }, limits: { cpu: '1', memory: '1' } } }), aContainer()] },
  ],
  [
    'Guaranteed',
    { containers: [aContainer({ resources: { requests: { cpu: '1000m', memory: '1Ki' }, limits: { cpu: '1', memory: '1024' } } })] },
  ],
  ['Guaranteed', { resources: { requests: { cpu: '1', memory: '1' }, limits: { cpu: '1', memory: '1' } }, containers: [aContainer()] }],
  ['Burstable', { containers: [], initContainers: [aContainer({ resources: { limits: { memory: '1' } } })] }],
])('the class %s', (qos, spec) => {
  expect(qosClassOf(spec)).toBe(qos);
});

describe('the defaults of a pod', () => {
  const defaulted = (spec: DecodedPodSpec, status?: DecodedPodStatus) => {
    const pod = anObject('p', { spec, ...(status === undefined ? {} : { status }) }) as DecodedPod;
    applyPodDefaults(pod);
    return pod;
  };
  test('are those of upstream', () => {
    expect(
      defaulted({ containers: [{ name: 'c', image: 'i:1', ports: [{ containerPort: 1 }], livenessProbe: { httpGet: { port: 1 } } }] }).spec,
    ).toMatchObject({
      restartPolicy: 'Always',
      dnsPolicy: 'ClusterFirst',
      schedulerName: 'default-scheduler',
      terminationGracePeriodSeconds: 30,
      enableServiceLinks: true,
      securityContext: {},
      containers: [
        {
          imagePullPolicy: 'IfNotPresent',
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
          resources: {},
          ports: [{ protocol: 'TCP' }],
          livenessProbe: {
            timeoutSeconds: 1,
            periodSeconds: 10,
            successThreshold: 1,
            failureThreshold: 3,
            httpGet: { path: '/', scheme: 'HTTP' },
          },
        },
      ],
    });
  });
  test('request what is limited, of pods but not of templates', () => {
    const spec = () => ({ containers: [{ resources: { limits: { cpu: '1', memory: '2' }, requests: { memory: '1' } } }] });
    expect(defaulted(spec()).spec?.containers?.[0]?.resources?.requests).toEqual({ cpu: '1', memory: '1' });
    const template = spec();
    applyPodSpecDefaults(template);
    expect(template.containers[0]?.resources.requests).toEqual({ memory: '1' });
  });
  test('of the host’s network are ports of the host', () => {
    expect(
      defaulted({ hostNetwork: true, containers: [{ ports: [{ containerPort: 80 }] }] }).spec?.containers?.[0]?.ports?.[0]?.hostPort,
    ).toBe(80);
  });
  test('round up what is finer than a thousandth', () => {
    expect(defaulted({ containers: [{ resources: { limits: { cpu: '1500u' } } }] }).spec?.containers?.[0]?.resources?.limits).toEqual({
      cpu: '2m',
    });
  });
  test('keep both names of the account, and both of the address', () => {
    expect(defaulted({ serviceAccount: 'a' }).spec).toMatchObject({ serviceAccount: 'a', serviceAccountName: 'a' });
    expect(defaulted({}, { podIPs: [{ ip: '10.0.0.1' }] }).status?.podIP).toBe('10.0.0.1');
    expect(defaulted({}, { podIP: '10.0.0.2', podIPs: [{ ip: '10.0.0.1' }] }).status?.podIPs).toEqual([{ ip: '10.0.0.2' }]);
  });
  test('make an empty directory of a volume without source', () => {
    expect(defaulted({ volumes: [{ name: 'v' }, { name: 's', secret: {} }] }).spec?.volumes).toEqual([
      { name: 'v', emptyDir: {} },
      { name: 's', secret: { defaultMode: 0o644 } },
    ]);
  });
});

describe('warnings of a pod', () => {
  test.each<[DecodedPodSpec, string[]]>([
    [{}, []],
    [
      { nodeSelector: { 'beta.kubernetes.io/os': 'linux' } },
      ['spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead'],
    ],
    [{ imagePullSecrets: [{ name: '' }] }, ['spec.imagePullSecrets[0].name: invalid empty name ""']],
    [{ hostAliases: [{ ip: '1.1.1.1' }, { ip: '1.1.1.1' }] }, ['spec.hostAliases[1].ip: duplicate ip "1.1.1.1"']],
    [
      { containers: [aContainer({ resources: { limits: { memory: '1m' } } })] },
      ['spec.containers[0].resources.limits[memory]: fractional byte value "1m" is invalid, must be an integer'],
    ],
    [
      {
        containers: [
          aContainer({
            env: [
              { name: 'A', value: '1' },
              { name: 'A', value: '$(A)2' },
              { name: 'A', value: '3' },
            ],
          }),
        ],
      },
      ['spec.containers[0].env[2]: hides previous definition of "A", which may be dropped when using apply'],
    ],
    [
      {
        containers: [
          aContainer({
            ports: [
              { containerPort: 1, protocol: 'TCP' },
              { containerPort: 1, protocol: 'TCP' },
            ],
          }),
        ],
      },
      ['spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]'],
    ],
    [
      { terminationGracePeriodSeconds: -1 },
      ['spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1'],
    ],
    [
      { topologySpreadConstraints: [{ topologyKey: 'zone' }] },
      ['spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod'],
    ],
  ])('%j', (spec, warnings) => {
    expect(podWarnings(aPod(spec))).toEqual(warnings);
    expect(podTemplateWarnings({ spec: aSpec(spec) }, 't')).toEqual(
      warnings.map((warning) => `t.${warning}`.replaceAll(' with spec.', ' with t.spec.')),
    );
  });
  test('tell of a name that is no label', () => {
    expect(podWarnings(aPod({}, undefined, { name: 'a.b' }))).toEqual([
      `metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]`,
    ]);
  });
});
