import type { V1VolumeAttachmentSpec, V1VolumeAttachmentStatus } from '@kubernetes/client-node';
import type { Wire } from '../../api/kubernetes.ts';
import { forbidden, required, type FieldError } from '../apimachinery/field-error.ts';
import { dns1123SubdomainProblems } from '../../kube/name-formats.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { subdomainName, validateObjectMeta, validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import type { ResourceStrategy } from '../resources/strategy.ts';
import { ageOf } from './age.ts';
import { validateFormat } from './choice-validation.ts';
import type { Decoded } from './decoded.ts';
import { restore } from './generation.ts';
import { validateImmutable } from './immutable-field.ts';
import { validateDriverName, validateInlineVolumeSpec } from './persistent-volume.ts';
import { AGE_COLUMN, NAME_COLUMN, column } from './table-columns.ts';
import { uncheckedStatus } from './unchecked-status.ts';

type DecodedSpec = Decoded<Wire<V1VolumeAttachmentSpec>>;
type DecodedAttachment = AnyObject & { spec?: DecodedSpec | undefined; status?: Decoded<Wire<V1VolumeAttachmentStatus>> | undefined };
/** The registry hands this strategy decoded VolumeAttachments only. */
const asAttachment = (object: AnyObject): DecodedAttachment => object as DecodedAttachment;

/** storage.k8s.io/v1 VolumeAttachment: what a driver is asked to attach to a node; there is none here. */
export const volumeAttachmentStrategy: ResourceStrategy = {
  prepareForCreate: (object) => {
    object['status'] = { attached: false };
  },
  validateCreate: (object) => validateAttachment(asAttachment(object)),
  prepareForUpdate: (next, previous) => restore(next, previous, 'status'),
  validateUpdate: (next, previous) => [
    ...validateObjectMetaUpdate(next.metadata, previous.metadata),
    ...validateAttachment(asAttachment(next)),
    ...validateImmutable(asAttachment(next).spec, asAttachment(previous).spec, 'spec'),
  ],
  status: uncheckedStatus,
  forbidUnconditionalUpdate: true,
  table: {
    columns: [
      NAME_COLUMN,
      column('Attacher', 'attacher indicates the name of the volume driver that MUST handle this request.'),
      column('PV', 'persistentVolumeName represents the name of the persistent volume to attach.'),
      column('Node', 'nodeName represents the node that the volume should be attached to.'),
      column('Attached', 'attached indicates the volume is successfully attached.', { type: 'boolean' }),
      AGE_COLUMN,
    ],
    cells: (object, now) => {
      const { metadata, spec = {}, status = {} } = asAttachment(object);
      return [
        metadata.name,
        spec.attacher ?? '',
        spec.source?.persistentVolumeName ?? '',
        spec.nodeName ?? '',
        status.attached ?? false,
        ageOf(metadata.creationTimestamp, now),
      ];
    },
  },
};

const validateAttachment = ({ metadata, spec = {} }: DecodedAttachment): FieldError[] => [
  ...validateObjectMeta(metadata, false, subdomainName),
  ...validateDriverName(spec.attacher ?? '', 'spec.attacher'),
  ...validateSource(spec.source ?? {}, 'spec.source'),
  ...validateFormat(spec.nodeName ?? '', 'spec.nodeName', dns1123SubdomainProblems),
];

const ONE_SOURCE = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';

function validateSource({ inlineVolumeSpec, persistentVolumeName }: NonNullable<DecodedSpec['source']>, path: string): FieldError[] {
  if (inlineVolumeSpec !== undefined && persistentVolumeName !== undefined) return [forbidden(path, ONE_SOURCE)];
  if (inlineVolumeSpec !== undefined) return validateInlineVolumeSpec(inlineVolumeSpec, `${path}.inlineVolumeSpec`);
  if (persistentVolumeName === undefined) return [required(path, ONE_SOURCE)];
  return persistentVolumeName === ''
    ? [required(`${path}.persistentVolumeName`, 'must specify non empty persistentVolumeName')]
    : validateFormat(persistentVolumeName, `${path}.persistentVolumeName`, dns1123SubdomainProblems);
}
