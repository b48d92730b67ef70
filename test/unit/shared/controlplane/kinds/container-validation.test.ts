import { describe, expect, test } from 'vitest';
import {
  validateContainerResources,
  validateOverhead,
  validateResourceQuantity,
} from '../../../../../shared/controlplane/kinds/container-resources-validation.ts';
import {
  validateContainers,
  validateEphemeralContainers,
  validateImagesOfPod,
  validateInitContainers,
} from '../../../../../shared/controlplane/kinds/container-validation.ts';
import type { DecodedContainer, DecodedPodSpec } from '../../../../../shared/controlplane/kinds/decoded.ts';
import { validateFieldRef, validateResourceRef } from '../../../../../shared/controlplane/kinds/downward-validation.ts';
import { validateEnv, validateEnvFiles, validateEnvFrom } from '../../../../../shared/controlplane/kinds/env-validation.ts';
import { validateLifecycle, validateProbes } from '../../../../../shared/controlplane/kinds/probe-validation.ts';
import {
  claimNamesOf,
  validateClaimsOfContainer,
  validateResourceClaims,
} from '../../../../../shared/controlplane/kinds/resource-claim-validation.ts';
import { aContainer, told } from './findings.ts';

const context = (spec: DecodedPodSpec = {}) => ({ spec, volumes: new Map(), claimNames: new Set<string>() });
const containers = (...list: DecodedContainer[]) => told(validateContainers(list, 'c', context()));

describe('containers', () => {
  test('are there, and each has a name of its own and an image', () => {
    expect(containers(aContainer())).toEqual([]);
    expect(containers()).toEqual(['c | Required value']);
    expect(containers(aContainer(), aContainer())).toEqual(['c[1].name | Duplicate value: "c"']);
    expect(containers({})).toEqual([
      'c[0].name | Required value',
      'c[0].image | Required value',
      'c[0].terminationMessagePolicy | Required value',
      'c[0].imagePullPolicy | Required value',
    ]);
  });

  test.each<[DecodedContainer, string[]]>([
    [{ imagePullPolicy: 'Never' }, []],
    [
      { imagePullPolicy: 'Often' },
      ['c[0].imagePullPolicy | Unsupported value: "Often": supported values: "Always", "IfNotPresent", "Never"'],
    ],
    [
      {
        ports: [
          { containerPort: 80, protocol: 'TCP' },
          { containerPort: 65535, protocol: 'UDP', name: 'a-1' },
        ],
      },
      [],
    ],
    [{ ports: [{ protocol: 'TCP' }] }, ['c[0].ports[0].containerPort | Required value']],
    [
      { ports: [{ containerPort: 65536, protocol: 'TCP' }] },
      ['c[0].ports[0].containerPort | Invalid value: 65536: must be between 1 and 65535, inclusive'],
    ],
    [
      { ports: [{ containerPort: 1, protocol: 'ICMP' }] },
      ['c[0].ports[0].protocol | Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"'],
    ],
    [
      {
        ports: [
          { containerPort: 1, protocol: 'TCP', name: 'a' },
          { containerPort: 2, protocol: 'TCP', name: 'a' },
        ],
      },
      ['c[0].ports[1].name | Duplicate value: "a"'],
    ],
    [
      {
        ports: [
          { containerPort: 1, hostPort: 9, protocol: 'TCP' },
          { containerPort: 2, hostPort: 9, protocol: 'TCP' },
          { containerPort: 2, hostPort: 9, protocol: 'UDP' },
        ],
      },
      ['c[0].ports[1].hostPort | Duplicate value: "TCP//9"'],
    ],
  ])('with %j', (parts, findings) => {
    expect(containers(aContainer(parts))).toEqual(findings);
  });

  test('that run one after another may have one port of the host', () => {
    const port = { ports: [{ containerPort: 1, hostPort: 9, protocol: 'TCP' }] };
    const spec = {
      containers: [aContainer({ name: 'main' })],
      initContainers: [aContainer({ name: 'a', ...port }), aContainer({ name: 'b', ...port })],
    };
    expect(told(validateInitContainers(spec, 'i', context(spec)))).toEqual([]);
    expect(containers(aContainer({ name: 'a', ...port }), aContainer({ name: 'b', ...port }))).toEqual([
      'c[1].ports[0].hostPort | Duplicate value: "TCP//9"',
    ]);
  });

  test('that come before others have no probes and no hooks, unless they stay', () => {
    const probing = {
      livenessProbe: { exec: { command: ['true'] }, successThreshold: 1 },
      lifecycle: { preStop: { exec: { command: ['true'] } } },
    };
    const init = (container: DecodedContainer) => {
      const spec = { containers: [aContainer({ name: 'main' })], initContainers: [aContainer(container)] };
      return told(validateInitContainers(spec, 'i', context(spec)));
    };
    expect(init({ ...probing, restartPolicy: 'Always' })).toEqual([]);
    expect(init(probing)).toEqual([
      'i[0].lifecycle | Forbidden: may not be set for init containers without restartPolicy=Always',
      'i[0].livenessProbe | Forbidden: may not be set for init containers without restartPolicy=Always',
    ]);
    expect(init({ name: 'main' })).toEqual(['i[0].name | Duplicate value: "main"']);
  });

  test('that come later have nothing that others may come to depend on', () => {
    const ephemeral = (container: DecodedContainer & { targetContainerName?: string }) => {
      const spec = { containers: [aContainer({ name: 'main' })], ephemeralContainers: [aContainer(container)] };
      return told(validateEphemeralContainers(spec, 'e', context(spec)));
    };
    expect(ephemeral({ targetContainerName: 'main', resources: {} })).toEqual([]);
    expect(ephemeral({ targetContainerName: 'gone' })).toEqual(['e[0].targetContainerName | Not found: "gone"']);
    expect(ephemeral({ ports: [{ containerPort: 1, protocol: 'TCP' }] })).toEqual([
      'e[0].ports | Forbidden: cannot be set for an Ephemeral Container',
    ]);
    expect(ephemeral({ name: 'main' })).toEqual(['e[0].name | Duplicate value: "main"']);
  });

  test('of pods have images without blanks around them', () => {
    expect(told(validateImagesOfPod([{ image: 'a' }, { image: ' a' }, {}], 'c'))).toEqual([
      'c[1].image | Invalid value: " a": must not have leading or trailing whitespace',
    ]);
  });
});

describe('what a container asks for', () => {
  const resources = (given: Parameters<typeof validateContainerResources>[0]) =>
    told(validateContainerResources(given, 'r', new Set(['claim'])));
  test.each<[Parameters<typeof validateContainerResources>[0], string[]]>([
    [{}, []],
    [{ requests: { cpu: '1' }, limits: { cpu: '2', 'example.com/gpu': '1' }, claims: [{ name: 'claim' }] }, []],
    [{ requests: { cpu: '2' }, limits: { cpu: '1' } }, ['r.requests | Invalid value: "2": must be less than or equal to cpu limit of 1']],
    [{ requests: { 'example.com/gpu': '1' } }, ['r.limits | Required value: Limit must be set for non overcommitable resources']],
    [
      { requests: { 'example.com/gpu': '1' }, limits: { 'example.com/gpu': '2' } },
      ['r.requests | Invalid value: "1": must be equal to example.com/gpu limit of 2'],
    ],
    [{ limits: { 'example.com/gpu': '500m' } }, ['r.limits[example.com/gpu] | Invalid value: "500m": must be an integer']],
    [{ limits: { cpu: '-1' } }, ['r.limits[cpu] | Invalid value: "-1": must be greater than or equal to 0']],
    [{ limits: { 'hugepages-2Mi': '4Mi' } }, ['r | Forbidden: HugePages require cpu or memory']],
    [
      { limits: { 'hugepages-2Mi': '3Mi', cpu: '1' } },
      ['r.limits[hugepages-2Mi] | Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi'],
    ],
    [{ claims: [{ name: 'other' }] }, ['r.claims[0] | Not found: "other": must be one of the names in pod.spec.resourceClaims: claim']],
  ])('is judged: %j', (given, findings) => {
    expect(resources(given)).toEqual(findings);
  });

  test('under a name that every object inherits is no standard resource', () => {
    const constructed = JSON.parse('{"constructor": "1"}') as Record<string, string>;
    expect(resources({ requests: constructed })).toEqual([
      'r.requests[constructor] | Invalid value: "constructor": must be a standard resource type or fully qualified',
      'r.requests[constructor] | Invalid value: "constructor": must be a standard resource for containers',
    ]);
  });

  test('is an amount: whole where things are counted', () => {
    expect(told(validateResourceQuantity('pods', '1.5', 'q'))).toEqual(['q | Invalid value: "1500m": must be an integer']);
    expect(told(validateResourceQuantity('cpu', '1.5', 'q'))).toEqual([]);
    expect(told(validateOverhead({ cpu: '-1' }, 'o'))).toEqual(['o.limits[cpu] | Invalid value: "-1": must be greater than or equal to 0']);
    expect(validateOverhead(undefined, 'o')).toEqual([]);
  });
});

describe('claims of resources', () => {
  test('are those that are named', () => {
    expect([...claimNamesOf({ resourceClaims: [{ name: 'a' }, { name: '' }, {}] })]).toEqual(['a']);
  });
  test.each<[Parameters<typeof validateResourceClaims>[0], string[]]>([
    [
      [
        { name: 'a', resourceClaimName: 'x' },
        { name: 'b', resourceClaimTemplateName: 'y' },
      ],
      [],
    ],
    [[{ resourceClaimName: 'x' }], ['c[0].name | Required value']],
    [
      [
        { name: 'a', resourceClaimName: 'x' },
        { name: 'a', resourceClaimName: 'x' },
      ],
      ['c[1].name | Duplicate value: "a"'],
    ],
    [
      [{ name: 'a' }],
      [
        'c[0] | Invalid value: {"Name":"a","ResourceClaimName":null,"ResourceClaimTemplateName":null}: must specify one of: `resourceClaimName`, `resourceClaimTemplateName`',
      ],
    ],
  ])('of a pod are judged: %j', (claims, findings) => {
    expect(told(validateResourceClaims(claims, 'c', false))).toEqual(findings);
  });
  test('are nothing for pods that a node runs by itself', () => {
    expect(told(validateResourceClaims([{ name: 'a' }], 'c', true))).toEqual([
      '[] | Forbidden: static pods do not support resource claims',
    ]);
  });
  test.each<[Parameters<typeof validateClaimsOfContainer>[0], string[]]>([
    [[{ name: 'a' }], []],
    [
      [
        { name: 'a', request: 'x' },
        { name: 'a', request: 'y' },
      ],
      [],
    ],
    [[{ name: 'a' }, { name: 'a' }], ['c[1] | Duplicate value: "a"']],
    [
      [
        { name: 'a', request: 'x' },
        { name: 'a', request: 'x' },
      ],
      ['c[1] | Duplicate value: "a/x"'],
    ],
    [[{ name: 'a', request: 'x' }, { name: 'a' }], ['c[1] | Duplicate value: "a"']],
    [[{}], ['c[0] | Required value']],
  ])('that a container takes are judged: %j', (claims, findings) => {
    expect(told(validateClaimsOfContainer(claims, 'c', new Set(['a'])))).toEqual(findings);
  });
  test('cannot be taken where there are none', () => {
    expect(told(validateClaimsOfContainer([{ name: 'a' }], 'c', new Set()))).toEqual([
      'c[0] | Not found: "a": must be one of the names in pod.spec.resourceClaims which is empty',
    ]);
  });
});

describe('variables', () => {
  const env = (...variables: Parameters<typeof validateEnv>[0]) => told(validateEnv(variables, 'e'));
  test('have names that may be almost anything, and a value from one place', () => {
    expect(
      env({ name: 'A-b.c d' }, { name: 'B', value: 'x' }, { name: 'C', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }),
    ).toEqual([]);
  });
  test.each<[Parameters<typeof validateEnv>[0][number], string]>([
    [{}, 'e[0].name | Required value'],
    [
      { name: 'A=' },
      `e[0].name | Invalid value: "A=": a valid environment variable name must consist only of printable ASCII characters other than '='`,
    ],
    [
      { name: 'A', valueFrom: {} },
      'e[0].valueFrom | Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
    ],
    [
      { name: 'A', value: 'x', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
      'e[0].valueFrom | Invalid value: "": may not be specified when `value` is not empty',
    ],
    [
      { name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' }, configMapKeyRef: { name: 's', key: 'k' } } },
      'e[0].valueFrom | Invalid value: "": may not have more than one field specified at a time',
    ],
    [{ name: 'A', valueFrom: { secretKeyRef: { name: 's' } } }, 'e[0].valueFrom.secretKeyRef.key | Required value'],
    [
      { name: 'A', valueFrom: { fileKeyRef: { key: 'k', volumeName: 'v', path: 'a/../b' } } },
      `e[0].valueFrom.fileKeyRef.path | Invalid value: "a/../b": must not contain '..'`,
    ],
  ])('%j', (variable, finding) => {
    expect(env(variable)).toEqual([finding]);
  });
  test('may come together, from a ConfigMap or a Secret', () => {
    const from = (...sources: Parameters<typeof validateEnvFrom>[0]) => told(validateEnvFrom(sources, 'f'));
    expect(from({ prefix: 'A_', configMapRef: { name: 'c' } }, { secretRef: { name: 's' } })).toEqual([]);
    expect(from({})).toEqual(['f | Invalid value: "": must specify one of: `configMapRef` or `secretRef`']);
    expect(from({ configMapRef: {} })).toEqual(['f[0].configMapRef.name | Required value']);
    expect(from({ configMapRef: { name: 'c' }, secretRef: { name: 's' } })).toEqual([
      'f | Invalid value: "": may not have more than one field specified at a time',
    ]);
  });
  test('come from files only in directories of the pod', () => {
    const placed = [
      { container: aContainer({ env: [{ name: 'A', valueFrom: { fileKeyRef: { key: 'k', volumeName: 'v', path: 'p' } } }] }), path: 'c' },
    ];
    const files = (volumes: DecodedPodSpec['volumes']) => told(validateEnvFiles({ volumes }, placed));
    expect(files([{ name: 'v', emptyDir: {} }])).toEqual([]);
    expect(files([])).toEqual(['c.env[0].valueFrom.fileKeyRef.volumeName | Not found: "v"']);
    expect(files([{ name: 'v', hostPath: { path: '/' } }])).toEqual([
      'c.env[0].valueFrom.fileKeyRef.volumeName | Invalid value: "v": referenced volume must be of type emptyDir',
    ]);
  });
});

describe('what a container is told of its pod', () => {
  const fieldRef = (fieldPath: string, apiVersion = 'v1') =>
    told(validateFieldRef({ apiVersion, fieldPath }, 'f', ['metadata.name', 'spec.nodeName']));
  test.each<[string, string[]]>([
    ['metadata.name', []],
    ['spec.host', []],
    [`metadata.labels['example.com/a']`, []],
    [`metadata.annotations['Example.COM/a']`, []],
    ['', ['f.fieldPath | Required value']],
    ['status.phase', ['f.fieldPath | Unsupported value: "status.phase": supported values: "metadata.name", "spec.nodeName"']],
    ['spec.nothing', ['f.fieldPath | Invalid value: "spec.nothing": error converting fieldPath: field label not supported: spec.nothing']],
    ['constructor', ['f.fieldPath | Invalid value: "constructor": error converting fieldPath: field label not supported: constructor']],
    [
      `spec.x['y']`,
      [`f.fieldPath | Invalid value: "spec.x['y']": error converting fieldPath: field label does not support subscript: spec.x['y']`],
    ],
  ])('%j', (path, findings) => {
    expect(fieldRef(path)).toEqual(findings);
  });
  test('is of version v1', () => {
    expect(fieldRef('metadata.name', '')).toEqual(['f.apiVersion | Required value']);
    expect(fieldRef('metadata.name', 'v2')).toEqual([
      'f.fieldPath | Invalid value: "metadata.name": error converting fieldPath: unsupported pod version: v2',
    ]);
  });
  const resourceRef = (ref: Parameters<typeof validateResourceRef>[0], namesContainer = false) =>
    told(validateResourceRef(ref, 'r', { namesContainer }));
  test.each<[Parameters<typeof validateResourceRef>[0], string[]]>([
    [{ resource: 'limits.cpu' }, []],
    [{ resource: 'requests.memory', divisor: '1Mi' }, []],
    [{ resource: 'limits.hugepages-2Mi', divisor: '1Mi' }, []],
    [{}, ['r.resource | Required value']],
    [
      { resource: 'limits.cpu', divisor: '2' },
      [`r.divisor | Invalid value: "limits.cpu": only divisor's values 1m and 1 are supported with the cpu resource`],
    ],
    [{ resource: 'limits.memory', divisor: '3' }, [expect.stringContaining('are supported with the memory resource') as string]],
    [
      { resource: 'limits.gpu' },
      [expect.stringMatching(/^r\.resource \| Unsupported value: "limits\.gpu": supported values: "limits\.cpu"/) as string],
    ],
  ])('amounts: %j', (ref, findings) => {
    expect(resourceRef(ref)).toEqual(findings);
  });
  test('in a file says of which container', () => {
    expect(resourceRef({ resource: 'limits.cpu' }, true)).toEqual(['r.containerName | Required value']);
    expect(resourceRef({ resource: 'limits.cpu', containerName: 'c' }, true)).toEqual([]);
  });
});

describe('probes and hooks', () => {
  const probes = (parts: DecodedContainer) => told(validateProbes(parts, 'c'));
  const liveness = (probe: NonNullable<DecodedContainer['livenessProbe']>) => probes({ livenessProbe: { successThreshold: 1, ...probe } });
  test.each<[NonNullable<DecodedContainer['livenessProbe']>, string[]]>([
    [{ httpGet: { path: '/', port: 80, scheme: 'HTTP' } }, []],
    [{ tcpSocket: { port: 'http' } }, []],
    [{ grpc: { port: 1 } }, []],
    [{}, ['c.livenessProbe | Required value: must specify a handler type']],
    [{ exec: {} }, ['c.livenessProbe.exec.command | Required value']],
    [{ exec: { command: ['a'] }, tcpSocket: {} }, ['c.livenessProbe.tcpSocket | Forbidden: may not specify more than 1 handler type']],
    [{ tcpSocket: {} }, ['c.livenessProbe.tcpSocket.port | Invalid value: 0: must be between 1 and 65535, inclusive']],
    [
      { httpGet: { path: '/', port: 1, scheme: 'FTP' } },
      ['c.livenessProbe.httpGet.scheme | Unsupported value: "FTP": supported values: "HTTP", "HTTPS"'],
    ],
    [
      { exec: { command: ['a'] }, periodSeconds: -1 },
      ['c.livenessProbe.periodSeconds | Invalid value: -1: must be greater than or equal to 0'],
    ],
    [{ exec: { command: ['a'] }, successThreshold: 2 }, ['c.livenessProbe.successThreshold | Invalid value: 2: must be 1']],
    [
      { exec: { command: ['a'] }, terminationGracePeriodSeconds: 0 },
      ['c.livenessProbe.terminationGracePeriodSeconds | Invalid value: 0: must be greater than 0'],
    ],
  ])('%j', (probe, findings) => {
    expect(liveness(probe)).toEqual(findings);
  });
  test('of readiness may want several successes, and end nothing', () => {
    const readinessProbe = { exec: { command: ['a'] }, successThreshold: 3 };
    expect(probes({ readinessProbe })).toEqual([]);
    expect(probes({ readinessProbe: { ...readinessProbe, terminationGracePeriodSeconds: 5 } })).toEqual([
      'c.readinessProbe.terminationGracePeriodSeconds | Invalid value: 5: must not be set for readinessProbes',
    ]);
  });
  const lifecycle = (given: DecodedContainer['lifecycle'], spec: DecodedPodSpec = { terminationGracePeriodSeconds: 30 }) =>
    told(validateLifecycle(given, 'l', spec));
  test('of the end sleep no longer than it may take', () => {
    expect(lifecycle({ preStop: { sleep: { seconds: 30 } } })).toEqual([]);
    expect(lifecycle({ preStop: { sleep: { seconds: 31 } } })).toEqual([
      'l.preStop.sleep | Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)',
    ]);
    expect(lifecycle(undefined)).toEqual([]);
  });
  test('name signals of the system that sends them', () => {
    const signal = (stopSignal: string, os?: string) =>
      lifecycle({ stopSignal }, os === undefined ? {} : { os: { name: os } }).length === 0;
    expect([
      signal('SIGUSR1', 'linux'),
      signal('SIGRTMIN+15', 'linux'),
      signal('SIGUSR1', 'windows'),
      signal('SIGTERM', 'windows'),
      signal('SIGTERM'),
    ]).toEqual([true, true, false, true, false]);
  });
});
