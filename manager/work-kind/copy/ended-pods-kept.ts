import { ENDED_PODS_BYTES_MAX, parseEndedPods } from '../../../shared/api/ended-pods.ts';
import { ENDED_PODS_ANNOTATION } from '../../../shared/api/names.ts';
import { isJsonObject } from '../../api/json-value.ts';

/**
 * What a cache keeps of how the pods of a copy ended. A copy that is about to be deleted (`leaves`) keeps all; any other, of which there
 * may be thousands, its last failed pod, whose log tail is read when the copy is deleted.
 */
export function endedPodsKept(annotations: unknown, leaves: boolean): Record<string, string> {
  const text = isJsonObject(annotations) ? annotations[ENDED_PODS_ANNOTATION] : undefined;
  if (typeof text !== 'string' || text.length > ENDED_PODS_BYTES_MAX) return {};
  if (leaves) return { [ENDED_PODS_ANNOTATION]: text };
  // Most have no failed pod: their endings are not parsed at each change.
  const failed = text.includes('"Failed"') ? parseEndedPods(text).findLast(({ phase }) => phase === 'Failed') : undefined;
  if (failed === undefined) return {};
  const { tail: _, ...told } = failed;
  return { [ENDED_PODS_ANNOTATION]: JSON.stringify([told]) };
}
