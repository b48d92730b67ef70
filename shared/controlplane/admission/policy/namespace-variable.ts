import type { AnyObject } from '../../apimachinery/object.ts';
import { toCelValue } from '../../../cel/values.ts';

const METADATA = [
  'name',
  'generateName',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'finalizers',
];

/**
 * `namespaceObject` of an expression: what CreateNamespaceObject of apiserver shows of a Namespace. Managed fields and owners are not
 * shown.
 */
export function namespaceVariable({ metadata, ...namespace }: AnyObject): unknown {
  const shown = Object.entries(metadata).filter(([field]) => METADATA.includes(field));
  return toCelValue({ metadata: Object.fromEntries(shown), spec: namespace['spec'] ?? {}, status: namespace['status'] ?? {} });
}
