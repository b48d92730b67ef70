import { createHash } from 'node:crypto';
import type { Viewer } from './views.ts';

/** Which objects of a kind, by name; of namespaces with their UIDs, because another namespace may get the name. */
export type Seen = 'All' | ReadonlySet<string> | ReadonlyMap<string, string>;

/** What somebody may see. */
export type Rights = {
  /** Whose Jobs and LocalQueues. */
  readonly namespaces: Seen;
  readonly queues: Seen;
  readonly clusters: Seen;
};

export const seesIt = (seen: Seen, name: string): boolean => seen === 'All' || seen.has(name);

/** The UID of a namespace that somebody may see who does not see all; undefined where it is not known, or not for them. */
export const seenUid = (seen: Seen, namespace: string): string | undefined => (seen instanceof Map ? seen.get(namespace) : undefined);

/** The same for all who may see the same: what is made for one is made for all of them. */
export function rightsKey({ namespaces, queues, clusters }: Rights): string {
  const sorted = (seen: Seen): readonly string[] | 'All' => (seen === 'All' ? seen : [...identitiesIn(seen)].toSorted());
  return createHash('sha256')
    .update(JSON.stringify([sorted(namespaces), sorted(queues), sorted(clusters)]))
    .digest('base64url')
    .slice(0, 22);
}

/** Names, and of namespaces their UIDs, too. */
function* identitiesIn(seen: Exclude<Seen, 'All'>): Generator<string> {
  for (const name of seen.keys()) yield seen instanceof Map ? `${name}/${seen.get(name)}` : name;
}

const NAMED_MAX = 200;

export const viewerOf = (name: string, { namespaces, queues, clusters }: Rights, actions: boolean): Viewer => ({
  name,
  namespaces: namespaces === 'All' ? namespaces : [...namespaces.keys()].toSorted().slice(0, NAMED_MAX),
  queues: extent(queues),
  clusters: extent(clusters),
  actions,
});

const extent = (seen: Seen): 'All' | 'Some' | 'None' => (seen === 'All' ? 'All' : seen.size > 0 ? 'Some' : 'None');
