import { describe, expect, test } from 'vitest';
import { container, findingsOf } from './pod-findings.ts';

const twoVolumes = {
  volumes: [
    { name: 'v', emptyDir: {} },
    { name: 'b', persistentVolumeClaim: { claimName: 'c' } },
  ],
};
describe('a volume', () => {
  test.each<[string, object, string[]]>([
    ['without a source is an empty directory', {}, []],
    [
      'has one source',
      { emptyDir: {}, hostPath: { path: '/' } },
      ['spec.volumes[0].hostPath | Forbidden: may not specify more than 1 volume type'],
    ],
    [
      'has no negative size',
      { emptyDir: { sizeLimit: '-1' } },
      ['spec.volumes[0].emptyDir.sizeLimit | Forbidden: SizeLimit field must be a valid resource quantity'],
    ],
    ['of the host needs a path', { hostPath: { path: '' } }, ['spec.volumes[0].hostPath.path | Required value']],
    [
      'of the host does not climb and is of a known type',
      { hostPath: { path: '/a/../b', type: 'X' } },
      [
        'spec.volumes[0].hostPath.path | Invalid value: "/a/../b": must not contain \'..\'',
        'spec.volumes[0].hostPath.type | Unsupported value: "X": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"',
      ],
    ],
    ['of a Secret names it', { secret: {} }, ['spec.volumes[0].secret.secretName | Required value']],
    ['of a ConfigMap names it', { configMap: {} }, ['spec.volumes[0].configMap.name | Required value']],
    [
      'has no mode beyond 0777',
      { secret: { secretName: 's', defaultMode: 1000 } },
      ['spec.volumes[0].secret.defaultMode | Invalid value: 1000: must be a number between 0 and 0777 (octal), both inclusive'],
    ],
    [
      'has its items below itself',
      {
        secret: {
          secretName: 's',
          items: [
            { key: '', path: '' },
            { key: 'k', path: '/x' },
            { key: 'k', path: '../x', mode: 1000 },
            { key: 'k', path: '..x' },
          ],
        },
      },
      [
        'spec.volumes[0].secret.items[0].key | Required value',
        'spec.volumes[0].secret.items[0].path | Required value',
        'spec.volumes[0].secret.items[1].path | Invalid value: "/x": must be a relative path',
        'spec.volumes[0].secret.items[2].path | Invalid value: "../x": must not contain \'..\'',
        'spec.volumes[0].secret.items[2].mode | Invalid value: 1000: must be a number between 0 and 0777 (octal), both inclusive',
        'spec.volumes[0].secret.items[3].path | Invalid value: "..x": must not start with \'..\'',
      ],
    ],
    [
      'of NFS names server and path',
      { nfs: {} },
      [
        'spec.volumes[0].nfs.server | Required value',
        'spec.volumes[0].nfs.path | Required value',
        'spec.volumes[0].nfs.path | Invalid value: "": must be an absolute path',
      ],
    ],
    [
      'of NFS has an absolute path',
      { nfs: { server: 's', path: 'x' } },
      ['spec.volumes[0].nfs.path | Invalid value: "x": must be an absolute path'],
    ],
    ['of a claim names it', { persistentVolumeClaim: {} }, ['spec.volumes[0].persistentVolumeClaim.claimName | Required value']],
    [
      'of CSI names a driver',
      { csi: {} },
      [
        'spec.volumes[0].csi.driver | Required value',
        "spec.volumes[0].csi.driver | Invalid value: \"\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
      ],
    ],
    [
      'of CSI names the Secret it needs',
      { csi: { driver: 'd', nodePublishSecretRef: {} } },
      ['spec.volumes[0].csi.nodePublishSecretRef.name | Required value'],
    ],
    [
      'of an image names one',
      { image: {} },
      ['spec.volumes[0].image.reference | Required value', 'spec.volumes[0].image.pullPolicy | Required value'],
    ],
    [
      'of an image is pulled by a known policy',
      { image: { reference: 'a', pullPolicy: 'X' } },
      ['spec.volumes[0].image.pullPolicy | Unsupported value: "X": supported values: "Always", "IfNotPresent", "Never"'],
    ],
    ['of git names a repository', { gitRepo: {} }, ['spec.volumes[0].gitRepo.repository | Required value']],
    ['of a claim made for it says what it claims', { ephemeral: {} }, ['spec.volumes[0].ephemeral.volumeClaimTemplate | Required value']],
    [
      'of a claim made for it asks for an access and a size',
      { ephemeral: { volumeClaimTemplate: { spec: {} } } },
      [
        'spec.volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes | Required value: at least 1 access mode is required',
        'spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources[storage] | Required value',
      ],
    ],
    [
      'of a claim made for it does not name it',
      {
        ephemeral: {
          volumeClaimTemplate: {
            metadata: { name: 'x' },
            spec: { accessModes: ['ReadWriteOnce', 'X'], resources: { requests: { storage: '0' } } },
          },
        },
      },
      [
        'spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.name | Forbidden: cannot be set',
        'spec.volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes | Unsupported value: "X": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
        'spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources[storage] | Invalid value: "0": must be greater than zero',
      ],
    ],
  ])('%s', (_, given, findings) => expect(findingsOf({ volumes: [{ name: 'v', ...given }] })).toEqual(findings));
});

describe('a projected volume', () => {
  test.each<[string, object, string[]]>([
    ['may have a source that says nothing', { projected: { sources: [{}] } }, []],
    [
      'names its sources',
      { projected: { sources: [{ secret: {} }] } },
      ['spec.volumes[0].projected.sources[0].secret.name | Required value'],
    ],
    [
      'writes no file twice',
      {
        projected: {
          sources: [
            { configMap: { name: 'a', items: [{ key: 'k', path: 'p' }] } },
            { secret: { name: 's', items: [{ key: 'k', path: 'p' }] } },
          ],
        },
      },
      ['spec.volumes[0].projected | Invalid value: "s": conflicting duplicate paths'],
    ],
    [
      'has sources of one kind each',
      { projected: { sources: [{ configMap: { name: 'a' }, secret: { name: 's' } }] } },
      ['spec.volumes[0].projected.sources[0] | Forbidden: may not specify more than 1 volume type per source'],
    ],
    [
      'has tokens with a path and of some minutes, and an account for them',
      { projected: { sources: [{ serviceAccountToken: { path: '', expirationSeconds: 10 } }] } },
      [
        'spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds | Invalid value: 10: may not specify a duration less than 10 minutes',
        'spec.volumes[0].projected.path | Required value',
        'spec.volumes[0].projected.sources[0].serviceAccountToken | Forbidden: must not be specified when serviceAccountName is not set',
      ],
    ],
    [
      'has trust bundles by name or by signer',
      { projected: { sources: [{ clusterTrustBundle: { path: 'x' } }] } },
      ['spec.volumes[0].projected.sources[0].clusterTrustBundle | Required value: either name or signerName must be specified'],
    ],
    [
      'has certificates with signer, key and a place',
      { projected: { sources: [{ podCertificate: {} }] } },
      [
        'spec.volumes[0].projected.sources[0].podCertificate.signerName | Required value',
        'spec.volumes[0].projected.sources[0].podCertificate.keyType | Unsupported value: "": supported values: "RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"',
        'spec.volumes[0].projected.sources[0].podCertificate | Required value: specify at least one of credentialBundlePath, keyPath, and certificateChainPath',
      ],
    ],
  ])('%s', (_, given, findings) => expect(findingsOf({ volumes: [{ name: 'v', ...given }] })).toEqual(findings));
});

describe('what a volume tells of its pod', () => {
  test.each<[string, object, string[]]>([
    [
      'is a field or a resource',
      { downwardAPI: { items: [{ path: 'a' }] } },
      ['spec.volumes[0].downwardAPI | Required value: one of fieldRef and resourceFieldRef is required'],
    ],
    [
      'is not both',
      {
        downwardAPI: {
          items: [
            { path: 'e', fieldRef: { fieldPath: 'metadata.name' }, resourceFieldRef: { containerName: 'c', resource: 'limits.cpu' } },
          ],
        },
      },
      ['spec.volumes[0].downwardAPI | Invalid value: "resource": fieldRef and resourceFieldRef can not be specified simultaneously'],
    ],
    [
      'needs a path',
      { downwardAPI: { items: [{ path: '', fieldRef: { fieldPath: 'metadata.name' } }] } },
      ['spec.volumes[0].downwardAPI.path | Required value'],
    ],
    [
      'is no field of the spec',
      { downwardAPI: { items: [{ path: 'b', fieldRef: { fieldPath: 'spec.nodeName' } }] } },
      [
        'spec.volumes[0].downwardAPI.fieldRef.fieldPath | Unsupported value: "spec.nodeName": supported values: "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"',
      ],
    ],
    [
      'names the container of a resource',
      { downwardAPI: { items: [{ path: 'c', resourceFieldRef: { resource: 'limits.cpu' } }] } },
      ['spec.volumes[0].downwardAPI.resourceFieldRef.containerName | Required value'],
    ],
    [
      'is a known resource in a known unit',
      {
        downwardAPI: {
          items: [
            { path: 'c', resourceFieldRef: { containerName: 'c', resource: 'limits.foo' } },
            { path: 'd', resourceFieldRef: { containerName: 'c', resource: 'limits.cpu', divisor: '2' } },
          ],
        },
      },
      [
        'spec.volumes[0].downwardAPI.resourceFieldRef.resource | Unsupported value: "limits.foo": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"',
        'spec.volumes[0].downwardAPI.resourceFieldRef.divisor | Invalid value: "limits.cpu": only divisor\'s values 1m and 1 are supported with the cpu resource',
      ],
    ],
  ])('%s', (_, given, findings) => expect(findingsOf({ volumes: [{ name: 'v', ...given }] })).toEqual(findings));
});

describe('a container with volumes', () => {
  test.each<[string, object, string[]]>([
    [
      'mounts them somewhere',
      { volumeMounts: [{ name: 'v', mountPath: '' }] },
      ['spec.containers[0].volumeMounts[0].mountPath | Required value'],
    ],
    [
      'mounts only what there is',
      {
        volumeMounts: [
          { name: 'x', mountPath: '/a' },
          { name: '', mountPath: '/h' },
        ],
      },
      [
        'spec.containers[0].volumeMounts[0].name | Not found: "x"',
        'spec.containers[0].volumeMounts[1].name | Required value',
        'spec.containers[0].volumeMounts[1].name | Not found: ""',
      ],
    ],
    [
      'mounts one at each place',
      {
        volumeMounts: [
          { name: 'v', mountPath: '/a' },
          { name: 'v', mountPath: '/a' },
        ],
      },
      ['spec.containers[0].volumeMounts[1].mountPath | Invalid value: "/a": must be unique'],
    ],
    [
      'mounts parts of them from below',
      {
        volumeMounts: [
          { name: 'v', mountPath: '/a', subPath: '/x' },
          { name: 'v', mountPath: '/d', subPath: 'a', subPathExpr: 'b' },
        ],
      },
      [
        'spec.containers[0].volumeMounts.subPath | Invalid value: "/x": must be a relative path',
        'spec.containers[0].volumeMounts[1].subPathExpr | Invalid value: "b": subPathExpr and subPath are mutually exclusive',
      ],
    ],
    [
      'shares mounts in known ways, and with the host only when privileged',
      {
        volumeMounts: [
          { name: 'v', mountPath: '/e', mountPropagation: 'X' },
          { name: 'v', mountPath: '/f', mountPropagation: 'Bidirectional' },
        ],
      },
      [
        'spec.containers[0].volumeMounts.mountPropagation | Unsupported value: "X": supported values: "Bidirectional", "HostToContainer", "None"',
        'spec.containers[0].volumeMounts.mountPropagation | Forbidden: Bidirectional mount propagation is available only to privileged containers',
      ],
    ],
    [
      'mounts deeply read-only what is read-only',
      { volumeMounts: [{ name: 'v', mountPath: '/g', recursiveReadOnly: 'Enabled' }] },
      ['spec.containers[0].volumeMounts.recursiveReadOnly | Forbidden: may only be specified when readOnly is true'],
    ],
    [
      'has claims for devices, and nothing else',
      { volumeDevices: [{ name: 'v', devicePath: '/dev/a' }] },
      [
        'spec.containers[0].volumeDevices[0].name | Invalid value: "v": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
      ],
    ],
    [
      'has each device once, at a path that does not climb',
      {
        volumeDevices: [
          { name: 'b', devicePath: '' },
          { name: 'b', devicePath: '/a/../b' },
        ],
      },
      [
        'spec.containers[0].volumeDevices[0].devicePath | Required value',
        'spec.containers[0].volumeDevices[1].name | Invalid value: "b": must be unique',
        'spec.containers[0].volumeDevices[1].devicePath | Invalid value: "/a/../b": can not contain backsteps (\'..\')',
      ],
    ],
    [
      'has a claim as device or as mount',
      { volumeMounts: [{ name: 'b', mountPath: '/dev/x' }], volumeDevices: [{ name: 'b', devicePath: '/dev/x' }] },
      [
        'spec.containers[0].volumeMounts[0].name | Invalid value: "b": must not already exist in volumeDevices',
        'spec.containers[0].volumeMounts[0].mountPath | Invalid value: "/dev/x": must not already exist as a path in volumeDevices',
        'spec.containers[0].volumeDevices[0].name | Invalid value: "b": must not already exist in volumeMounts',
        'spec.containers[0].volumeDevices[0].devicePath | Invalid value: "/dev/x": must not already exist as a path in volumeMounts',
      ],
    ],
  ])('%s', (_, given, findings) => expect(findingsOf({ ...twoVolumes, containers: [{ ...container, ...given }] })).toEqual(findings));
});
