import type { V1RuntimeClass } from '@kubernetes/client-node';
import type { Wire } from '../../api/kubernetes.ts';
import { duplicate, invalid, required, type FieldError } from '../apimachinery/field-error.ts';
import { dns1123LabelProblems } from '../../kube/name-formats.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import type { ResourceStrategy } from '../resources/strategy.ts';
import { ageOf } from './age.ts';
import { validateFormat } from './choice-validation.ts';
import { subdomainName, validateLabels, validateObjectMeta, validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import { validateOverhead } from './container-resources-validation.ts';
import type { Decoded } from './decoded.ts';
import { validateTolerations } from './pod-scheduling-validation.ts';
import { AGE_COLUMN, NAME_COLUMN, column } from './table-columns.ts';

export type DecodedRuntimeClass = AnyObject & Partial<Pick<Decoded<Wire<V1RuntimeClass>>, 'handler' | 'overhead' | 'scheduling'>>;
/** What is stored and what the registry hands this strategy are decoded RuntimeClasses. */
export const asRuntimeClass = (object: AnyObject): DecodedRuntimeClass => object as DecodedRuntimeClass;

/** node.k8s.io/v1 RuntimeClass: what pods of a class get by it is decided when they are created. */
export const runtimeClassStrategy: ResourceStrategy = {
  validateCreate: (object) => {
    const { metadata, handler = '', overhead, scheduling } = asRuntimeClass(object);
    const wrong = handler === '' ? [required('handler')] : validateFormat(handler, 'handler', dns1123LabelProblems);
    return [
      ...validateObjectMeta(metadata, false, subdomainName),
      ...wrong,
      ...validateOverhead(overhead?.podFixed, 'overhead'),
      ...validateScheduling(scheduling ?? {}),
    ];
  },
  validateUpdate: (object, stored): FieldError[] => {
    const [next, previous] = [asRuntimeClass(object), asRuntimeClass(stored)];
    const changed = next.handler === previous.handler ? [] : [invalid('handler', next.handler, 'field is immutable')];
    return [...validateObjectMetaUpdate(next.metadata, previous.metadata), ...changed];
  },
  table: {
    columns: [
      NAME_COLUMN,
      column(
        'Handler',
        'handler specifies the underlying runtime and configuration that the CRI implementation will use to handle pods of this class.',
      ),
      AGE_COLUMN,
    ],
    cells: (object, now) => {
      const { metadata, handler = '' } = asRuntimeClass(object);
      return [metadata.name, handler, ageOf(metadata.creationTimestamp, now)];
    },
  },
};

function validateScheduling({ nodeSelector, tolerations = [] }: NonNullable<DecodedRuntimeClass['scheduling']>): FieldError[] {
  const keys = tolerations.map(({ key, operator, value, effect }) => JSON.stringify([key, operator, value, effect]));
  return [
    ...validateLabels(nodeSelector, 'scheduling.nodeSelector'),
    ...validateTolerations(tolerations, 'scheduling.tolerations'),
    ...tolerations.flatMap((toleration, i) =>
      keys.indexOf(keys[i] ?? '') === i ? [] : [duplicate(`scheduling.tolerations[${i}]`, toleration)],
    ),
  ];
}
