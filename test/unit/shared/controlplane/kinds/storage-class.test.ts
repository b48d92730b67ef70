import { describe, expect, test } from 'vitest';
import { storageClassStrategy } from '../../../../../shared/controlplane/kinds/storage-class.ts';
import { driveKind } from '../../../../support/kind-driver.ts';

const classes = driveKind(storageClassStrategy, '');
const fast = (parts: object = {}): object => ({ metadata: { name: 'fast' }, provisioner: 'disk.example.com', ...parts });

describe('a StorageClass', () => {
  test('deletes volumes with their claims, and binds at once', () => {
    const { object, findings } = classes.create(fast());
    expect(findings).toEqual([]);
    expect(object).toMatchObject({ reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' });
  });

  test('that is the default says so by its name', () => {
    const { object } = classes.create(fast());
    object.metadata.annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
    expect(storageClassStrategy.table?.cells(object, 0).slice(0, 5)).toEqual([
      'fast (default)',
      'disk.example.com',
      'Delete',
      'Immediate',
      false,
    ]);
  });

  const zone = (values: readonly string[]) => ({ matchLabelExpressions: [{ key: 'zone', values }] });
  test.each([
    [{ provisioner: '' }, ['provisioner | Required value']],
    [{ reclaimPolicy: 'Recycle' }, ['reclaimPolicy | Unsupported value: "Recycle": supported values: "Delete", "Retain"']],
    [
      { volumeBindingMode: 'Later' },
      ['volumeBindingMode | Unsupported value: "Later": supported values: "Immediate", "WaitForFirstConsumer"'],
    ],
    [{ parameters: { '': 'x' } }, ['parameters | Invalid value: "": field can not be empty.']],
    [{ parameters: { big: 'x'.repeat(256 * 1024) } }, ['parameters | Too long: may not be more than 262144 bytes']],
    [{ allowedTopologies: [zone([])] }, ['allowedTopologies[0].matchLabelExpressions[0].values | Required value']],
    [{ allowedTopologies: [zone(['a', 'a'])] }, ['allowedTopologies[0].matchLabelExpressions[0].values[1] | Duplicate value: "a"']],
    [{ allowedTopologies: [zone(['a', 'b']), zone(['b', 'a'])] }, ['allowedTopologies[1].matchLabelExpressions | Duplicate value: ""']],
  ])('with %j is refused', (parts, findings) => {
    expect(classes.create(fast(parts)).findings).toEqual(findings);
  });

  test('keeps its provisioner and parameters, and may allow expansion later', () => {
    const { object } = classes.create(fast({ parameters: { type: 'ssd' } }));
    expect(
      classes.update(object, (next) => {
        next['allowVolumeExpansion'] = true;
      }).findings,
    ).toEqual([]);
    expect(
      classes.update(object, (next) => {
        next['provisioner'] = 'other.example.com';
        delete next['parameters'];
      }).findings,
    ).toEqual([
      'parameters | Invalid value: null: field is immutable',
      'provisioner | Invalid value: "other.example.com": field is immutable',
    ]);
  });
});
