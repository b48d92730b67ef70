import type { V1CSINodeSpec } from '@kubernetes/client-node';
import type { Wire } from '../../api/kubernetes.ts';
import { duplicate, invalid, required, type FieldError } from '../apimachinery/field-error.ts';
import { dns1123SubdomainProblems, qualifiedNameProblems } from '../../kube/name-formats.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { subdomainName, validateObjectMeta, validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import type { ResourceStrategy } from '../resources/strategy.ts';
import { ageOf } from './age.ts';
import { validateFormat } from './choice-validation.ts';
import type { Decoded } from './decoded.ts';
import { validateImmutable } from './immutable-field.ts';
import { validateNonNegative } from './number-validation.ts';
import { AGE_COLUMN, NAME_COLUMN, column } from './table-columns.ts';

type DecodedNode = AnyObject & { spec?: Decoded<Wire<V1CSINodeSpec>> | undefined };
type DecodedDriver = NonNullable<NonNullable<DecodedNode['spec']>['drivers']>[number];
/** The registry hands this strategy decoded CSINodes only. */
const asCsiNode = (object: AnyObject): DecodedNode => object as DecodedNode;

const driversOf = (object: AnyObject): readonly DecodedDriver[] => asCsiNode(object).spec?.drivers ?? [];

const NODE_ID_MAX = 256;

/** storage.k8s.io/v1 CSINode: the volume drivers of a node, as its kubelet tells. */
export const csiNodeStrategy: ResourceStrategy = {
  validateCreate: validateCsiNode,
  validateUpdate: (next, previous) => [
    ...validateCsiNode(next),
    ...validateObjectMetaUpdate(next.metadata, previous.metadata),
    // How many volumes fit may change; whatever else a driver says of a node stays until the driver is taken away.
    ...driversOf(previous).flatMap((before) =>
      driversOf(next)
        .filter(({ name }) => name === before.name)
        .flatMap((after) => validateImmutable(lasting(after), lasting(before), 'spec.drivers')),
    ),
  ],
  forbidUnconditionalUpdate: true,
  table: {
    columns: [
      NAME_COLUMN,
      column('Drivers', 'Drivers indicates the number of CSI drivers registered on the node', { type: 'integer' }),
      AGE_COLUMN,
    ],
    cells: (object, now) => [object.metadata.name, driversOf(object).length, ageOf(object.metadata.creationTimestamp, now)],
  },
};

function lasting(driver: DecodedDriver): DecodedDriver {
  const { allocatable: _, ...rest } = driver;
  return rest;
}

function validateCsiNode(object: AnyObject): FieldError[] {
  const drivers = driversOf(object);
  return [
    ...validateObjectMeta(object.metadata, false, subdomainName),
    ...drivers.flatMap((driver, i) => {
      const path = `spec.drivers[${i}]`;
      const isRepeated = drivers.findIndex(({ name }) => name === driver.name) < i;
      return [...validateDriver(driver, path), ...(isRepeated ? [duplicate(`${path}.name`, driver.name)] : [])];
    }),
  ];
}

function validateDriver({ name = '', nodeID = '', allocatable, topologyKeys = [] }: DecodedDriver, path: string): FieldError[] {
  return [
    ...(name === '' ? [required(`${path}.name`)] : validateFormat(name, `${path}.name`, dns1123SubdomainProblems)),
    ...(nodeID === '' ? [required(`${path}.nodeID`)] : []),
    ...(nodeID.length > NODE_ID_MAX ? [invalid(`${path}.nodeID`, nodeID, `must be ${NODE_ID_MAX} characters or less`)] : []),
    ...validateNonNegative(allocatable?.count, `${path}.allocatable.count`),
    ...topologyKeys.flatMap((key, i) => [
      ...(key === '' ? [required(path)] : []),
      ...(topologyKeys.indexOf(key) < i ? [duplicate(path, key)] : []),
      ...validateFormat(key, path, qualifiedNameProblems),
    ]),
  ];
}
