import { clustersIn, itemsOf, type Overview } from './overview-model.ts';
import { clusterAt, jobAt, queueAt } from './place.ts';
import type { JobLine } from '../views.ts';

/** Something to go to. */
export type Entry = { readonly kind: string; readonly name: string; readonly href: string };

export const PAGES: readonly Entry[] = ['Yard', 'Jobs', 'Queues', 'Clusters', 'Submissions', 'Usage'].map((name) => ({
  kind: 'page',
  name,
  href: `#/${name.toLowerCase()}`,
}));
const SHOWN_MAX = 12;

/** Pages, queues and clusters that a text finds, the nearest first: what begins with it, then a word of which does, then the others. */
export function entriesFor(overview: Overview, text: string): readonly Entry[] {
  const wanted = text.trim().toLowerCase();
  const all = [
    ...PAGES,
    ...itemsOf(overview, 'Queue').map(({ name }) => ({ kind: 'queue', name, href: queueAt(name) })),
    ...clustersIn(overview).map(({ name }) => ({ kind: 'cluster', name, href: clusterAt(name) })),
  ];
  return all
    .map((entry) => ({ entry, distance: distanceOf(entry.name.toLowerCase(), wanted) }))
    .filter(({ distance }) => distance >= 0)
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, SHOWN_MAX)
    .map(({ entry }) => entry);
}

export const entryOf = ({ key, kind = 'Job' }: Pick<JobLine, 'key' | 'kind'>): Entry => ({ kind, name: key, href: jobAt(key) });

/** Negative: it is not found. */
function distanceOf(name: string, wanted: string): number {
  const at = name.indexOf(wanted);
  return at <= 0 ? at : /[^a-z0-9]/.test(name[at - 1] ?? '') ? 1 : 2;
}
