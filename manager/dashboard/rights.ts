import { createHash } from 'node:crypto';
import type { Viewer } from './views.ts';

/** Of a kind of objects without a namespace: which of them. */
export type Seen = 'All' | ReadonlySet<string>;

/** What somebody may see. */
export type Rights = {
  /** Whose Jobs and LocalQueues. */
  readonly namespaces: Seen;
  readonly queues: Seen;
  readonly clusters: Seen;
};

export const seesIt = (seen: Seen, name: string): boolean => seen === 'All' || seen.has(name);

/** The same for all who may see the same: what is made for one is made for all of them. */
export function rightsKey({ namespaces, queues, clusters }: Rights): string {
  const sorted = (seen: Seen): readonly string[] | 'All' => (seen === 'All' ? seen : [...seen].toSorted());
  return createHash('sha256')
    .update(JSON.stringify([sorted(namespaces), sorted(queues), sorted(clusters)]))
    .digest('base64url')
    .slice(0, 22);
}

const NAMED_MAX = 200;

export const viewerOf = (name: string, { namespaces, queues, clusters }: Rights, actions: boolean): Viewer => ({
  name,
  namespaces: namespaces === 'All' ? namespaces : [...namespaces].toSorted().slice(0, NAMED_MAX),
  queues: extent(queues),
  clusters: extent(clusters),
  actions,
});

const extent = (seen: Seen): 'All' | 'Some' | 'None' => (seen === 'All' ? 'All' : seen.size > 0 ? 'Some' : 'None');
