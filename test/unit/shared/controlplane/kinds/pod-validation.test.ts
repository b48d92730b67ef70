import { describe, expect, test } from 'vitest';
import type { DecodedPod, DecodedPodSpec, DecodedPodStatus } from '../../../../../shared/controlplane/kinds/decoded.ts';
import {
  validatePodAnnotations,
  validatePodAnnotationUpdates,
} from '../../../../../shared/controlplane/kinds/pod-annotations-validation.ts';
import {
  validateDnsConfig,
  validateHostAliases,
  validateHostnameOverride,
  validateHostPorts,
} from '../../../../../shared/controlplane/kinds/pod-network-validation.ts';
import { validateOs } from '../../../../../shared/controlplane/kinds/pod-os-validation.ts';
import { validatePodResources } from '../../../../../shared/controlplane/kinds/pod-resources-validation.ts';
import {
  validateAffinity,
  validateSchedulingGates,
  validateTaintEffect,
  validateTolerations,
  validateTopologySpread,
} from '../../../../../shared/controlplane/kinds/pod-scheduling-validation.ts';
import { validatePodSpec } from '../../../../../shared/controlplane/kinds/pod-spec-validation.ts';
import { validatePodTemplate } from '../../../../../shared/controlplane/kinds/pod-template-validation.ts';
import { validatePod, validatePodCreate } from '../../../../../shared/controlplane/kinds/pod-validation.ts';
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
