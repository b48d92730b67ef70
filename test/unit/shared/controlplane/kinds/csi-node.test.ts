import { describe, expect, test } from 'vitest';
import { csiNodeStrategy } from '../../../../../shared/controlplane/kinds/csi-node.ts';
import { driveKind } from '../../../../support/kind-driver.ts';

const nodes = driveKind(csiNodeStrategy, '');
const driver = (parts: object = {}): object => ({ name: 'disk.example.com', nodeID: 'i-1', ...parts });
const node = (...drivers: object[]): object => ({ metadata: { name: 'node-1' }, spec: { drivers } });

describe('a CSINode', () => {
  test('may have no driver yet', () => {
    expect(nodes.create(node()).findings).toEqual([]);
    expect(nodes.create(node(driver({ topologyKeys: ['example.com/zone'], allocatable: { count: 25 } }))).findings).toEqual([]);
  });

  test.each([
    [[driver({ name: '' })], 'spec.drivers[0].name | Required value'],
    [[driver({ nodeID: '' })], 'spec.drivers[0].nodeID | Required value'],
    [[driver({ nodeID: 'x'.repeat(257) })], `spec.drivers[0].nodeID | Invalid value: "${'x'.repeat(257)}": must be 256 characters or less`],
    [[driver({ allocatable: { count: -1 } })], 'spec.drivers[0].allocatable.count | Invalid value: -1: must be greater than or equal to 0'],
    [[driver({ topologyKeys: ['zone', 'zone'] })], 'spec.drivers[0] | Duplicate value: "zone"'],
    [[driver(), driver()], 'spec.drivers[1].name | Duplicate value: "disk.example.com"'],
  ])('with drivers %j is refused', (drivers, finding) => {
    expect(nodes.create(node(...drivers)).findings).toEqual([finding]);
  });

  test('may have room for more volumes later, and no other identity', () => {
    const { object } = nodes.create(node(driver({ allocatable: { count: 25 } })));
    const replace = (parts: object) =>
      nodes.update(object, (next) => {
        (next['spec'] as { drivers: object[] }).drivers = [driver(parts)];
      });
    expect(replace({ allocatable: { count: 30 } }).findings).toEqual([]);
    expect(replace({ nodeID: 'i-2' }).findings).toEqual([
      'spec.drivers | Invalid value: {"name":"disk.example.com","nodeID":"i-2"}: field is immutable',
    ]);
  });
});
