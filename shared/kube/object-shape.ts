import { UnusableAnswer } from './unusable-answer.ts';

/** Throws unless this can be an item of a list: it has a name, a UID and a version, of lengths that an API server gives. */
export function checkListed(item: unknown): void {
  const { name, namespace, uid, resourceVersion } = metadataOf(item);
  const named = isText(name, NAME_MAX) && (namespace === undefined || isText(namespace, NAME_MAX) || namespace === '');
  if (!named || !isText(uid, ID_MAX) || !isText(resourceVersion, ID_MAX))
    throw new UnusableAnswer('NotKubernetes', 'an object has no name, UID and resourceVersion of Kubernetes');
}

/** Throws unless this can be an event of a watch. A bookmark has a version alone. */
export function checkWatched({ type, object }: { readonly type: string; readonly object: unknown }): void {
  if (type !== 'BOOKMARK') checkListed(object);
  else if (!isText(metadataOf(object)['resourceVersion'], ID_MAX))
    throw new UnusableAnswer('NotKubernetes', 'a bookmark has no resourceVersion of Kubernetes');
}

/** Names are DNS subdomains; some kinds allow other characters, none a longer one. */
const NAME_MAX = 253;
const ID_MAX = 128;

const metadataOf = (object: unknown): Readonly<Record<string, unknown>> => {
  const { metadata } = (object ?? {}) as { readonly metadata?: unknown };
  return typeof metadata === 'object' && metadata !== null ? (metadata as Record<string, unknown>) : {};
};

const isText = (value: unknown, lengthMax: number): boolean => typeof value === 'string' && value !== '' && value.length <= lengthMax;
