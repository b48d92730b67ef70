import { createHash } from 'node:crypto';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { Viewer } from './views.ts';

/** Visible objects of a kind, by name; namespaces with their UIDs, because another namespace may get the name. */
export type Seen = 'All' | ReadonlySet<string> | ReadonlyMap<string, string>;

/** The objects that a viewer may see. */
export type Rights = {
  /** Namespaces whose Jobs and LocalQueues are visible. */
  readonly namespaces: Seen;
  readonly queues: Seen;
  readonly clusters: Seen;
};

export const seesIt = (seen: Seen, name: string): boolean => seen === 'All' || seen.has(name);

/** The UID of a namespace for a viewer who may not see all; undefined where it is unknown, or not visible. */
export const seenUid = (seen: Seen, namespace: string): string | undefined => (seen instanceof Map ? seen.get(namespace) : undefined);

/** A key that is equal for viewers with equal rights, so that they share what is computed. */
export function rightsKey({ namespaces, queues, clusters }: Rights): string {
  const sorted = (seen: Seen): readonly string[] | 'All' => (seen === 'All' ? seen : [...identitiesIn(seen)].toSorted());
  return createHash('sha256')
    .update(JSON.stringify([sorted(namespaces), sorted(queues), sorted(clusters)]))
    .digest('base64url')
    .slice(0, 22);
}

/** Names; those of namespaces with UIDs. */
function* identitiesIn(seen: Exclude<Seen, 'All'>): Generator<string> {
  for (const name of seen.keys()) yield seen instanceof Map ? `${name}/${seen.get(name)}` : name;
}

const LISTED_MAX = 200;

/** `sessionMs`: for how long the session goes on, where there is one. */
export const viewerOf = (name: string, { namespaces, queues, clusters }: Rights, actions: boolean, sessionMs?: number): Viewer => ({
  name,
  namespaces: namespaces === 'All' ? namespaces : [...namespaces.keys()].toSorted().slice(0, LISTED_MAX),
  queues: extent(queues),
  clusters: extent(clusters),
  actions,
  ...omitUndefined({ sessionMs }),
});

const extent = (seen: Seen): 'All' | 'Some' | 'None' => (seen === 'All' ? 'All' : seen.size > 0 ? 'Some' : 'None');
