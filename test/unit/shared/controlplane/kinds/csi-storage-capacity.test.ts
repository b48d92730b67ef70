import { describe, expect, test } from 'vitest';
import { csiStorageCapacityStrategy } from '../../../../../shared/controlplane/kinds/csi-storage-capacity.ts';
import { driveKind } from '../../../../support/kind-driver.ts';

const capacities = driveKind(csiStorageCapacityStrategy);
const zone = (parts: object = {}): object => ({
  metadata: { name: 'zone-a' },
  storageClassName: 'fast',
  nodeTopology: { matchLabels: { zone: 'a' } },
  capacity: '100Gi',
  ...parts,
});

describe('a CSIStorageCapacity', () => {
  test.each([
    [{}, []],
    [{ capacity: undefined }, []],
    [{ capacity: '-1' }, ['capacity | Invalid value: "-1": must be greater than or equal to 0']],
    [
      { nodeTopology: { matchExpressions: [{ key: 'zone', operator: 'Near' }] } },
      ['nodeTopology.matchExpressions[0].operator | Invalid value: "Near": not a valid selector operator'],
    ],
  ])('with %j has %j', (parts, findings) => {
    expect(capacities.create(zone(parts)).findings).toEqual(findings);
  });

  test('shrinks as volumes are made, and stays where it is', () => {
    const { object } = capacities.create(zone());
    expect(
      capacities.update(object, (next) => {
        next['capacity'] = '90Gi';
      }).findings,
    ).toEqual([]);
    expect(
      capacities.update(object, (next) => {
        next['storageClassName'] = 'slow';
      }).findings,
    ).toEqual(['storageClassName | Invalid value: "slow": field is immutable']);
  });
});
