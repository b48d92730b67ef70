import { describe, expect, test } from 'vitest';
import { validateClaimTemplate } from '../../../../../shared/controlplane/kinds/claim-template-validation.ts';
import type { DecodedVolume } from '../../../../../shared/controlplane/kinds/decoded.ts';
import {
  validateDownwardFile,
  validateKeyToPath,
  validateMode,
} from '../../../../../shared/controlplane/kinds/file-projection-validation.ts';
import { validateProjected } from '../../../../../shared/controlplane/kinds/projected-volume-validation.ts';
import { VOLUME_SOURCES } from '../../../../../shared/controlplane/kinds/volume-source-validation.ts';
import { validateVolumes } from '../../../../../shared/controlplane/kinds/volume-validation.ts';
import { volumeWarnings } from '../../../../../shared/controlplane/kinds/volume-warnings.ts';
import { told } from './findings.ts';

const volumes = (list: readonly DecodedVolume[], podName = '') => validateVolumes(list, 'v', { podName });
const found = (...list: DecodedVolume[]) => told(volumes(list).errors);
const source = (parts: DecodedVolume) => found({ name: 'a', ...parts });

describe('volumes', () => {
  test('have a name of their own and one source', () => {
    expect(found({ name: 'a', emptyDir: {} }, { name: 'b', hostPath: { path: '/x' } })).toEqual([]);
    expect(found({ emptyDir: {} })).toEqual(['v[0].name | Required value']);
    expect(found({ name: 'a' })).toEqual(['v[0] | Required value: must specify a volume type']);
    expect(found({ name: 'a', emptyDir: {} }, { name: 'a', emptyDir: {} })).toEqual(['v[1].name | Duplicate value: "a"']);
    expect(found({ name: 'a', emptyDir: {}, secret: { secretName: 's' } })).toEqual([
      'v[0].secret | Forbidden: may not specify more than 1 volume type',
    ]);
  });

  test('can be mounted where nothing is wrong with them', () => {
    expect([...volumes([{ name: 'a', emptyDir: {} }, { name: 'b' }, { name: 'a', emptyDir: {} }]).valid.keys()]).toEqual(['a']);
  });

  test('do not use the claims that are made for others', () => {
    const ephemeral = {
      name: 'e',
      ephemeral: { volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } } },
    };
    const claim = { name: 'c', persistentVolumeClaim: { claimName: 'pod-e' } };
    expect(told(volumes([ephemeral, claim], 'pod').errors)).toEqual([
      'v[1].persistentVolumeClaim.claimName | Invalid value: "pod-e": must not reference a PVC that gets created for an ephemeral volume',
    ]);
    expect(told(volumes([ephemeral, claim]).errors)).toEqual([]);
    expect(told(volumes([{ ...ephemeral, name: 'e'.repeat(63) }], 'p'.repeat(200)).errors)).toEqual([
      expect.stringMatching(/^v\[0\]\.name \| .*: PVC name "p+-e+": must be no more than 253 characters$/),
    ]);
  });
});

describe('a source', () => {
  test('of every kind is looked for once', () => {
    const fields = VOLUME_SOURCES.map(({ field }) => field);
    expect(new Set(fields).size).toBe(fields.length);
  });

  test.each<[DecodedVolume, string[]]>([
    [{ emptyDir: { sizeLimit: '-1' } }, ['v[0].emptyDir.sizeLimit | Forbidden: SizeLimit field must be a valid resource quantity']],
    [{ hostPath: { path: '/a/../b' } }, [`v[0].hostPath.path | Invalid value: "/a/../b": must not contain '..'`]],
    [{ hostPath: {} }, ['v[0].hostPath.path | Required value']],
    [{ secret: {} }, ['v[0].secret.secretName | Required value']],
    [
      { secret: { secretName: 's', defaultMode: 0o1000 } },
      ['v[0].secret.defaultMode | Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive'],
    ],
    [{ configMap: { name: 'c', items: [{ key: 'k' }] } }, ['v[0].configMap.items[0].path | Required value']],
    [{ persistentVolumeClaim: {} }, ['v[0].persistentVolumeClaim.claimName | Required value']],
    [{ nfs: { server: 's', path: 'a' } }, ['v[0].nfs.path | Invalid value: "a": must be an absolute path']],
    [
      { iscsi: { targetPortal: 't', iqn: 'x', lun: 0 } },
      ['v[0].iscsi.iqn | Invalid value: "x": must be valid format starting with iqn, eui, or naa'],
    ],
    [
      { iscsi: { targetPortal: 't', iqn: 'iqn.2026-01.com.example:disk', lun: 256 } },
      ['v[0].iscsi.lun | Invalid value: 256: must be between 0 and 255, inclusive'],
    ],
    [{ fc: {} }, ['v[0].fc.targetWWNs | Required value: must specify either targetWWNs or wwids, but not both']],
    [
      { flexVolume: { driver: 'd', options: { 'a.kubernetes.io/x': '1' } } },
      ['v[0].flexVolume.options[a.kubernetes.io/x] | Invalid value: "a.kubernetes.io/x": kubernetes.io and k8s.io namespaces are reserved'],
    ],
    [
      { csi: {} },
      [
        'v[0].csi.driver | Required value',
        expect.stringContaining('v[0].csi.driver | Invalid value: "": a lowercase RFC 1123 subdomain') as string,
      ],
    ],
    [{ image: { pullPolicy: 'Always' } }, ['v[0].image.reference | Required value']],
    [{ ephemeral: {} }, ['v[0].ephemeral.volumeClaimTemplate | Required value']],
    [
      { gcePersistentDisk: { partition: 256 } },
      [
        'v[0].persistentDisk.pdName | Required value',
        'v[0].persistentDisk.partition | Invalid value: 256: must be between 1 and 255, inclusive',
      ],
    ],
    [
      { flocker: { datasetName: 'a', datasetUUID: 'b' } },
      ['v[0].flocker | Invalid value: "resource": datasetName and datasetUUID can not be specified simultaneously'],
    ],
    [
      { azureDisk: { diskName: 'd', diskURI: 'x', kind: 'Managed' } },
      [expect.stringMatching(/^v\[0\]\.azureDisk\.diskURI \| Unsupported value: "x": supported values: "\/subscriptions/) as string],
    ],
    [
      { quobyte: { registry: 'host', volume: 'v' } },
      ['v[0].quobyte.registry | Invalid value: "host": must be a host:port pair or multiple pairs separated by commas'],
    ],
    [{ rbd: { image: 'i' } }, ['v[0].rbd.monitors | Required value']],
  ])('is judged: %j', (parts, findings) => {
    expect(source(parts)).toEqual(findings);
  });

  test.each<[DecodedVolume]>([
    [{ emptyDir: { sizeLimit: '1Gi' } }],
    [{ nfs: { server: 's', path: '/' } }],
    [{ csi: { driver: 'CSI.example.com' } }],
    [{ fc: { targetWWNs: ['w'], lun: 0 } }],
    [{ iscsi: { targetPortal: 't', iqn: 'eui.0123456789abcdef', lun: 0 } }],
    [{ quobyte: { registry: 'a:1,[::1]:2', volume: 'v' } }],
    [{ image: { reference: 'r', pullPolicy: 'Never' } }],
  ])('is right: %j', (parts) => {
    expect(source(parts)).toEqual([]);
  });
});

describe('a file in a volume', () => {
  test.each<[number | undefined, boolean]>([
    [undefined, true],
    [0, true],
    [0o777, true],
    [0o1000, false],
    [-1, false],
  ])('of mode %j', (mode, right) => {
    expect(validateMode(mode, 'm').length === 0).toBe(right);
  });
  test('has a key and a path below the volume', () => {
    expect(told(validateKeyToPath({ key: 'k', path: 'a/b' }, 'f'))).toEqual([]);
    expect(told(validateKeyToPath({}, 'f'))).toEqual(['f.key | Required value', 'f.path | Required value']);
    expect(told(validateKeyToPath({ key: 'k', path: '..a' }, 'f'))).toEqual([`f.path | Invalid value: "..a": must not start with '..'`]);
  });
  test('about the pod comes from one place', () => {
    const fieldRef = { apiVersion: 'v1', fieldPath: 'metadata.name' };
    const resourceFieldRef = { containerName: 'c', resource: 'limits.cpu' };
    expect(told(validateDownwardFile({ path: 'a', fieldRef }, 'f'))).toEqual([]);
    expect(told(validateDownwardFile({ path: 'a', resourceFieldRef }, 'f'))).toEqual([]);
    expect(told(validateDownwardFile({ path: 'a' }, 'f'))).toEqual([
      'f | Required value: one of fieldRef and resourceFieldRef is required',
    ]);
    expect(told(validateDownwardFile({ path: 'a', fieldRef, resourceFieldRef }, 'f'))).toEqual([
      'f | Invalid value: "resource": fieldRef and resourceFieldRef can not be specified simultaneously',
    ]);
    expect(told(validateDownwardFile({ path: 'a', fieldRef: { apiVersion: 'v1', fieldPath: 'spec.nodeName' } }, 'f'))).toHaveLength(1);
  });
});

describe('a projected volume', () => {
  type Projected = Parameters<typeof validateProjected>[0];
  const projected = (...sources: NonNullable<Projected['sources']>) => told(validateProjected({ sources }, 'p'));
  test('has different files from its sources', () => {
    const items = [{ key: 'k', path: 'a' }];
    expect(projected({ secret: { name: 's', items } }, { configMap: { name: 'c', items: [{ key: 'k', path: 'b' }] } })).toEqual([]);
    expect(projected({ secret: { name: 's', items } }, { configMap: { name: 'c', items } })).toEqual([
      'p | Invalid value: "c": conflicting duplicate paths',
    ]);
  });
  test.each<[NonNullable<Projected['sources']>[number], string[]]>([
    [{ serviceAccountToken: { expirationSeconds: 600, path: 't' } }, []],
    [
      { serviceAccountToken: { expirationSeconds: 599, path: 't' } },
      ['p.sources[0].serviceAccountToken.expirationSeconds | Invalid value: 599: may not specify a duration less than 10 minutes'],
    ],
    [{ serviceAccountToken: { expirationSeconds: 600 } }, ['p.path | Required value']],
    [{ secret: { name: 's' }, configMap: { name: 'c' } }, ['p.sources[0] | Forbidden: may not specify more than 1 volume type per source']],
    [
      { clusterTrustBundle: { path: 'a' } },
      ['p.sources[0].clusterTrustBundle | Required value: either name or signerName must be specified'],
    ],
    [{ clusterTrustBundle: { path: 'a', signerName: 'example.com/s' } }, []],
    [{ podCertificate: { signerName: 'example.com/s', keyType: 'ED25519', keyPath: 'k' } }, []],
    [
      { podCertificate: { signerName: 'example.com/s', keyType: 'ED25519' } },
      ['p.sources[0].podCertificate | Required value: specify at least one of credentialBundlePath, keyPath, and certificateChainPath'],
    ],
    [
      { podCertificate: { signerName: 'kubernetes.io/s', keyType: 'ED25519', keyPath: 'k', maxExpirationSeconds: 86_401 } },
      ['p.sources[0].podCertificate.maxExpirationSeconds | Invalid value: 86401: if provided, maxExpirationSeconds must be <= 86400'],
    ],
  ])('is judged: %j', (each, findings) => {
    expect(projected(each)).toEqual(findings.map((finding) => finding));
  });
});

describe('the template of a claim', () => {
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  const template = (parts: Parameters<typeof validateClaimTemplate>[0]) => told(validateClaimTemplate(parts, 't'));
  test.each<[Parameters<typeof validateClaimTemplate>[0], string[]]>([
    [{ metadata: { labels: { a: 'b' } }, spec }, []],
    [{ metadata: { name: 'x' }, spec }, ['t.metadata.name | Forbidden: cannot be set']],
    [
      { spec: {} },
      ['t.spec.accessModes | Required value: at least 1 access mode is required', 't.spec.resources[storage] | Required value'],
    ],
    [
      { spec: { ...spec, accessModes: ['ReadWriteOncePod', 'ReadOnlyMany'] } },
      ['t.spec.accessModes | Forbidden: may not use ReadWriteOncePod with other access modes'],
    ],
    [
      { spec: { ...spec, resources: { requests: { storage: '0' } } } },
      ['t.spec.resources[storage] | Invalid value: "0": must be greater than zero'],
    ],
    [{ spec: { ...spec, volumeMode: 'Tape' } }, ['t.spec.volumeMode | Unsupported value: "Tape": supported values: "Block", "Filesystem"']],
  ])('is judged: %j', (parts, findings) => {
    expect(template(parts)).toEqual(findings);
  });
});

describe('warnings of volumes', () => {
  test('tell what has become of plugins', () => {
    expect(
      volumeWarnings(
        [
          { name: 'a', emptyDir: {} },
          { name: 'b', gitRepo: { repository: 'r' } },
          { name: 'c', storageos: {} },
        ],
        'v',
      ),
    ).toEqual(['v[1].gitRepo: deprecated in v1.11', 'v[2].storageOS: deprecated in v1.22, non-functional in v1.25+']);
  });
  test('tell of files that take the place of a token', () => {
    const sources = [
      { serviceAccountToken: { path: 'token' } },
      {
        secret: {
          items: [
            { key: 'a', path: 'other' },
            { key: 'b', path: 'token' },
          ],
        },
      },
    ];
    expect(volumeWarnings([{ name: 'a', projected: { sources } }], 'v')).toEqual([
      'v[0].projected.sources.secrets[1]: has duplicated path with ServiceAccountToken "token"',
    ]);
  });
});
