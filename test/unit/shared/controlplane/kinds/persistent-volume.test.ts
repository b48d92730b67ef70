import { describe, expect, test } from 'vitest';
import { persistentVolumeStrategy } from '../../../../../shared/controlplane/kinds/persistent-volume.ts';
import { driveKind } from '../../../../support/kind-driver.ts';

const volumes = driveKind(persistentVolumeStrategy, '');
const CSI = { driver: 'disk.example.com', volumeHandle: 'v1' };
const disk = (spec: object = {}): object => ({
  metadata: { name: 'disk' },
  spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce', 'ReadOnlyMany'], csi: CSI, ...spec },
});
const ON_ONE_NODE = {
  required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['n1'] }] }] },
};

describe('a PersistentVolume', () => {
  test('is retained, holds a file system, and waits, since it was made', () => {
    const { object, findings } = volumes.create(disk({ csi: undefined, hostPath: { path: '/data' } }));
    expect(findings).toEqual([]);
    expect(object).toMatchObject({
      spec: { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem', hostPath: { path: '/data', type: '' } },
      status: { phase: 'Pending', lastPhaseTransitionTime: '2026-01-01T00:00:00Z' },
    });
  });

  test('may be local where it says which nodes have it', () => {
    const local = { csi: undefined, local: { path: '/mnt/disk' } };
    expect(volumes.create(disk({ ...local, nodeAffinity: ON_ONE_NODE })).findings).toEqual([]);
    expect(volumes.create(disk(local)).findings).toEqual(['metadata.annotations | Required value: Local volume requires node affinity']);
  });

  test.each([
    [{ csi: undefined }, ['spec | Required value: must specify a volume type']],
    [{ nfs: { server: 's', path: '/x' } }, ['spec.nfs | Forbidden: may not specify more than 1 volume type']],
    [{ csi: { driver: 'disk.example.com' } }, ['spec.csi.volumeHandle | Required value']],
    [{ csi: undefined, nfs: { server: 's', path: 'x' } }, ['spec.nfs.path | Invalid value: "x": must be an absolute path']],
    [{ csi: undefined, hostPath: { path: '/a/../b' } }, ['spec.hostPath.path | Invalid value: "/a/../b": must not contain \'..\'']],
    [{ capacity: undefined }, ['spec.capacity | Required value']],
    [{ capacity: { storage: '0' } }, ['spec.capacity[storage] | Invalid value: "0": must be greater than zero']],
    [{ accessModes: [] }, ['spec.accessModes | Required value']],
    [
      { accessModes: ['ReadWriteOncePod', 'ReadOnlyMany'] },
      ['spec.accessModes | Forbidden: may not use ReadWriteOncePod with other access modes'],
    ],
    [
      { persistentVolumeReclaimPolicy: 'Keep' },
      ['spec.persistentVolumeReclaimPolicy | Unsupported value: "Keep": supported values: "Delete", "Recycle", "Retain"'],
    ],
    [
      { csi: undefined, hostPath: { path: '/' }, persistentVolumeReclaimPolicy: 'Recycle' },
      [`spec.persistentVolumeReclaimPolicy | Forbidden: may not be 'recycle' for a hostPath mount of '/'`],
    ],
    [{ volumeMode: 'Tape' }, ['spec.volumeMode | Unsupported value: "Tape": supported values: "Block", "Filesystem"']],
    [{ nodeAffinity: {} }, ['spec.nodeAffinity.required | Required value: must specify required node constraints']],
  ])('with %j is refused', (spec, findings) => {
    expect(volumes.create(disk(spec)).findings).toEqual(findings);
  });

  test('keeps its source and mode, and may be bound and grow', () => {
    const { object } = volumes.create(disk());
    const change = (parts: object): readonly string[] =>
      volumes.update(object, (next) => Object.assign(next['spec'] as object, parts)).findings;
    expect(change({ claimRef: { namespace: 'team', name: 'data' }, capacity: { storage: '2Gi' } })).toEqual([]);
    expect(change({ nodeAffinity: ON_ONE_NODE })).toEqual([]);
    expect(change({ csi: { ...CSI, volumeHandle: 'v2' } })).toEqual([
      'spec.persistentvolumesource | Forbidden: spec.persistentvolumesource is immutable after creation',
    ]);
    expect(change({ volumeMode: 'Block' })).toEqual(['volumeMode | Invalid value: "Block": field is immutable']);
  });

  test('says in its status what became of it, and in its row whose it is', () => {
    const { object } = volumes.create(disk({ claimRef: { namespace: 'team', name: 'data' }, storageClassName: 'fast' }));
    const bound = volumes.updateStatus(object, { phase: 'Bound' });
    expect(bound.findings).toEqual([]);
    expect(persistentVolumeStrategy.table?.cells(bound.object, Date.parse('2026-01-01T00:00:05Z'))).toEqual([
      'disk',
      '1Gi',
      'RWO,ROX',
      'Retain',
      'Bound',
      'team/data',
      'fast',
      '<unset>',
      '',
      '5s',
      'Filesystem',
    ]);
    bound.object.metadata.deletionTimestamp = '2026-01-01T00:00:05Z';
    expect(persistentVolumeStrategy.table?.cells(bound.object, 0)).toContain('Terminating');
  });
});
