import { invalid, required, type FieldError } from '../apimachinery/field-error.ts';
import { dns1123LabelProblems } from '../apimachinery/name-formats.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import type { ResourceStrategy } from '../resources/strategy.ts';
import { ageOf } from './age.ts';
import { validateFormat } from './choice-validation.ts';
import { subdomainName, validateObjectMeta, validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import { AGE_COLUMN, NAME_COLUMN, column } from './table-columns.ts';

type DecodedRuntimeClass = AnyObject & { handler?: string };
/** The registry hands this strategy decoded RuntimeClasses only. */
const asRuntimeClass = (object: AnyObject): DecodedRuntimeClass => object as DecodedRuntimeClass;

/** node.k8s.io/v1 RuntimeClass: kept for those who read it. Pods here are given no overhead by it. */
export const runtimeClassStrategy: ResourceStrategy = {
  validateCreate: (object) => {
    const { metadata, handler = '' } = asRuntimeClass(object);
    const wrong = handler === '' ? [required('handler')] : validateFormat(handler, 'handler', dns1123LabelProblems);
    return [...validateObjectMeta(metadata, false, subdomainName), ...wrong];
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
