import { describe, expect, test } from 'vitest';
import { volumeAttachmentStrategy } from '../../../../../shared/controlplane/kinds/volume-attachment.ts';
import { driveKind } from '../../../../support/kind-driver.ts';

const attachments = driveKind(volumeAttachmentStrategy, '');
const attached = (spec: object = {}): object => ({
  metadata: { name: 'disk-on-n1' },
  spec: { attacher: 'disk.example.com', nodeName: 'n1', source: { persistentVolumeName: 'disk' }, ...spec },
});
const INLINE = { accessModes: ['ReadWriteOnce'], csi: { driver: 'disk.example.com', volumeHandle: 'v1' } };
const ONE_SOURCE = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';

describe('a VolumeAttachment', () => {
  test('is not attached before its driver says so, and shows it', () => {
    const { object, findings } = attachments.create({ ...attached(), status: { attached: true } });
    expect(findings).toEqual([]);
    expect(object['status']).toEqual({ attached: false });
    const { object: told } = attachments.updateStatus(object, { attached: true });
    expect(volumeAttachmentStrategy.table?.cells(told, Date.parse('2026-01-01T00:00:05Z'))).toEqual([
      'disk-on-n1',
      'disk.example.com',
      'disk',
      'n1',
      true,
      '5s',
    ]);
  });

  test.each([
    [{ attacher: '' }, ['spec.attacher | Required value']],
    [{ source: {} }, [`spec.source | Required value: ${ONE_SOURCE}`]],
    [{ source: { persistentVolumeName: 'disk', inlineVolumeSpec: INLINE } }, [`spec.source | Forbidden: ${ONE_SOURCE}`]],
    [
      { source: { persistentVolumeName: '' } },
      ['spec.source.persistentVolumeName | Required value: must specify non empty persistentVolumeName'],
    ],
    [{ source: { inlineVolumeSpec: INLINE } }, []],
    [
      { source: { inlineVolumeSpec: { ...INLINE, capacity: { storage: '1Gi' } } } },
      ['spec.source.inlineVolumeSpec.capacity | Forbidden: may not be specified in the context of inline volumes'],
    ],
  ])('with %j finds %j', (spec, findings) => {
    expect(attachments.create(attached(spec)).findings).toEqual(findings);
  });

  test('stays what it was made for', () => {
    const { object } = attachments.create(attached());
    const { findings } = attachments.update(object, (next) => Object.assign(next['spec'] as object, { nodeName: 'n2' }));
    expect(findings).toEqual([expect.stringMatching(/^spec \| Invalid value: .*: field is immutable$/)]);
  });
});
