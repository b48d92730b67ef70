import { describe, expect, test } from 'vitest';
import type { DecodedPod, DecodedPodSpec, DecodedPodStatus } from '../../../../../shared/controlplane/kinds/decoded.ts';
import { goPodSpecText } from '../../../../../shared/controlplane/kinds/go-pod-spec.ts';
import {
  validatePodAnnotations,
  validatePodAnnotationUpdates,
} from '../../../../../shared/controlplane/kinds/pod-annotations-validation.ts';
import { bindPod, checkBinding } from '../../../../../shared/controlplane/kinds/pod-binding.ts';
import { withPodCondition } from '../../../../../shared/controlplane/kinds/pod-conditions.ts';
import { applyPodDefaults, applyPodSpecDefaults } from '../../../../../shared/controlplane/kinds/pod-defaults.ts';
import {
  validateDnsConfig,
  validateHostAliases,
  validateHostnameOverride,
  validateHostPorts,
} from '../../../../../shared/controlplane/kinds/pod-network-validation.ts';
import { validateOs } from '../../../../../shared/controlplane/kinds/pod-os-validation.ts';
import { qosClassOf } from '../../../../../shared/controlplane/kinds/pod-qos.ts';
import { validatePodResources } from '../../../../../shared/controlplane/kinds/pod-resources-validation.ts';
import {
  validateAffinity,
  validateSchedulingGates,
  validateTaintEffect,
  validateTolerations,
  validateTopologySpread,
} from '../../../../../shared/controlplane/kinds/pod-scheduling-validation.ts';
import { validatePodSpec } from '../../../../../shared/controlplane/kinds/pod-spec-validation.ts';
import { validatePodStatusUpdate } from '../../../../../shared/controlplane/kinds/pod-status-validation.ts';
import { validatePodTemplate } from '../../../../../shared/controlplane/kinds/pod-template-validation.ts';
import { validatePodUpdate } from '../../../../../shared/controlplane/kinds/pod-update-validation.ts';
import { validatePod, validatePodCreate } from '../../../../../shared/controlplane/kinds/pod-validation.ts';
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

describe('a new pod', () => {
  const created = (...parts: Parameters<typeof aPod>) => told(validatePodCreate(aPod(...parts)));
  test.each<[DecodedPodSpec, string[]]>([
    [{}, []],
    [
      { nodeName: 'n', schedulingGates: [{ name: 'a' }] },
      ['spec.nodeName | Forbidden: cannot be set until all schedulingGates have been cleared'],
    ],
    [{ ephemeralContainers: [aContainer({ name: 'e' })] }, ['spec.ephemeralContainers | Forbidden: cannot be set on create']],
    [
      { containers: [aContainer({ image: ' i' })] },
      ['spec.containers[0].image | Invalid value: " i": must not have leading or trailing whitespace'],
    ],
    [{ restartPolicy: '' }, ['spec.restartPolicy | Required value']],
    [
      { dnsPolicy: 'Mine' },
      ['spec.dnsPolicy | Unsupported value: "Mine": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"'],
    ],
    [{ activeDeadlineSeconds: 0 }, ['spec.activeDeadlineSeconds | Invalid value: 0: must be between 1 and 2147483647, inclusive']],
    [{ hostname: 'A' }, [expect.stringMatching(/^spec\.hostname \| Invalid value: "A": a lowercase RFC 1123 label/) as string]],
    [
      { preemptionPolicy: 'Maybe' },
      ['spec.preemptionPolicy | Unsupported value: "Maybe": supported values: "PreemptLowerPriority", "Never"'],
    ],
    [{ overhead: { cpu: '-1' } }, ['spec.overhead.limits[cpu] | Invalid value: "-1": must be greater than or equal to 0']],
    [
      { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 600 } }] } }] },
      ['spec.volumes[0].projected.sources[0].serviceAccountToken | Forbidden: must not be specified when serviceAccountName is not set'],
    ],
  ])('%j', (spec, findings) => {
    expect(created(spec)).toEqual(findings);
  });

  test('may be a template without its images being looked at so closely, but never with ephemeral containers', () => {
    const template = (spec: DecodedPodSpec, metadata = {}) => told(validatePodTemplate({ metadata, spec: aSpec(spec) }, 't'));
    expect(template({ containers: [aContainer({ image: ' i' })] })).toEqual([]);
    expect(template({ ephemeralContainers: [aContainer({ name: 'e' })] })).toEqual([
      't.spec.ephemeralContainers | Forbidden: ephemeral containers not allowed in pod template',
    ]);
    expect(template({}, { labels: { 'a b': '' } })).toEqual([expect.stringMatching(/^t\.labels \| Invalid value: "a b"/)]);
  });

  test('says how long its end may take', () => {
    const { terminationGracePeriodSeconds: _grace, ...spec } = aSpec();
    expect(told(validatePodSpec(spec, 's', { isPod: true, podName: 'p', isMirror: false }))).toEqual([
      's.terminationGracePeriodSeconds | Required value',
    ]);
  });

  test('has a name that a pod may have', () => {
    expect(told(validatePod(aPod({}, undefined, { name: 'A' })))).toEqual([expect.stringMatching(/^metadata\.name \| Invalid value: "A"/)]);
  });
});

describe('where a pod may run', () => {
  test.each<[Parameters<typeof validateTolerations>[0][number], string[]]>([
    [{ operator: 'Exists' }, []],
    [{ key: 'a', value: 'b', effect: 'NoExecute', tolerationSeconds: 5 }, []],
    [{}, ['t[0].operator | Invalid value: "": operator must be Exists when `key` is empty, which means "match all values and all keys"']],
    [
      { key: 'a', operator: 'Exists', value: 'b' },
      [`t[0].operator | Invalid value: "b": value must be empty when \`operator\` is 'Exists'`],
    ],
    [{ key: 'a', tolerationSeconds: 5 }, [`t[0].effect | Invalid value: "": effect must be 'NoExecute' when \`tolerationSeconds\` is set`]],
    [{ key: 'a', operator: 'Near' }, ['t[0].operator | Unsupported value: "Near": supported values: "Equal", "Exists"']],
  ])('tolerates: %j', (toleration, findings) => {
    expect(told(validateTolerations([toleration], 't'))).toEqual(findings);
  });
  test('an effect is one of three', () => {
    expect([validateTaintEffect('NoSchedule', 'e'), told(validateTaintEffect('Never', 'e')).length]).toEqual([[], 1]);
  });
  test('gates have names, each its own', () => {
    expect(told(validateSchedulingGates([{ name: 'example.com/a' }, { name: 'example.com/a' }], 'g'))).toEqual([
      'g[1] | Duplicate value: "example.com/a"',
    ]);
    expect(told(validateSchedulingGates([{}], 'g')).length).toBeGreaterThan(0);
  });

  const nodes = (matchExpressions: { key?: string; operator?: string; values?: string[] }[]) =>
    told(
      validateAffinity(
        { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } } },
        'a',
      ),
    );
  const N = 'a.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms';
  test.each<[{ key?: string; operator?: string; values?: string[] }, string[]]>([
    [{ key: 'a', operator: 'In', values: ['b'] }, []],
    [{ key: 'a', operator: 'Gt', values: ['1'] }, []],
    [
      { key: 'a', operator: 'Gt', values: ['1', '2'] },
      [`${N}[0].matchExpressions[0].values | Required value: must be specified single value when \`operator\` is 'Lt' or 'Gt'`],
    ],
    [
      { key: 'a', operator: 'In' },
      [`${N}[0].matchExpressions[0].values | Required value: must be specified when \`operator\` is 'In' or 'NotIn'`],
    ],
    [{ key: 'a', operator: 'Near' }, [`${N}[0].matchExpressions[0].operator | Invalid value: "Near": not a valid selector operator`]],
  ])('chooses nodes: %j', (expression, findings) => {
    expect(nodes([expression])).toEqual(findings);
  });
  test('chooses nodes by some term, and of their fields by the name alone', () => {
    expect(told(validateAffinity({ nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: {} } }, 'a'))).toEqual([
      `${N} | Required value: must have at least one node selector term`,
    ]);
    const field = (key: string, values: string[]) =>
      told(
        validateAffinity(
          {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields: [{ key, operator: 'In', values }] }] },
            },
          },
          'a',
        ),
      );
    expect(field('metadata.name', ['n'])).toEqual([]);
    expect(field('metadata.name', ['n', 'm'])).toHaveLength(1);
    expect(field('spec.x', ['n'])).toEqual([`${N}[0].matchFields[0].key | Invalid value: "spec.x": not a valid field selector key`]);
    expect(validateAffinity(undefined, 'a')).toEqual([]);
  });
  test('chooses neighbours by a topology, wishes by a weight', () => {
    const term = (podAffinityTerm: object, weight = 1) =>
      told(validateAffinity({ podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight, podAffinityTerm }] } }, 'a'));
    const at = 'a.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]';
    expect(term({ topologyKey: 'zone', labelSelector: {} })).toEqual([]);
    expect(term({ topologyKey: 'zone' }, 101)).toEqual([`${at}.weight | Invalid value: 101: must be in the range 1-100`]);
    expect(term({})[0]).toBe(`${at}.podAffinityTerm.topologyKey | Required value: can not be empty`);
    expect(term({ topologyKey: 'zone', matchLabelKeys: ['a'] })).toEqual([
      `${at}.podAffinityTerm.matchLabelKeys | Forbidden: must not be specified when labelSelector is not set`,
    ]);
  });
  test.each<[Parameters<typeof validateTopologySpread>[0][number], string[]]>([
    [{ maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule', minDomains: 1 }, []],
    [{ topologyKey: 'z', whenUnsatisfiable: 'ScheduleAnyway' }, ['s[0].maxSkew | Invalid value: 0: must be greater than zero']],
    [{ maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway' }, ['s[0].topologyKey | Required value: can not be empty']],
    [
      { maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'ScheduleAnyway', minDomains: 1 },
      ['s[0].minDomains | Invalid value: 1: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway'],
    ],
    [
      { maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule', nodeTaintsPolicy: 'Mind' },
      ['s[0].nodeTaintsPolicy | Unsupported value: "Mind": supported values: "Honor", "Ignore"'],
    ],
  ])('is spread: %j', (constraint, findings) => {
    expect(told(validateTopologySpread([constraint], 's'))).toEqual(findings);
  });
  test('is not spread twice over the same', () => {
    const constraint = { maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule' };
    expect(told(validateTopologySpread([constraint, constraint], 's'))).toEqual([
      's[0].{topologyKey, whenUnsatisfiable} | Duplicate value: "{z, DoNotSchedule}"',
    ]);
  });
});

describe('the network of a pod', () => {
  test.each<[DecodedPodSpec, string[]]>([
    [{}, []],
    [{ dnsPolicy: 'None', dnsConfig: { nameservers: ['10.0.0.1'], searches: ['_a.example.com.', '.'] } }, []],
    [{ dnsPolicy: 'None' }, ['d | Required value: must provide `dnsConfig` when `dnsPolicy` is None']],
    [
      { dnsPolicy: 'None', dnsConfig: {} },
      ['d.nameservers | Required value: must provide at least one DNS nameserver when `dnsPolicy` is None'],
    ],
    [
      { dnsConfig: { nameservers: ['a'] } },
      ['d.nameservers[0] | Invalid value: "a": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
    ],
    [{ dnsConfig: { options: [{}] } }, ['d.options[0] | Required value: must not be empty']],
  ])('has names: %j', (spec, findings) => {
    expect(told(validateDnsConfig(spec, 'd'))).toEqual(findings);
  });
  test('has at most three servers and 32 places to search', () => {
    expect(told(validateDnsConfig({ dnsConfig: { nameservers: Array.from({ length: 4 }, () => '10.0.0.1') } }, 'd'))).toHaveLength(1);
    expect(told(validateDnsConfig({ dnsConfig: { searches: Array.from({ length: 33 }, () => 'a') } }, 'd'))).toEqual([
      expect.stringMatching(/must not have more than 32 search paths$/),
    ]);
  });
  test('of the host has the ports of the host', () => {
    const ports = (port: object, isPod: boolean) =>
      told(validateHostPorts({ hostNetwork: true, containers: [aContainer({ ports: [port] })] }, 's', isPod));
    expect(ports({ containerPort: 1, hostPort: 1 }, true)).toEqual([]);
    expect(ports({ containerPort: 1 }, false)).toEqual([]);
    expect(ports({ containerPort: 1 }, true)).toEqual([
      's.containers[0].ports[0].hostPort | Invalid value: 0: must match `containerPort` when `hostNetwork` is true',
    ]);
    expect(validateHostPorts({ containers: [aContainer({ ports: [{ containerPort: 1, hostPort: 2 }] })] }, 's', true)).toEqual([]);
  });
  test('knows hosts by addresses and names', () => {
    expect(told(validateHostAliases([{ ip: '10.0.0.1', hostnames: ['a.b'] }], 'h'))).toEqual([]);
    expect(told(validateHostAliases([{ ip: 'x', hostnames: ['A'] }], 'h'))).toHaveLength(2);
  });
  test('may have another name, where it has a network of its own', () => {
    expect(told(validateHostnameOverride({ hostnameOverride: 'a.b' }, 'h'))).toEqual([]);
    expect(told(validateHostnameOverride({ hostnameOverride: 'a', hostNetwork: true }, 'h'))).toEqual([
      'h | Forbidden: may not be specified when hostNetwork is true',
    ]);
    expect(told(validateHostnameOverride({ hostnameOverride: 'a'.repeat(65) }, 'h'))).toContain(
      'h | Too long: may not be more than 64 bytes',
    );
    expect(validateHostnameOverride({}, 'h')).toEqual([]);
  });
});

describe('the system of a pod', () => {
  const os = (spec: DecodedPodSpec) => told(validateOs(spec, 's', [{ container: spec.containers?.[0] ?? {}, path: 'c' }]));
  test.each<[DecodedPodSpec, string[]]>([
    [{}, []],
    [{ os: { name: 'linux' }, securityContext: { runAsUser: 1 } }, []],
    [{ os: {} }, ['s.os.name | Required value']],
    [{ os: { name: 'plan9' } }, ['s.os | Unsupported value: "plan9": supported values: "linux", "windows"']],
    [
      { os: { name: 'linux' }, securityContext: { windowsOptions: {} } },
      ['s.securityContext.windowsOptions | Forbidden: windows options cannot be set for a linux pod'],
    ],
    [{ os: { name: 'windows' }, hostPID: false, securityContext: { supplementalGroups: [] } }, []],
    [
      { os: { name: 'windows' }, hostPID: true, securityContext: { runAsUser: 1 } },
      [
        's.hostPID | Forbidden: cannot be set for a windows pod',
        's.securityContext.runAsUser | Forbidden: cannot be set for a windows pod',
      ],
    ],
    [
      { os: { name: 'windows' }, containers: [{ securityContext: { privileged: false } }] },
      ['c.securityContext.privileged | Forbidden: cannot be set for a windows pod'],
    ],
  ])('%j', (spec, findings) => {
    expect(os(spec)).toEqual(findings);
  });
});

describe('what a pod asks for all its containers together', () => {
  const judged = (spec: DecodedPodSpec) => told(validatePodResources(spec, 'r', new Set()));
  const asking = (requests: Record<string, string>, limits: Record<string, string> = {}) => aContainer({ resources: { requests, limits } });
  test.each<[DecodedPodSpec, string[]]>([
    [{}, []],
    [{ resources: { requests: { cpu: '2' } }, containers: [asking({ cpu: '1' }), asking({ cpu: '1' })] }, []],
    [
      { resources: { requests: { cpu: '1' } }, containers: [asking({ cpu: '1' }), asking({ cpu: '1' })] },
      ['r.requests[cpu] | Invalid value: "1": must be greater than or equal to aggregate container requests of 2'],
    ],
    [
      { resources: { requests: { cpu: '1' } }, initContainers: [asking({ cpu: '3' })] },
      ['r.requests[cpu] | Invalid value: "1": must be greater than or equal to aggregate container requests of 3'],
    ],
    [
      { resources: { limits: { cpu: '1' } }, containers: [asking({}, { cpu: '2' })] },
      ['r.containers[0][cpu].limits | Invalid value: "2": must be less than or equal to pod limits of 1'],
    ],
    [{ resources: { claims: [] } }, ['r.claims | Forbidden: claims may not be set for Resources at pod-level']],
    [
      { resources: { requests: { 'ephemeral-storage': '1' } } },
      ['r.requests[ephemeral-storage] | Unsupported value: "ephemeral-storage": supported values: "cpu", "memory"'],
    ],
    [{ resources: {}, os: { name: 'windows' } }, ['r | Forbidden: may not be set for a windows pod']],
  ])('%j', (spec, findings) => {
    expect(judged(spec)).toEqual(findings);
  });
});

describe('annotations that mean something', () => {
  const MIRROR = 'kubernetes.io/config.mirror';
  const COST = 'controller.kubernetes.io/pod-deletion-cost';
  const APPARMOR = 'container.apparmor.security.beta.kubernetes.io/c';
  const judged = (annotations: Record<string, string>, spec: DecodedPodSpec = aSpec()) =>
    told(validatePodAnnotations(annotations, spec, 'a'));
  test.each<[Record<string, string>, boolean]>([
    [{ [COST]: '-2147483648' }, true],
    [{ [COST]: '2147483648' }, false],
    [{ [COST]: '+1' }, false],
    [{ [COST]: '01' }, false],
    [{ 'seccomp.security.alpha.kubernetes.io/pod': 'runtime/default' }, true],
    [{ 'seccomp.security.alpha.kubernetes.io/pod': 'localhost/../x' }, false],
    [{ [APPARMOR]: 'localhost/x' }, true],
    [{ [APPARMOR]: 'x' }, false],
    [{ 'container.apparmor.security.beta.kubernetes.io/gone': 'unconfined' }, false],
    [{ anything: 'else' }, true],
  ])('%j: %s', (annotations, right) => {
    expect(judged(annotations).length === 0).toBe(right);
  });
  test('mirror a pod only on a node', () => {
    expect(judged({ [MIRROR]: 'x' })).toEqual([
      `a[${MIRROR}] | Invalid value: "x": must set spec.nodeName if mirror pod annotation is set`,
    ]);
    expect(judged({ [MIRROR]: 'x' }, aSpec({ nodeName: 'n' }))).toEqual([]);
  });
  test('stay as they are', () => {
    const pod = (annotations: Record<string, string>) => aPod({ nodeName: 'n' }, undefined, { annotations });
    const updated = (next: Record<string, string>, previous: Record<string, string>) =>
      told(validatePodAnnotationUpdates(pod(next), pod(previous)));
    expect(updated({ [MIRROR]: 'x', a: '1' }, { [MIRROR]: 'x' })).toEqual([]);
    expect(updated({}, { [MIRROR]: 'x' })).toEqual([
      `metadata.annotations[${MIRROR}] | Forbidden: may not remove or update mirror pod annotation`,
    ]);
    expect(updated({ [MIRROR]: 'x' }, {})).toEqual([`metadata.annotations[${MIRROR}] | Forbidden: may not add mirror pod annotation`]);
    expect(updated({ [APPARMOR]: 'unconfined' }, {})).toEqual([
      `metadata.annotations[${APPARMOR}] | Forbidden: may not add AppArmor annotations`,
    ]);
  });
});

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
