import { describe, expect, test } from 'vitest';
import { csiDriverStrategy } from '../../../../../shared/controlplane/kinds/csi-driver.ts';
import { driveKind } from '../../../../support/kind-driver.ts';

const drivers = driveKind(csiDriverStrategy, '');
const disk = (spec: object = {}): object => ({ metadata: { name: 'disk.example.com' }, spec });

describe('a CSIDriver', () => {
  test('attaches persistent volumes unless it says otherwise', () => {
    const { object, findings } = drivers.create(disk({ preventPodSchedulingIfMissing: true }));
    expect(findings).toEqual([]);
    expect(object['spec']).toEqual({
      attachRequired: true,
      podInfoOnMount: false,
      storageCapacity: false,
      fsGroupPolicy: 'ReadWriteOnceWithFSType',
      volumeLifecycleModes: ['Persistent'],
      requiresRepublish: false,
      seLinuxMount: false,
    });
  });

  test.each([
    [
      { fsGroupPolicy: 'All' },
      'spec.fsGroupPolicy | Unsupported value: "All": supported values: "File", "None", "ReadWriteOnceWithFSType"',
    ],
    [
      { volumeLifecycleModes: ['Once'] },
      'spec.volumeLifecycleModes | Unsupported value: "Once": supported values: "Persistent", "Ephemeral"',
    ],
    [{ tokenRequests: [{ audience: 'a' }, { audience: 'a' }] }, 'spec.tokenRequests[1].audience | Duplicate value: "a"'],
    [
      { tokenRequests: [{ audience: 'a', expirationSeconds: 599 }] },
      'spec.tokenRequests[0].expirationSeconds | Invalid value: 599: may not specify a duration less than 10 minutes',
    ],
    [
      { nodeAllocatableUpdatePeriodSeconds: 9 },
      'spec.nodeAllocatableUpdatePeriodSeconds | Invalid value: 9: must be greater than or equal to 10 seconds',
    ],
    [
      { serviceAccountTokenInSecrets: true },
      'spec.serviceAccountTokenInSecrets | Invalid value: true: serviceAccountTokenInSecrets is set but no tokenRequests are specified',
    ],
  ])('with %j is refused', (spec, finding) => {
    expect(drivers.create(disk(spec)).findings).toEqual([finding]);
  });

  test('may learn to report capacity, but not to attach', () => {
    const { object } = drivers.create(disk());
    const update = (change: object) =>
      drivers.update(object, (next) => {
        Object.assign(next['spec'] as object, change);
      });
    expect(update({ storageCapacity: true }).findings).toEqual([]);
    expect(update({ attachRequired: false }).findings).toEqual(['spec.attachedRequired | Invalid value: false: field is immutable']);
  });
});
