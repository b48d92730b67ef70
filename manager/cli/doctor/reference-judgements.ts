import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import { isFinished } from '../../../shared/kube/conditions.ts';
import type { CarriedKind } from '../../api/carried-kinds.ts';
import { carriedReferences } from '../../api/pod-references.ts';
import { parseQualifiedName, wordOfName } from '../../work-kind/qualified-name.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';
import { note, ok, wrong, type Check } from '../checks.ts';

/** References of the pods of Jobs, and of objects of other kinds, of one namespace, and where their objects are missing. */

/** An object with those that refer to it (`Job train`): that take it along from the manager cluster, and that need it where they run. */
export type ReferredObject = {
  readonly kind: 'ConfigMap' | 'Secret' | 'PersistentVolumeClaim' | 'ServiceAccount' | 'RuntimeClass';
  readonly name: string;
  readonly carriedBy: readonly string[];
  readonly neededBy: readonly string[];
};

/** What was found on one cluster. */
export type LookedAt = {
  readonly cluster: string;
  readonly isHome: boolean;
  /** Why the cluster cannot be looked at. */
  readonly problem?: string;
  /** The objects that exist there or not, by {@link nameOf}; an object that may not be read is in neither. */
  readonly present: ReadonlySet<string>;
  readonly missing: ReadonlySet<string>;
};

/** The most objects that are compared, and that one line names. */
export const REFERRED_MAX = 200;
const NAMED_MAX = 5;

export const nameOf = ({ kind, name }: Pick<ReferredObject, 'kind' | 'name'>): string => `${kind} ${name}`;

/**
 * The objects that Jobs which have not ended refer to, without optional ones, in order of kind and name. `carryOf`: what travels with a
 * Job.
 */
export function referredObjects(
  kind: Pick<WorkKind, 'of' | 'references' | 'needs' | 'podSets'>,
  jobs: readonly DeepReadonly<WorkObject>[],
  carryOf: (job: DeepReadonly<WorkObject>) => readonly CarriedKind[],
): readonly ReferredObject[] {
  const found = new Map<string, { object: Pick<ReferredObject, 'kind' | 'name'>; carriedBy: Set<string>; neededBy: Set<string> }>();
  const refer = (object: Pick<ReferredObject, 'kind' | 'name'>, job: string, travels: boolean): void => {
    const key = nameOf(object);
    const entry = found.get(key) ?? { object, carriedBy: new Set(), neededBy: new Set() };
    found.set(key, entry);
    entry[travels ? 'carriedBy' : 'neededBy'].add(job);
  };
  for (const job of jobs) {
    if (isFinished(job.status)) continue;
    const name = `${wordOfName(kind, job.metadata.name)} ${parseQualifiedName(job.metadata.name).name}`;
    const references = kind.references(job);
    const carried = carriedReferences(references, carryOf(job));
    for (const reference of references) if (!reference.optional) refer(reference, name, carried.includes(reference));
    for (const object of kind.needs(job)) refer(object, name, false);
    for (const { template } of kind.podSets(job)) {
      const { runtimeClassName } = template.spec ?? {};
      if (runtimeClassName) refer({ kind: 'RuntimeClass', name: runtimeClassName }, name, false);
    }
  }
  return [...found]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([
        ,
        {
          object: { kind: of, name },
          carriedBy,
          neededBy,
        },
      ]) => ({ kind: of, name, carriedBy: [...carriedBy], neededBy: [...neededBy] }),
    );
}

/** A line for each cluster, and one for each object that no cluster has. */
export function judgeReferences(namespace: string, objects: readonly ReferredObject[], looks: readonly LookedAt[]): Check[] {
  const check = `namespace ${namespace}`;
  if (objects.length === 0) return [ok(check, 'no work that has not ended refers to an object')];
  const workers = looks.filter(({ isHome }) => !isHome);
  const nowhere = objects.filter(
    (object) => object.neededBy.length > 0 && workers.length > 0 && workers.every(({ missing }) => missing.has(nameOf(object))),
  );
  return [
    ...looks.map((looked) => judgeLooked(`${check} on ${looked.cluster}`, objects, looked)),
    ...nowhere.map((object) =>
      wrong(
        check,
        `no cluster has ${nameOf(object)}, for ${listed(object.neededBy)}`,
        'create it on the clusters on which they are to run' +
          (object.kind === 'ConfigMap' || object.kind === 'Secret' ? ', or let it travel: docs/carrying.md' : ''),
      ),
    ),
  ];
}

function judgeLooked(check: string, objects: readonly ReferredObject[], { problem, isHome, present, missing }: LookedAt): Check {
  if (problem !== undefined) return note(check, `cannot be looked at: ${problem}`, 'name its kubeconfig with --cluster-kubeconfig');
  const concerned = objects.filter(({ carriedBy, neededBy }) => (isHome ? carriedBy : neededBy).length > 0);
  const lacking = concerned.filter((object) => missing.has(nameOf(object)));
  const unread = concerned.filter((object) => !missing.has(nameOf(object)) && !present.has(nameOf(object)));
  const unreadText = unread.length === 0 ? '' : `; you may not read ${listed(unread.map(nameOf))}`;
  if (lacking.length === 0) return ok(check, `has ${concerned.length - unread.length} of ${concerned.length} objects${unreadText}`);
  const named = lacking.map((object) => `${nameOf(object)} (${listed(isHome ? object.carriedBy : object.neededBy)})`);
  const found = `lacks ${listed(named)}${unreadText}`;
  // Jobs may run on other clusters, and nowhere without what travels with them.
  return isHome ? wrong(check, found, 'create it: they wait for it') : note(check, found);
}

const listed = (names: readonly string[]): string =>
  names.length <= NAMED_MAX ? names.join(', ') : `${names.slice(0, NAMED_MAX).join(', ')} and ${names.length - NAMED_MAX} more`;
