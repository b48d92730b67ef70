import { describe, expect, test } from 'vitest';
import type { DecodedContainer, DecodedPodSpec } from '../../../../../shared/controlplane/kinds/decoded.ts';
import {
  validateResizePolicy,
  validateRestartRules,
  validateRestartRulesOfInit,
} from '../../../../../shared/controlplane/kinds/restart-validation.ts';
import {
  validateHostUsers,
  validatePodSecurityContext,
  validateSecurityContext,
} from '../../../../../shared/controlplane/kinds/security-context-validation.ts';
import { validateVolumeDevices, validateVolumeMounts } from '../../../../../shared/controlplane/kinds/volume-mount-validation.ts';
import { validateHostProcess, validateWindowsOptions } from '../../../../../shared/controlplane/kinds/windows-options-validation.ts';
import { told } from './findings.ts';

describe('restarts', () => {
  const rule = { action: 'Restart', exitCodes: { operator: 'In', values: [42] } };
  test.each<[DecodedContainer, string[]]>([
    [{}, []],
    [{ restartPolicy: 'Never', restartPolicyRules: [rule] }, []],
    [{ restartPolicyRules: [rule] }, ['c.restartPolicy | Required value: must specify restartPolicy when restart rules are used']],
    [
      { restartPolicy: 'Sometimes' },
      ['c.restartPolicy | Unsupported value: "Sometimes": supported values: "Always", "Never", "OnFailure"'],
    ],
    [
      { restartPolicy: 'Never', restartPolicyRules: [{ ...rule, action: 'Stop' }] },
      ['c.restartPolicyRules[0].action | Unsupported value: "Stop": supported values: "Restart"'],
    ],
    [
      { restartPolicy: 'Never', restartPolicyRules: [{ action: 'Restart' }] },
      ['c.restartPolicyRules[0].exitCodes | Required value: must be specified'],
    ],
    [
      { restartPolicy: 'Never', restartPolicyRules: Array.from({ length: 21 }, () => rule) },
      ['c.restartPolicyRules | Too many: 21: must have at most 20 items'],
    ],
  ])('are judged: %j', (container, findings) => {
    expect(told(validateRestartRules(container, 'c'))).toEqual(findings);
  });
  test('of sidecars know no rules', () => {
    expect(told(validateRestartRulesOfInit({ restartPolicy: 'Always' }, 'c'))).toEqual([]);
    expect(told(validateRestartRulesOfInit({ restartPolicy: 'Always', restartPolicyRules: [rule] }, 'c'))).toEqual([
      'c.restartPolicyRules | Forbidden: restartPolicyRules are not allowed for init containers with restart policy Always',
    ]);
    expect(told(validateRestartRulesOfInit({ restartPolicyRules: [rule] }, 'c'))).toHaveLength(1);
  });
  test('for a new size are said for each resource once, and never where nothing restarts', () => {
    const resize = (policies: Parameters<typeof validateResizePolicy>[0], restartPolicy?: string) =>
      told(validateResizePolicy(policies, 'p', restartPolicy));
    expect(
      resize([
        { resourceName: 'cpu', restartPolicy: 'NotRequired' },
        { resourceName: 'memory', restartPolicy: 'RestartContainer' },
      ]),
    ).toEqual([]);
    expect(
      resize([
        { resourceName: 'cpu', restartPolicy: 'NotRequired' },
        { resourceName: 'cpu', restartPolicy: 'NotRequired' },
      ]),
    ).toEqual(['p[1] | Duplicate value: "cpu"']);
    expect(resize([{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }], 'Never')).toEqual([
      `p | Invalid value: "RestartContainer": must be 'NotRequired' when pod \`restartPolicy\` is 'Never'`,
    ]);
  });
});

describe('security contexts', () => {
  const ofContainer = (given: DecodedContainer['securityContext'], hostUsers = true) =>
    told(validateSecurityContext(given, 's', hostUsers));
  test.each<[DecodedContainer['securityContext'], string[]]>([
    [undefined, []],
    [{ runAsUser: 0, seccompProfile: { type: 'RuntimeDefault' }, appArmorProfile: { type: 'Localhost', localhostProfile: 'p' } }, []],
    [{ runAsUser: -1 }, ['s.runAsUser | Invalid value: -1: must be between 0 and 2147483647, inclusive']],
    [{ procMount: 'Unmasked' }, ['s.procMount | Invalid value: "Unmasked": `hostUsers` must be false to use `Unmasked`']],
    [{ seccompProfile: {} }, ['s.seccompProfile.type | Required value: type is required when seccompProfile is set']],
    [
      { seccompProfile: { type: 'Localhost' } },
      ['s.seccompProfile.localhostProfile | Required value: must be set when seccomp type is Localhost'],
    ],
    [
      { seccompProfile: { type: 'Localhost', localhostProfile: '../x' } },
      [`s.seccompProfile.localhostProfile | Invalid value: "../x": must not contain '..'`],
    ],
    [
      { appArmorProfile: { type: 'Localhost', localhostProfile: ' p' } },
      ['s.appArmorProfile.localhostProfile | Invalid value: " p": must not be padded with whitespace'],
    ],
    [
      { allowPrivilegeEscalation: false, privileged: true },
      [expect.stringContaining('cannot set `allowPrivilegeEscalation` to false and `privileged` to true') as string],
    ],
    [
      { allowPrivilegeEscalation: false, capabilities: { add: ['CAP_SYS_ADMIN'] } },
      [expect.stringContaining('and `capabilities.Add` CAP_SYS_ADMIN') as string],
    ],
  ])('of containers are judged: %j', (given, findings) => {
    expect(ofContainer(given)).toEqual(findings);
  });
  test('may show all of /proc to users of their own', () => {
    expect(ofContainer({ procMount: 'Unmasked' }, false)).toEqual([]);
  });
  test.each<[DecodedPodSpec, string[]]>([
    [{}, []],
    [{ securityContext: { sysctls: [{ name: 'net.core/somaxconn' }], supplementalGroups: [1] } }, []],
    [
      { securityContext: { supplementalGroups: [1, -1] } },
      ['s.supplementalGroups[1] | Invalid value: -1: must be between 0 and 2147483647, inclusive'],
    ],
    [
      { shareProcessNamespace: true, hostPID: true },
      ['s.shareProcessNamespace | Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled'],
    ],
    [{ securityContext: { sysctls: [{ name: 'a' }, { name: 'a' }] } }, ['s.sysctls[1].name | Duplicate value: "a"']],
    [{ securityContext: { sysctls: [{}] } }, ['s.sysctls[0].name | Required value']],
    [
      { hostNetwork: true, securityContext: { sysctls: [{ name: 'net.a' }] } },
      [`s.sysctls[0].name | Invalid value: "net.a": may not be specified when 'hostNetwork' is true`],
    ],
    [
      { hostIPC: true, securityContext: { sysctls: [{ name: 'kernel.sem' }] } },
      [`s.sysctls[0].name | Invalid value: "kernel.sem": may not be specified when 'hostIPC' is true`],
    ],
    [
      { securityContext: { fsGroupChangePolicy: 'Never' } },
      ['s.fsGroupChangePolicy | Unsupported value: "Never": supported values: "Always", "OnRootMismatch"'],
    ],
  ])('of pods are judged: %j', (spec, findings) => {
    expect(told(validatePodSecurityContext(spec, 's'))).toEqual(findings);
  });
  test('with users of their own share nothing else with the host', () => {
    const shared = { hostNetwork: true, hostPID: true, hostIPC: true };
    expect(validateHostUsers(shared, 's', [])).toEqual([]);
    expect(told(validateHostUsers({ ...shared, hostUsers: false }, 's', []))).toEqual([
      's.hostNetwork | Forbidden: when `hostUsers` is false',
      's.HostPID | Forbidden: when `hostUsers` is false',
      's.HostIPC | Forbidden: when `hostUsers` is false',
    ]);
  });
});

describe('options of Windows', () => {
  test.each<[Parameters<typeof validateWindowsOptions>[0], string[]]>([
    [undefined, []],
    [{ gmsaCredentialSpecName: 'a.b', gmsaCredentialSpec: '{}', runAsUserName: 'DOMAIN\\user' }, []],
    [{ runAsUserName: '' }, ['w.runAsUserName | Invalid value: "": runAsUserName cannot be an empty string']],
    [
      { runAsUserName: 'a\\b\\c' },
      ['w.runAsUserName | Invalid value: "a\\\\b\\\\c": runAsUserName cannot contain more than one backslash'],
    ],
    [{ runAsUserName: '..' }, [`w.runAsUserName | Invalid value: "..": runAsUserName's User cannot contain only periods or spaces`]],
    [{ gmsaCredentialSpec: '' }, ['w.gmsaCredentialSpec | Invalid value: "": gmsaCredentialSpec cannot be an empty string']],
    [{ gmsaCredentialSpec: 'x'.repeat(64 * 1024) }, []],
  ])('are judged: %j', (options, findings) => {
    expect(told(validateWindowsOptions(options, 'w'))).toEqual(findings);
  });
  test('make all containers of a pod those of the host, or none', () => {
    const host = { securityContext: { windowsOptions: { hostProcess: true } } };
    const judged = (spec: DecodedPodSpec, ...list: DecodedContainer[]) =>
      told(
        validateHostProcess(
          spec,
          's',
          list.map((container, i) => ({ container, path: `c[${i}]` })),
        ),
      );
    expect(judged({ hostNetwork: true }, host, host)).toEqual([]);
    expect(judged({ hostNetwork: true }, host, {})).toEqual([
      's | Invalid value: "": If pod contains any hostProcess containers then all containers must be HostProcess containers',
    ]);
    expect(judged({}, host)).toEqual([
      's.hostNetwork | Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers',
    ]);
    expect(judged({ securityContext: { windowsOptions: { hostProcess: false } } }, host)).toContain(
      'c[0].securityContext.windowsOptions.hostProcess | Invalid value: true: pod hostProcess value must be identical if both are specified, was false',
    );
    expect(judged({}, {})).toEqual([]);
  });
});

describe('mounts and devices', () => {
  const volumes = new Map([
    ['v', { name: 'v', emptyDir: {} }],
    ['p', { name: 'p', persistentVolumeClaim: { claimName: 'x' } }],
  ]);
  const mounts = (...list: NonNullable<DecodedContainer['volumeMounts']>) =>
    told(validateVolumeMounts({ volumeMounts: list }, 'm', volumes));
  test.each<[NonNullable<DecodedContainer['volumeMounts']>[number], string[]]>([
    [{ name: 'v', mountPath: '/a', subPath: 'b/c' }, []],
    [{ name: 'v' }, ['m[0].mountPath | Required value']],
    [{ name: 'gone', mountPath: '/a' }, ['m[0].name | Not found: "gone"']],
    [{ name: 'v', mountPath: '/a', subPath: '../b' }, [`m.subPath | Invalid value: "../b": must not contain '..'`]],
    [
      { name: 'v', mountPath: '/a', subPath: 'a', subPathExpr: 'b' },
      ['m[0].subPathExpr | Invalid value: "b": subPathExpr and subPath are mutually exclusive'],
    ],
    [
      { name: 'v', mountPath: '/a', mountPropagation: 'Bidirectional' },
      ['m.mountPropagation | Forbidden: Bidirectional mount propagation is available only to privileged containers'],
    ],
    [
      { name: 'v', mountPath: '/a', recursiveReadOnly: 'Enabled' },
      ['m.recursiveReadOnly | Forbidden: may only be specified when readOnly is true'],
    ],
  ])('%j', (mount, findings) => {
    expect(mounts(mount)).toEqual(findings);
  });
  test('are in different places', () => {
    expect(mounts({ name: 'v', mountPath: '/a' }, { name: 'v', mountPath: '/a' })).toEqual([
      'm[1].mountPath | Invalid value: "/a": must be unique',
    ]);
  });
  const devices = (...list: NonNullable<DecodedContainer['volumeDevices']>) =>
    told(validateVolumeDevices({ volumeDevices: list, volumeMounts: [{ name: 'v', mountPath: '/v' }] }, 'd', volumes));
  test.each<[NonNullable<DecodedContainer['volumeDevices']>[number], string[]]>([
    [{ name: 'p', devicePath: '/dev/a' }, []],
    [{ name: 'p' }, ['d[0].devicePath | Required value']],
    [{ name: 'gone', devicePath: '/dev/a' }, ['d[0].name | Not found: "gone"']],
    [{ name: 'p', devicePath: '/a/../b' }, [`d[0].devicePath | Invalid value: "/a/../b": can not contain backsteps ('..')`]],
    [{ name: 'p', devicePath: '/v' }, ['d[0].devicePath | Invalid value: "/v": must not already exist as a path in volumeMounts']],
  ])('are claims: %j', (device, findings) => {
    expect(devices(device)).toEqual(findings);
  });
  test('are not both of one volume', () => {
    expect(devices({ name: 'v', devicePath: '/dev/a' })).toEqual([
      'd[0].name | Invalid value: "v": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
      'd[0].name | Invalid value: "v": must not already exist in volumeMounts',
    ]);
  });
});
