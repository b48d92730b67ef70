import { type Clock, sleep } from '../../runtime/clock.ts';
import { readContinueToken, writeContinueToken } from './continue-token.ts';
import type { ListOptions, ObjectSelector } from './list-options.ts';
import { isUnsigned, resourceVersionSyntax } from './request-options.ts';
import type { ServedResource } from '../resources/served-resources.ts';
import { badRequest, expired, type StatusError, timeout } from '../apimachinery/status-error.ts';
import type { Store } from '../storage/store.ts';
import type { StoredObject } from '../storage/stored-object.ts';

/** One page of a list. */
export type ListPage = {
  readonly items: readonly StoredObject[];
  readonly resourceVersion: string;
  readonly continueToken: string;
  readonly remainingItemCount: number | undefined;
};

/** How long a request for a version of the future waits for it. */
const FRESHNESS_WAIT_MS = 3000;

/** Lists the objects of one namespace ('' for all) as the options ask. */
export async function listPage(
  deps: { readonly store: Store; readonly clock: Clock },
  resource: ServedResource,
  namespace: string,
  options: ListOptions,
): Promise<ListPage> {
  if (options.continueToken !== '') {
    if (options.resourceVersion !== '' && options.resourceVersion !== '0') {
      throw badRequest('specifying resource version is not allowed when using continue');
    }
    return nextPage(deps.store, resource, namespace, options);
  }
  const asked = listVersion(options.resourceVersion);
  if (asked > deps.store.revision()) await waitForRevision(deps, asked);
  const { table } = resource;
  if (options.resourceVersionMatch === 'Exact' || (options.limit > 0 && asked > 0 && options.resourceVersionMatch === '')) {
    if (asked < table.compactedRevision()) throw expired('The resourceVersion for the provided list is too old.');
    return page(table.listAt(namespace, asked), asked, '', namespace, options);
  }
  // resourceVersion 0 is answered from the watch cache, which does not page.
  const limit = options.resourceVersion === '0' ? 0 : options.limit;
  // A page ends where its last object stands among all objects, so a paged list walks them all.
  const isOfOne = options.selector.name !== '' && (namespace !== '' || !resource.definition.namespaced);
  const objects = limit > 0 && !isOfOne ? table.list(namespace) : candidates(resource, namespace, options.selector);
  return page(objects, deps.store.revision(), '', namespace, { ...options, limit });
}

function nextPage(store: Store, resource: ServedResource, namespace: string, options: ListOptions): ListPage {
  const { table } = resource;
  const { revision, start } = readContinueToken(options.continueToken);
  const rest = options.resourceVersion === '0' ? { ...options, limit: 0 } : options;
  if (revision < 0) return page(table.list(namespace), store.revision(), start, namespace, rest);
  if (revision > store.revision()) throw tooLarge(revision, store.revision());
  if (revision < table.compactedRevision()) throw continueExpired(start);
  return page(table.listAt(namespace, revision), revision, start, namespace, rest);
}

const page = (all: readonly StoredObject[], revision: number, start: string, namespace: string, options: ListOptions): ListPage => {
  const { selector, limit } = options;
  const key = (stored: StoredObject): string =>
    namespace !== '' || stored.namespace === '' ? stored.name : `${stored.namespace}/${stored.name}`;
  let index = start === '' ? 0 : firstFrom(all, start, key);
  const items: StoredObject[] = [];
  for (; index < all.length && (limit === 0 || items.length < limit); index++) {
    const stored = all[index];
    if (stored !== undefined && (selector.matchesEverything || selector.matches(stored.object))) items.push(stored);
  }
  const last = all[index - 1];
  const more = index < all.length && last !== undefined;
  return {
    items,
    resourceVersion: String(revision),
    // The next page begins after the last key of this one: its smallest successor ends in a zero byte.
    continueToken: more ? writeContinueToken({ revision, start: `${key(last)}\0` }) : '',
    remainingItemCount: more && selector.matchesEverything ? all.length - index : undefined,
  };
};

/** Index of the first object whose key is not before `start`. Keys are ordered as storage keys. */
const firstFrom = (all: readonly StoredObject[], start: string, key: (stored: StoredObject) => string): number => {
  let low = 0;
  let high = all.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const stored = all[middle];
    if (stored !== undefined && key(stored) < start) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** What may match, by the cheapest way that the selector allows; ordered by key. */
export function candidates(resource: ServedResource, namespace: string, selector: ObjectSelector): readonly StoredObject[] {
  const { table } = resource;
  if (selector.name !== '' && (namespace !== '' || !resource.definition.namespaced)) {
    const stored = table.get(namespace, selector.name);
    return stored === undefined ? [] : [stored];
  }
  const exact = selector.labels.find(({ operator }) => operator === 'In');
  return exact === undefined ? table.list(namespace) : table.listByLabel(namespace, exact.key, exact.values);
}

/** Throws 400 for what is no version; 0 for an absent one. */
const listVersion = (text: string): number => {
  if (text === '') return 0;
  if (!isUnsigned(text)) throw badRequest(`invalid resource version: ${resourceVersionSyntax(text)}`);
  return Number(text);
};

/** Waits for a revision that is yet to come; throws 504 when it does not within three seconds. */
export async function waitForRevision({ store, clock }: { store: Store; clock: Clock }, revision: number): Promise<void> {
  const deadlineMs = clock.now() + FRESHNESS_WAIT_MS;
  while (store.revision() < revision) {
    const leftMs = deadlineMs - clock.now();
    if (leftMs <= 0) throw tooLarge(revision, store.revision());
    await sleep(clock, Math.min(leftMs, 100));
  }
}

const tooLarge = (asked: number, current: number): StatusError =>
  timeout(`Too large resource version: ${asked}, current: ${current}`, 1, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
  });

const CONTINUE_EXPIRED =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, ' +
  'or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an ' +
  'inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';

/** 410 that carries a token for going on without a snapshot. */
const continueExpired = (start: string): StatusError =>
  expired(CONTINUE_EXPIRED, { continue: writeContinueToken({ revision: -1, start }) });
