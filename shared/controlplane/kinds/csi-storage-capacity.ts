import type { V1CSIStorageCapacity } from '@kubernetes/client-node';
import type { Wire } from '../../api/kubernetes.ts';
import { parseQuantity } from '../../kube/quantity.ts';
import { invalid, type FieldError } from '../apimachinery/field-error.ts';
import { dns1123SubdomainProblems } from '../../kube/name-formats.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { subdomainName, validateObjectMeta, validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import type { ResourceStrategy } from '../resources/strategy.ts';
import { validateFormat } from './choice-validation.ts';
import type { Decoded } from './decoded.ts';
import { validateImmutable } from './immutable-field.ts';
import { validateLabelSelector } from './label-selector-validation.ts';
import { NAME_COLUMN, column } from './table-columns.ts';

type DecodedCapacity = AnyObject & Omit<Decoded<Wire<V1CSIStorageCapacity>>, 'metadata'>;
/** The registry hands this strategy decoded CSIStorageCapacities only. */
const asCapacity = (object: AnyObject): DecodedCapacity => object as DecodedCapacity;

/** storage.k8s.io/v1 CSIStorageCapacity: what a volume driver has left, in one part of a cluster. */
export const csiStorageCapacityStrategy: ResourceStrategy = {
  validateCreate: validateCapacity,
  validateUpdate: (object, stored) => {
    const [next, previous] = [asCapacity(object), asCapacity(stored)];
    return [
      ...validateCapacity(next),
      ...validateObjectMetaUpdate(next.metadata, previous.metadata),
      ...validateImmutable(next.nodeTopology, previous.nodeTopology, 'nodeTopology'),
      ...validateImmutable(next.storageClassName, previous.storageClassName, 'storageClassName'),
    ];
  },
  forbidUnconditionalUpdate: true,
  table: {
    columns: [
      NAME_COLUMN,
      column('StorageClassName', 'storageClassName represents the name of the StorageClass that the reported capacity applies to.'),
      column('Capacity', 'capacity is the value reported by the CSI driver in its GetCapacityResponse.'),
    ],
    cells: (object) => {
      const { metadata, storageClassName = '', capacity } = asCapacity(object);
      return [metadata.name, storageClassName, capacity ?? '<unset>'];
    },
  },
};

function validateCapacity(object: AnyObject): FieldError[] {
  const { metadata, nodeTopology, storageClassName = '', capacity } = asCapacity(object);
  return [
    ...validateObjectMeta(metadata, true, subdomainName),
    ...(nodeTopology === undefined ? [] : validateLabelSelector(nodeTopology, 'nodeTopology')),
    ...validateFormat(storageClassName, 'storageClassName', dns1123SubdomainProblems),
    ...(capacity !== undefined && parseQuantity(capacity).nanos < 0n
      ? [invalid('capacity', capacity, 'must be greater than or equal to 0')]
      : []),
  ];
}
