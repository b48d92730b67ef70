import { describe, expect, test } from 'vitest';
import type { AnyObject } from '../../../../../shared/controlplane/apimachinery/object.ts';
import { podStrategy } from '../../../../../shared/controlplane/kinds/pod-strategy.ts';
import { driveKind } from '../../../../support/kind-driver.ts';

const pods = driveKind(podStrategy);
const container = { name: 'c', image: 'i' };
const podOf = (fields: object = {}, name = 'p'): AnyObject =>
  pods.create({ metadata: { name }, spec: { restartPolicy: 'Never', containers: [container], ...fields } }).object;
const warningsOf = (fields: object, name?: string): readonly string[] => podStrategy.warningsOnCreate?.(podOf(fields, name)) ?? [];

describe('a forbidden change of a pod', () => {
  test('is answered with what differs, in the words of upstream’s types', () => {
    const [finding = ''] = pods.update(podOf(), (next) =>
      Object.assign(next['spec'] as object, { hostNetwork: true, dnsPolicy: 'Default' }),
    ).findings;
    expect(finding.slice(finding.indexOf('\n') + 1)).toBe(
      [
        '@@ -38,13 +38,13 @@',
        '  "RestartPolicy": "Never",',
        '  "TerminationGracePeriodSeconds": 30,',
        '  "ActiveDeadlineSeconds": null,',
        '- "DNSPolicy": "ClusterFirst",',
        '+ "DNSPolicy": "Default",',
        '  "NodeSelector": null,',
        '  "ServiceAccountName": "",',
        '  "AutomountServiceAccountToken": null,',
        '  "NodeName": "",',
        '  "SecurityContext": {',
        '-  "HostNetwork": false,',
        '+  "HostNetwork": true,',
        '   "HostPID": false,',
        '   "HostIPC": false,',
        '   "ShareProcessNamespace": null,',
        '',
      ].join('\n'),
    );
  });
  test('shows characters of HTML as Go’s JSON does', () => {
    const [finding = ''] = pods.update(podOf(), (next) => Object.assign(next['spec'] as object, { hostname: '<b>' })).findings.toReversed();
    expect(finding).toContain('+ "Hostname": "\\u003cb\\u003e"');
  });
});

describe('a new pod is created with a warning', () => {
  test.each<[string, object, string[]]>([
    [
      'of old node labels',
      { nodeSelector: { 'beta.kubernetes.io/os': 'linux' } },
      ['spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead'],
    ],
    [
      'of repositories as volumes',
      { volumes: [{ name: 'v', gitRepo: { repository: 'r' } }] },
      ['spec.volumes[0].gitRepo: deprecated in v1.11'],
    ],
    [
      'of addresses named twice',
      { hostAliases: [{ ip: '1.1.1.1' }, { ip: '1.1.1.1' }] },
      ['spec.hostAliases[1].ip: duplicate ip "1.1.1.1"'],
    ],
    ['of pull secrets without a name', { imagePullSecrets: [{}] }, ['spec.imagePullSecrets[0].name: invalid empty name ""']],
    [
      'of hidden variables',
      {
        containers: [
          {
            ...container,
            env: [
              { name: 'A', value: '1' },
              { name: 'A', value: '2' },
            ],
          },
        ],
      },
      ['spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'],
    ],
    [
      'of fractions of bytes',
      { containers: [{ ...container, resources: { limits: { memory: '100m' } } }] },
      [
        'spec.containers[0].resources.limits[memory]: fractional byte value "100m" is invalid, must be an integer',
        'spec.containers[0].resources.requests[memory]: fractional byte value "100m" is invalid, must be an integer',
      ],
    ],
    [
      'of ports told twice',
      { containers: [{ ...container, ports: [{ containerPort: 80 }, { containerPort: 80 }] }] },
      ['spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]'],
    ],
  ])('%s', (_, fields, warnings) => expect(warningsOf(fields)).toEqual(warnings));
  test('of a name that makes no host name', () => {
    expect(warningsOf({}, 'a.b')).toEqual([
      "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
    ]);
  });
});
