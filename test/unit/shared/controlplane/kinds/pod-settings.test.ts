import { describe, expect, test } from 'vitest';
import { findingsOf } from './pod-findings.ts';

describe('the security context of a pod', () => {
  test.each<[string, object, string[]]>([
    [
      'has users and groups in range',
      { securityContext: { runAsUser: -1, supplementalGroups: [-1, 0], fsGroup: -2 } },
      [
        'spec.securityContext.fsGroup | Invalid value: -2: must be between 0 and 2147483647, inclusive',
        'spec.securityContext.runAsUser | Invalid value: -1: must be between 0 and 2147483647, inclusive',
        'spec.securityContext.supplementalGroups[0] | Invalid value: -1: must be between 0 and 2147483647, inclusive',
      ],
    ],
    [
      'sets what a kernel has, once',
      {
        securityContext: {
          sysctls: [
            { name: '', value: 'x' },
            { name: 'a b', value: 'x' },
            { name: 'kernel.x', value: 'x' },
            { name: 'kernel.x', value: 'x' },
          ],
        },
      },
      [
        'spec.securityContext.sysctls[0].name | Required value',
        'spec.securityContext.sysctls[1].name | Invalid value: "a b": must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$',
        'spec.securityContext.sysctls[3].name | Duplicate value: "kernel.x"',
      ],
    ],
    [
      'leaves to the host what is of the host',
      { hostNetwork: true, securityContext: { sysctls: [{ name: 'net.a', value: 'x' }] } },
      ['spec.securityContext.sysctls[0].name | Invalid value: "net.a": may not be specified when \'hostNetwork\' is true'],
    ],
    [
      'has known policies',
      { securityContext: { fsGroupChangePolicy: 'X', supplementalGroupsPolicy: 'X', seLinuxChangePolicy: 'X' } },
      [
        'spec.securityContext.fsGroupChangePolicy | Unsupported value: "X": supported values: "Always", "OnRootMismatch"',
        'spec.securityContext.supplementalGroupsPolicy | Unsupported value: "X": supported values: "Merge", "Strict"',
        'spec.securityContext.seLinuxChangePolicy | Unsupported value: "X": supported values: "MountOption", "Recursive"',
      ],
    ],
    [
      'does not share processes with host and pod',
      { hostPID: true, shareProcessNamespace: true },
      ['spec.securityContext.shareProcessNamespace | Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled'],
    ],
    [
      'shares nothing with the host beside its users',
      { hostUsers: false, hostPID: true, hostIPC: true, hostNetwork: true },
      [
        'spec.hostNetwork | Forbidden: when `hostUsers` is false',
        'spec.HostPID | Forbidden: when `hostUsers` is false',
        'spec.HostIPC | Forbidden: when `hostUsers` is false',
      ],
    ],
  ])('%s', (_, given, findings) => expect(findingsOf(given)).toEqual(findings));
});

describe('the names of a pod', () => {
  test.each<[string, object, string[]]>([
    ['are resolved somehow', { dnsPolicy: 'None' }, ['spec.dnsConfig | Required value: must provide `dnsConfig` when `dnsPolicy` is None']],
    [
      'are resolved by few servers in proper domains',
      {
        dnsPolicy: 'None',
        dnsConfig: { nameservers: ['x', '1.1.1.1', '1.1.1.1', '1.1.1.1'], searches: ['A_b', 'x.', '.'], options: [{}, { name: 'x' }] },
      },
      [
        'spec.dnsConfig.nameservers | Invalid value: ["x","1.1.1.1","1.1.1.1","1.1.1.1"]: must not have more than 3 nameservers',
        'spec.dnsConfig.nameservers[0] | Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
        "spec.dnsConfig.searches[0] | Invalid value: \"A_b\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character",
        'spec.dnsConfig.options[0] | Required value: must not be empty',
      ],
    ],
    [
      'are of addresses',
      { hostAliases: [{ ip: 'x', hostnames: ['A_'] }, {}] },
      [
        'spec.hostAliases[0].ip | Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
        "spec.hostAliases[0].hostnames[0] | Invalid value: \"A_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        'spec.hostAliases[1].ip | Invalid value: "": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      ],
    ],
    [
      'are labels',
      { hostname: 'A.b', subdomain: 'A' },
      [
        'spec.hostname | Invalid value: "A.b": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \'-\', and must start and end with an alphanumeric character',
        'spec.subdomain | Invalid value: "A": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \'-\', and must start and end with an alphanumeric character',
      ],
    ],
    [
      'replace no other',
      { hostnameOverride: 'X', setHostnameAsFQDN: true },
      [
        'spec.hostnameOverride | Forbidden: may not be specified when setHostnameAsFQDN is true',
        "spec.hostnameOverride | Invalid value: \"X\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
      ],
    ],
    [
      'are short, and not those of the host',
      { hostnameOverride: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', hostNetwork: true },
      [
        'spec.hostnameOverride | Forbidden: may not be specified when hostNetwork is true',
        'spec.hostnameOverride | Too long: may not be more than 64 bytes',
      ],
    ],
  ])('%s', (_, given, findings) => expect(findingsOf(given)).toEqual(findings));
});

describe('the place of a pod', () => {
  test.each<[string, object, string[]]>([
    [
      'is gated by names',
      { readinessGates: [{}], schedulingGates: [{}, { name: 'a' }, { name: 'a' }] },
      [
        'spec.readinessGates[0].conditionType | Invalid value: "": name part must be non-empty',
        "spec.readinessGates[0].conditionType | Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        'spec.schedulingGates[0] | Invalid value: "": name part must be non-empty',
        "spec.schedulingGates[0] | Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        'spec.schedulingGates[2] | Duplicate value: "a"',
      ],
    ],
    [
      'has proper tolerations',
      {
        tolerations: [
          { key: 'a b' },
          { operator: 'Exists', value: 'x' },
          { operator: 'X', key: 'a' },
          { operator: 'Equal' },
          { key: 'a', effect: 'X' },
          { key: 'a', effect: 'NoSchedule', tolerationSeconds: 3 },
          { key: 'a', value: 'b c' },
        ],
      },
      [
        "spec.tolerations[0].key | Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        'spec.tolerations[1].operator | Invalid value: "x": value must be empty when `operator` is \'Exists\'',
        'spec.tolerations[2].operator | Unsupported value: "X": supported values: "Equal", "Exists"',
        'spec.tolerations[3].operator | Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"',
        'spec.tolerations[4].effect | Unsupported value: "X": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
        'spec.tolerations[5].effect | Invalid value: "NoSchedule": effect must be \'NoExecute\' when `tolerationSeconds` is set',
        "spec.tolerations[6].operator | Invalid value: \"b c\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
      ],
    ],
    [
      'is near nodes by proper terms',
      {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] },
            preferredDuringSchedulingIgnoredDuringExecution: [
              {
                weight: 0,
                preference: {
                  matchExpressions: [
                    { key: 'a', operator: 'In' },
                    { key: 'b', operator: 'Exists', values: ['x'] },
                    { key: 'd', operator: 'X' },
                  ],
                  matchFields: [{ key: 'foo', operator: 'In', values: ['a', 'b'] }],
                },
              },
            ],
          },
        },
      },
      [
        'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms | Required value: must have at least one node selector term',
        'spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight | Invalid value: 0: must be in the range 1-100',
        "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].values | Required value: must be specified when `operator` is 'In' or 'NotIn'",
        "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[1].values | Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        'spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[2].operator | Invalid value: "X": not a valid selector operator',
        "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchFields[0].values | Required value: must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
        'spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchFields[0].key | Invalid value: "foo": not a valid field selector key',
      ],
    ],
    [
      'is near pods by proper terms',
      {
        affinity: {
          podAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              {},
              { topologyKey: 'a', labelSelector: { matchLabels: { 'a b': 'c' } }, namespaces: ['A_'] },
            ],
            preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 101, podAffinityTerm: { topologyKey: 'a' } }],
          },
        },
      },
      [
        'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey | Required value: can not be empty',
        'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey | Invalid value: "": name part must be non-empty',
        "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey | Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[1].labelSelector.matchLabels | Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[1].namespace | Invalid value: "A_": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \'-\', and must start and end with an alphanumeric character',
        'spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight | Invalid value: 101: must be in the range 1-100',
      ],
    ],
    [
      'is spread by proper terms',
      {
        topologySpreadConstraints: [
          {},
          {
            maxSkew: 1,
            topologyKey: 'a',
            whenUnsatisfiable: 'ScheduleAnyway',
            minDomains: 2,
            nodeAffinityPolicy: 'X',
            matchLabelKeys: ['a'],
          },
          { maxSkew: 1, topologyKey: 'a', whenUnsatisfiable: 'ScheduleAnyway' },
        ],
      },
      [
        'spec.topologySpreadConstraints[0].maxSkew | Invalid value: 0: must be greater than zero',
        'spec.topologySpreadConstraints[0].topologyKey | Required value: can not be empty',
        'spec.topologySpreadConstraints[0].whenUnsatisfiable | Unsupported value: "": supported values: "DoNotSchedule", "ScheduleAnyway"',
        'spec.topologySpreadConstraints[1].{topologyKey, whenUnsatisfiable} | Duplicate value: "{a, ScheduleAnyway}"',
        'spec.topologySpreadConstraints[1].minDomains | Invalid value: 2: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway',
        'spec.topologySpreadConstraints[1].nodeAffinityPolicy | Unsupported value: "X": supported values: "Honor", "Ignore"',
        'spec.topologySpreadConstraints[1].matchLabelKeys | Forbidden: must not be specified when labelSelector is not set',
      ],
    ],
    [
      'has the names of what it needs',
      { serviceAccountName: 'A_', nodeName: 'A_', priorityClassName: 'A_', runtimeClassName: '', preemptionPolicy: 'X', dnsPolicy: 'X' },
      [
        'spec.dnsPolicy | Unsupported value: "X": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
        "spec.serviceAccountName | Invalid value: \"A_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        "spec.nodeName | Invalid value: \"A_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        "spec.priorityClassName | Invalid value: \"A_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        "spec.runtimeClassName | Invalid value: \"\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        'spec.preemptionPolicy | Unsupported value: "X": supported values: "PreemptLowerPriority", "Never"',
      ],
    ],
  ])('%s', (_, given, findings) => expect(findingsOf(given)).toEqual(findings));
});

describe('what a pod takes', () => {
  test.each<[string, object, string[]]>([
    [
      'is of one source each',
      { resourceClaims: [{ name: 'a' }, { name: 'a', resourceClaimName: 'x', resourceClaimTemplateName: 'y' }] },
      [
        'spec.resourceClaims[0] | Invalid value: {"Name":"a","ResourceClaimName":null,"ResourceClaimTemplateName":null}: must specify one of: `resourceClaimName`, `resourceClaimTemplateName`',
        'spec.resourceClaims[1].name | Duplicate value: "a"',
        'spec.resourceClaims[1] | Invalid value: {"Name":"a","ResourceClaimName":"x","ResourceClaimTemplateName":"y"}: at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
      ],
    ],
    [
      'has a name',
      { resourceClaims: [{ name: 'A_', resourceClaimName: 'A_' }, { resourceClaimName: 'x' }] },
      [
        'spec.resourceClaims[0].name | Invalid value: "A_": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \'-\', and must start and end with an alphanumeric character',
        "spec.resourceClaims[0].resourceClaimName | Invalid value: \"A_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        'spec.resourceClaims[1].name | Required value',
      ],
    ],
    [
      'as a whole is enough for its containers',
      {
        resources: { requests: { cpu: '1' }, limits: { cpu: '2', 'ephemeral-storage': '1' } },
        containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '3' }, limits: { cpu: '4' } } }],
      },
      [
        'spec.resources.limits[ephemeral-storage] | Unsupported value: "ephemeral-storage": supported values: "cpu", "memory"',
        'spec.resources.requests[cpu] | Invalid value: "1": must be greater than or equal to aggregate container requests of 3',
        'spec.resources.containers[0][cpu].limits | Invalid value: "4": must be less than or equal to pod limits of 2',
      ],
    ],
    [
      'beside them is not negative',
      { overhead: { cpu: '-1' } },
      ['spec.overhead.limits[cpu] | Invalid value: "-1": must be greater than or equal to 0'],
    ],
  ])('%s', (_, given, findings) => expect(findingsOf(given)).toEqual(findings));
});

describe('the system of a pod', () => {
  test.each<[string, object, string[]]>([
    ['has a name', { os: {} }, ['spec.os.name | Required value']],
    ['is known', { os: { name: 'x' } }, ['spec.os | Unsupported value: "x": supported values: "linux", "windows"']],
    [
      'of Windows has nothing of Linux',
      {
        os: { name: 'windows' },
        hostPID: true,
        securityContext: { runAsUser: 1 },
        containers: [{ name: 'c', image: 'i', securityContext: { runAsUser: 1 } }],
      },
      [
        'spec.hostPID | Forbidden: cannot be set for a windows pod',
        'spec.securityContext.runAsUser | Forbidden: cannot be set for a windows pod',
        'spec.containers[0].securityContext.runAsUser | Forbidden: cannot be set for a windows pod',
      ],
    ],
    [
      'of Linux has nothing of Windows',
      { os: { name: 'linux' }, securityContext: { windowsOptions: {} } },
      ['spec.securityContext.windowsOptions | Forbidden: windows options cannot be set for a linux pod'],
    ],
  ])('%s', (_, given, findings) => expect(findingsOf(given)).toEqual(findings));
});

describe('an init container', () => {
  test.each<[string, object, string[]]>([
    [
      'that ends has nothing that only what stays has',
      { initContainers: [{ name: 'i', image: 'i', lifecycle: {}, livenessProbe: { exec: { command: ['x'] } } }] },
      [
        'spec.initContainers[0].lifecycle | Forbidden: may not be set for init containers without restartPolicy=Always',
        'spec.initContainers[0].livenessProbe | Forbidden: may not be set for init containers without restartPolicy=Always',
      ],
    ],
    [
      'shares no name with another',
      {
        initContainers: [
          { name: 'c', image: 'i' },
          { name: 'j', image: '' },
        ],
      },
      ['spec.initContainers[0].name | Duplicate value: "c"', 'spec.initContainers[1].image | Required value'],
    ],
    [
      'that stays may be probed',
      { initContainers: [{ name: 'i', image: 'i', restartPolicy: 'Always', livenessProbe: { exec: { command: ['x'] } } }] },
      [],
    ],
  ])('%s', (_, given, findings) => expect(findingsOf(given)).toEqual(findings));
});

describe('an annotation of a pod', () => {
  test.each<[string, object, string[]]>([
    [
      'says of a mirror where it is',
      { 'kubernetes.io/config.mirror': 'x' },
      ['metadata.annotations[kubernetes.io/config.mirror] | Invalid value: "x": must set spec.nodeName if mirror pod annotation is set'],
    ],
    [
      'names profiles that can be',
      { 'container.seccomp.security.alpha.kubernetes.io/c': 'x', 'container.apparmor.security.beta.kubernetes.io/c': 'x' },
      [
        'metadata.annotations.container.seccomp.security.alpha.kubernetes.io/c | Invalid value: "x": must be a valid seccomp profile',
        'metadata.annotations[container.apparmor.security.beta.kubernetes.io/c] | Invalid value: "x": invalid AppArmor profile name: "x"',
      ],
    ],
    [
      'names containers that there are',
      { 'container.apparmor.security.beta.kubernetes.io/d': 'runtime/default' },
      ['metadata.annotations[container.apparmor.security.beta.kubernetes.io/d] | Invalid value: "d": container not found'],
    ],
    [
      'has a price in whole numbers',
      { 'controller.kubernetes.io/pod-deletion-cost': '+1' },
      ['metadata.annotations[controller.kubernetes.io/pod-deletion-cost] | Invalid value: "+1": must be a 32bit integer'],
    ],
  ])('%s', (_, given, findings) => expect(findingsOf({}, { annotations: given })).toEqual(findings));
});
