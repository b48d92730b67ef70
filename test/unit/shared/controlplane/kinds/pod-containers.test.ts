import { describe, expect, test } from 'vitest';
import { container, findingsOf } from './pod-findings.ts';

describe('the environment of a container', () => {
  test.each<[string, object, string[]]>([
    [
      'has names',
      { env: [{ name: '' }, { name: 'a=b' }] },
      [
        'spec.containers[0].env[0].name | Required value',
        'spec.containers[0].env[1].name | Invalid value: "a=b": a valid environment variable name must consist only of printable ASCII characters other than \'=\'',
      ],
    ],
    [
      'has a value or a source',
      {
        env: [
          { name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
          { name: 'B', valueFrom: {} },
        ],
      },
      [
        'spec.containers[0].env[0].valueFrom | Invalid value: "": may not be specified when `value` is not empty',
        'spec.containers[0].env[1].valueFrom | Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
      ],
    ],
    [
      'has one source for each',
      { env: [{ name: 'J', valueFrom: { secretKeyRef: { name: 'a', key: 'b' }, configMapKeyRef: { name: 'a', key: 'b' } } }] },
      ['spec.containers[0].env[0].valueFrom | Invalid value: "": may not have more than one field specified at a time'],
    ],
    [
      'has fields of the pod that it may know',
      {
        env: [
          { name: 'C', valueFrom: { fieldRef: { fieldPath: 'spec.foo' } } },
          { name: 'D', valueFrom: { fieldRef: {} } },
          { name: 'E', valueFrom: { fieldRef: { fieldPath: "metadata.labels['A B']" } } },
          { name: 'I', valueFrom: { fieldRef: { apiVersion: 'v2', fieldPath: 'metadata.name' } } },
        ],
      },
      [
        'spec.containers[0].env[0].valueFrom.fieldRef.fieldPath | Invalid value: "spec.foo": error converting fieldPath: field label not supported: spec.foo',
        'spec.containers[0].env[1].valueFrom.fieldRef.fieldPath | Required value',
        "spec.containers[0].env[2].valueFrom.fieldRef | Invalid value: \"A B\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        'spec.containers[0].env[3].valueFrom.fieldRef.fieldPath | Invalid value: "metadata.name": error converting fieldPath: unsupported pod version: v2',
      ],
    ],
    [
      'has known resources',
      { env: [{ name: 'F', valueFrom: { resourceFieldRef: { resource: 'limits.x' } } }] },
      [
        'spec.containers[0].env[0].valueFrom.resourceFieldRef.resource | Unsupported value: "limits.x": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"',
      ],
    ],
    [
      'has keys of what has a name',
      {
        env: [
          { name: 'G', valueFrom: { secretKeyRef: {} } },
          { name: 'H', valueFrom: { configMapKeyRef: { name: 'A_', key: 'x y' } } },
        ],
      },
      [
        "spec.containers[0].env[0].valueFrom.secretKeyRef.name | Invalid value: \"\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        'spec.containers[0].env[0].valueFrom.secretKeyRef.key | Required value',
        "spec.containers[0].env[1].valueFrom.configMapKeyRef.name | Invalid value: \"A_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        "spec.containers[0].env[1].valueFrom.configMapKeyRef.key | Invalid value: \"x y\": a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
      ],
    ],
    [
      'has keys of files in volumes that there are',
      { env: [{ name: 'K', valueFrom: { fileKeyRef: { volumeName: 'x', path: '/a', key: 'k' } } }] },
      ['spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName | Not found: "x"'],
    ],
    [
      'comes whole from one place',
      { envFrom: [{}, { prefix: 'a=b', configMapRef: { name: 'a' } }, { configMapRef: {}, secretRef: { name: 'A_' } }] },
      [
        'spec.containers[0].envFrom | Invalid value: "": must specify one of: `configMapRef` or `secretRef`',
        'spec.containers[0].envFrom[1].prefix | Invalid value: "a=b": a valid environment variable name must consist only of printable ASCII characters other than \'=\'',
        'spec.containers[0].envFrom[2].configMapRef.name | Required value',
        "spec.containers[0].envFrom[2].secretRef.name | Invalid value: \"A_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        'spec.containers[0].envFrom | Invalid value: "": may not have more than one field specified at a time',
      ],
    ],
  ])('%s', (_, given, findings) => expect(findingsOf({ containers: [{ ...container, ...given }] })).toEqual(findings));
});

describe('the probes of a container', () => {
  test.each<[string, object, string[]]>([
    [
      'do something',
      { livenessProbe: {}, lifecycle: { postStart: {} } },
      [
        'spec.containers[0].lifecycle.postStart | Required value: must specify a handler type',
        'spec.containers[0].livenessProbe | Required value: must specify a handler type',
      ],
    ],
    [
      'do one thing',
      { startupProbe: { exec: {}, tcpSocket: { port: 'x' } } },
      [
        'spec.containers[0].startupProbe.exec.command | Required value',
        'spec.containers[0].startupProbe.tcpSocket | Forbidden: may not specify more than 1 handler type',
      ],
    ],
    [
      'ask a port by a known scheme with proper headers',
      { readinessProbe: { httpGet: { port: 0, path: '', scheme: 'X', httpHeaders: [{ name: 'a b', value: '' }] } } },
      [
        'spec.containers[0].readinessProbe.httpGet.port | Invalid value: 0: must be between 1 and 65535, inclusive',
        'spec.containers[0].readinessProbe.httpGet.scheme | Unsupported value: "X": supported values: "HTTP", "HTTPS"',
        'spec.containers[0].readinessProbe.httpGet.httpHeaders | Invalid value: "a b": a valid HTTP header must consist of alphanumeric characters or \'-\'',
      ],
    ],
    [
      'have no negative times',
      { readinessProbe: { exec: { command: ['x'] }, periodSeconds: -1 } },
      ['spec.containers[0].readinessProbe.periodSeconds | Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      'of life succeed at once and end with grace',
      { livenessProbe: { exec: { command: ['x'] }, terminationGracePeriodSeconds: 0, successThreshold: 3 } },
      [
        'spec.containers[0].livenessProbe.terminationGracePeriodSeconds | Invalid value: 0: must be greater than 0',
        'spec.containers[0].livenessProbe.successThreshold | Invalid value: 3: must be 1',
      ],
    ],
    [
      'of readiness end nothing',
      { readinessProbe: { grpc: { port: 0 }, terminationGracePeriodSeconds: 3 } },
      [
        'spec.containers[0].readinessProbe.grpc.port | Invalid value: 0: must be between 1 and 65535, inclusive',
        'spec.containers[0].readinessProbe.terminationGracePeriodSeconds | Invalid value: 3: must not be set for readinessProbes',
      ],
    ],
    [
      'do not outlast the end',
      { lifecycle: { preStop: { sleep: { seconds: 100 } } } },
      [
        'spec.containers[0].lifecycle.preStop.sleep | Invalid value: 100: must be non-negative and less than terminationGracePeriodSeconds (30)',
      ],
    ],
    [
      'stop with a signal only where the system is known',
      { lifecycle: { stopSignal: 'SIGTERM' } },
      ['spec.containers[0].lifecycle.stopSignal | Forbidden: may not be set for containers with empty `spec.os.name`'],
    ],
  ])('%s', (_, given, findings) => expect(findingsOf({ containers: [{ ...container, ...given }] })).toEqual(findings));
});

describe('the resources of a container', () => {
  test.each<[string, object, string[]]>([
    [
      'are requested within their limits',
      { resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } },
      ['spec.containers[0].resources.requests | Invalid value: "2": must be less than or equal to cpu limit of 1'],
    ],
    [
      'that cannot be shared are limited to what is requested',
      { resources: { requests: { 'nvidia.com/gpu': '1' }, limits: { 'nvidia.com/gpu': '2' } } },
      ['spec.containers[0].resources.requests | Invalid value: "1": must be equal to nvidia.com/gpu limit of 2'],
    ],
    [
      'that cannot be shared are limited at all',
      { resources: { requests: { 'nvidia.com/gpu': '1' } } },
      ['spec.containers[0].resources.limits | Required value: Limit must be set for non overcommitable resources'],
    ],
    [
      'of others are whole',
      { resources: { limits: { 'x.y/z': '1500m' } } },
      [
        'spec.containers[0].resources.limits[x.y/z] | Invalid value: "1500m": must be an integer',
        'spec.containers[0].resources.requests[x.y/z] | Invalid value: "1500m": must be an integer',
      ],
    ],
    [
      'are known or of somebody',
      { resources: { requests: { foo: '1' } } },
      [
        'spec.containers[0].resources.requests[foo] | Invalid value: "foo": must be a standard resource type or fully qualified',
        'spec.containers[0].resources.requests[foo] | Invalid value: "foo": must be a standard resource for containers',
      ],
    ],
    [
      'are not negative',
      { resources: { limits: { cpu: '-1' } } },
      [
        'spec.containers[0].resources.limits[cpu] | Invalid value: "-1": must be greater than or equal to 0',
        'spec.containers[0].resources.requests[cpu] | Invalid value: "-1": must be greater than or equal to 0',
      ],
    ],
    [
      'come in whole huge pages',
      { resources: { limits: { cpu: '1', 'hugepages-2Mi': '3Mi' } } },
      [
        'spec.containers[0].resources.limits[hugepages-2Mi] | Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
        'spec.containers[0].resources.requests[hugepages-2Mi] | Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
      ],
    ],
    [
      'include huge pages only with others',
      { resources: { limits: { 'hugepages-2Mi': '4Mi' } } },
      ['spec.containers[0].resources | Forbidden: HugePages require cpu or memory'],
    ],
    [
      'are of claims of the pod',
      { resources: { claims: [{ name: 'a' }, { name: '' }] } },
      [
        'spec.containers[0].resources.claims[0] | Not found: "a": must be one of the names in pod.spec.resourceClaims which is empty',
        'spec.containers[0].resources.claims[1] | Required value',
      ],
    ],
  ])('%s', (_, given, findings) => expect(findingsOf({ containers: [{ ...container, ...given }] })).toEqual(findings));
});

describe('the security context of a container', () => {
  test.each<[string, object, string[]]>([
    [
      'has users in range',
      { securityContext: { runAsUser: -1, runAsGroup: -1 } },
      [
        'spec.containers[0].securityContext.runAsUser | Invalid value: -1: must be between 0 and 2147483647, inclusive',
        'spec.containers[0].securityContext.runAsGroup | Invalid value: -1: must be between 0 and 2147483647, inclusive',
      ],
    ],
    [
      'shows the kernel in known ways',
      { securityContext: { procMount: 'X' } },
      ['spec.containers[0].securityContext.procMount | Unsupported value: "X": supported values: "Default", "Unmasked"'],
    ],
    [
      'has profiles of known types with what they need',
      { securityContext: { seccompProfile: { type: 'Localhost' }, appArmorProfile: { type: 'X' } } },
      [
        'spec.containers[0].securityContext.seccompProfile.localhostProfile | Required value: must be set when seccomp type is Localhost',
        'spec.containers[0].securityContext.appArmorProfile.type | Unsupported value: "X": supported values: "Localhost", "RuntimeDefault", "Unconfined"',
      ],
    ],
    [
      'has profiles with nothing they do not need',
      { securityContext: { seccompProfile: {}, appArmorProfile: { type: 'Unconfined', localhostProfile: 'x' } } },
      [
        'spec.containers[0].securityContext.seccompProfile.type | Required value: type is required when seccompProfile is set',
        'spec.containers[0].securityContext.appArmorProfile.localhostProfile | Invalid value: "x": can only be set when AppArmor type is Localhost',
      ],
    ],
    [
      'escalates when it is privileged',
      { securityContext: { privileged: true, allowPrivilegeEscalation: false } },
      [
        'spec.containers[0].securityContext | Invalid value: {"Privileged":true,"AllowPrivilegeEscalation":false}: cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
      ],
    ],
    [
      'has proper Windows options',
      { securityContext: { windowsOptions: { gmsaCredentialSpecName: 'A_', runAsUserName: 'a\\b\\c' } } },
      [
        "spec.containers[0].securityContext.windowsOptions.gmsaCredentialSpecName | Invalid value: \"A_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        'spec.containers[0].securityContext.windowsOptions.runAsUserName | Invalid value: "a\\\\b\\\\c": runAsUserName cannot contain more than one backslash',
      ],
    ],
  ])('%s', (_, given, findings) => expect(findingsOf({ containers: [{ ...container, ...given }] })).toEqual(findings));
});

describe('a container', () => {
  test.each<[string, object, string[]]>([
    [
      'starts again in known ways',
      { restartPolicy: 'X' },
      ['spec.containers[0].restartPolicy | Unsupported value: "X": supported values: "Always", "Never", "OnFailure"'],
    ],
    [
      'has rules for starting again only with a policy',
      { restartPolicyRules: [{ action: 'X' }] },
      [
        'spec.containers[0].restartPolicy | Required value: must specify restartPolicy when restart rules are used',
        'spec.containers[0].restartPolicyRules[0].action | Unsupported value: "X": supported values: "Restart"',
        'spec.containers[0].restartPolicyRules[0].exitCodes | Required value: must be specified',
      ],
    ],
    [
      'starts again by exit codes',
      { restartPolicy: 'Never', restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'X', values: [300] } }] },
      ['spec.containers[0].restartPolicyRules[0].exitCodes.operator | Unsupported value: "X": supported values: "In", "NotIn"'],
    ],
    [
      'is resized in known ways, and not restarted where nothing is',
      {
        resizePolicy: [
          { resourceName: 'x', restartPolicy: 'X' },
          { resourceName: 'cpu', restartPolicy: 'RestartContainer' },
          { resourceName: 'cpu', restartPolicy: 'NotRequired' },
        ],
      },
      [
        'spec.containers[0].resizePolicy | Unsupported value: "x": supported values: "cpu", "memory"',
        'spec.containers[0].resizePolicy | Unsupported value: "X": supported values: "NotRequired", "RestartContainer"',
        "spec.containers[0].resizePolicy | Invalid value: \"X\": must be 'NotRequired' when pod `restartPolicy` is 'Never'",
        "spec.containers[0].resizePolicy | Invalid value: \"RestartContainer\": must be 'NotRequired' when pod `restartPolicy` is 'Never'",
        'spec.containers[0].resizePolicy[2] | Duplicate value: "cpu"',
      ],
    ],
    [
      'has ports in range with proper names',
      { ports: [{ containerPort: 0 }, { containerPort: 70000, name: 'Abc', protocol: 'X' }] },
      [
        'spec.containers[0].ports[0].containerPort | Required value',
        'spec.containers[0].ports[1].name | Invalid value: "Abc": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
        'spec.containers[0].ports[1].containerPort | Invalid value: 70000: must be between 1 and 65535, inclusive',
        'spec.containers[0].ports[1].protocol | Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
      ],
    ],
    [
      'has names and ports of the host once',
      {
        ports: [
          { containerPort: 1, name: 'a', hostPort: 80 },
          { containerPort: 2, name: 'a', hostPort: 80 },
        ],
      },
      ['spec.containers[0].ports[1].name | Duplicate value: "a"', 'spec.containers[0].ports[1].hostPort | Duplicate value: "TCP//80"'],
    ],
  ])('%s', (_, given, findings) => expect(findingsOf({ containers: [{ ...container, ...given }] })).toEqual(findings));
});
