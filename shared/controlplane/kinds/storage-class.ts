import type { V1StorageClass } from '@kubernetes/client-node';
import type { Wire } from '../../api/kubernetes.ts';
import { duplicate, invalid, required, tooLong, type FieldError } from '../apimachinery/field-error.ts';
import { labelValueProblems, qualifiedNameProblems } from '../../kube/name-formats.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { subdomainName, validateObjectMeta, validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import type { ResourceStrategy } from '../resources/strategy.ts';
import { ageOf } from './age.ts';
import { validateChoice, validateFormat, validateOptionalChoice } from './choice-validation.ts';
import type { Decoded } from './decoded.ts';
import { validateImmutable } from './immutable-field.ts';
import { AGE_COLUMN, NAME_COLUMN, column } from './table-columns.ts';

type DecodedClass = AnyObject & Omit<Decoded<Wire<V1StorageClass>>, 'metadata'>;
/** The registry hands this strategy decoded StorageClasses only. */
const asClass = (object: AnyObject): DecodedClass => object as DecodedClass;

const PARAMETERS_MAX = 512;
const PARAMETERS_MAX_BYTES = 256 * 1024;

/** storage.k8s.io/v1 StorageClass: kept and checked; nobody provisions a volume here. */
export const storageClassStrategy: ResourceStrategy = {
  applyDefaults: (object) => {
    const storageClass = asClass(object);
    storageClass.reclaimPolicy ??= 'Delete';
    storageClass.volumeBindingMode ??= 'Immediate';
  },
  validateCreate: (object) => validateClass(asClass(object)),
  validateUpdate: (object, stored) => {
    const [next, previous] = [asClass(object), asClass(stored)];
    return [
      ...validateClass(next),
      ...validateObjectMetaUpdate(next.metadata, previous.metadata),
      ...(['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'] as const).flatMap((field) =>
        validateImmutable(next[field], previous[field], field),
      ),
    ];
  },
  table: {
    columns: [
      NAME_COLUMN,
      column('Provisioner', 'provisioner indicates the type of the provisioner.'),
      column(
        'ReclaimPolicy',
        'reclaimPolicy controls the reclaimPolicy for dynamically provisioned PersistentVolumes of this storage class. Defaults to Delete.',
      ),
      column(
        'VolumeBindingMode',
        'volumeBindingMode indicates how PersistentVolumeClaims should be provisioned and bound.  When unset, VolumeBindingImmediate is used. This field is only honored by servers that enable the VolumeScheduling feature.',
      ),
      column('AllowVolumeExpansion', 'allowVolumeExpansion shows whether the storage class allow volume expand.'),
      AGE_COLUMN,
    ],
    cells: (object, now) => {
      const { metadata, provisioner = '', reclaimPolicy = '', volumeBindingMode = '', allowVolumeExpansion = false } = asClass(object);
      const isDefault = metadata.annotations?.['storageclass.kubernetes.io/is-default-class'] === 'true';
      const name = isDefault ? `${metadata.name} (default)` : metadata.name;
      return [name, provisioner, reclaimPolicy, volumeBindingMode, allowVolumeExpansion, ageOf(metadata.creationTimestamp, now)];
    },
  },
};

const validateClass = ({
  metadata,
  provisioner = '',
  parameters = {},
  reclaimPolicy,
  volumeBindingMode = '',
  allowedTopologies = [],
}: DecodedClass): FieldError[] => [
  ...validateObjectMeta(metadata, false, subdomainName),
  ...(provisioner === '' ? [required('provisioner')] : validateFormat(provisioner.toLowerCase(), 'provisioner', qualifiedNameProblems)),
  ...validateParameters(parameters),
  ...validateOptionalChoice(reclaimPolicy, 'reclaimPolicy', ['Delete', 'Retain']),
  ...validateChoice(volumeBindingMode, 'volumeBindingMode', ['Immediate', 'WaitForFirstConsumer']),
  ...validateTopologies(allowedTopologies),
];

function validateParameters(parameters: Readonly<Record<string, string>>): FieldError[] {
  const entries = Object.entries(parameters);
  if (entries.length > PARAMETERS_MAX) return [tooLong('parameters', PARAMETERS_MAX)];
  const bytes = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  return [
    ...entries.flatMap(([key]) => (key === '' ? [invalid('parameters', key, 'field can not be empty.')] : [])),
    ...(bytes > PARAMETERS_MAX_BYTES ? [tooLong('parameters', PARAMETERS_MAX_BYTES)] : []),
  ];
}

type Topology = NonNullable<DecodedClass['allowedTopologies']>[number];

/** ValidateTopologySelectorTerm, and no term twice. */
function validateTopologies(terms: readonly Topology[]): FieldError[] {
  const seen = new Set<string>();
  return terms.flatMap(({ matchLabelExpressions = [] }, i) => {
    const path = `allowedTopologies[${i}].matchLabelExpressions`;
    const keys = new Set<string>();
    const errors = matchLabelExpressions.flatMap(({ key = '', values = [] }, j): FieldError[] => {
      const found = [
        ...(values.length === 0 ? [required(`${path}[${j}].values`)] : []),
        ...values.flatMap((value, k) => [
          ...(values.indexOf(value) < k ? [duplicate(`${path}[${j}].values[${k}]`, value)] : []),
          ...validateFormat(value, `${path}[${j}].values[${k}]`, labelValueProblems),
        ]),
        ...validateFormat(key, `${path}[${j}].key`, qualifiedNameProblems),
        ...(keys.has(key) ? [duplicate(`${path}[${j}].key`, key)] : []),
      ];
      keys.add(key);
      return found;
    });
    const same = matchLabelExpressions
      .map(({ key, values = [] }) => JSON.stringify([key, ...[...values].sort()]))
      .sort()
      .join('\n');
    if (seen.has(same)) errors.push(duplicate(path, ''));
    seen.add(same);
    return errors;
  });
}
