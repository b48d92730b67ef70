import type { OwnerReference } from '../../../api/kubernetes.ts';
import type { Resource } from '../../../api/resources.ts';

/** What the garbage collector knows of one object. */
export type GraphObject = {
  readonly uid: string;
  readonly resource: Resource;
  /** '' for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  readonly owners: readonly OwnerReference[];
  readonly deleting: boolean;
  readonly finalizers: readonly string[];
};

export const ORPHAN_FINALIZER = 'orphan';
export const FOREGROUND_FINALIZER = 'foregroundDeletion';

/** Marked for deletion, and waiting until its dependents are gone. */
export const awaitsDependents = (object: GraphObject): boolean => object.deleting && object.finalizers.includes(FOREGROUND_FINALIZER);
/** Marked for deletion, and waiting until its dependents are let go. */
export const awaitsOrphaning = (object: GraphObject): boolean => object.deleting && object.finalizers.includes(ORPHAN_FINALIZER);
/** Whether this object keeps the owner of that UID from going when the owner is deleted in the foreground. */
export const blocks = (dependent: GraphObject, ownerUid: string): boolean =>
  dependent.owners.some((owner) => owner.uid === ownerUid && owner.blockOwnerDeletion === true);

/** Whether the object is what the reference says of its owner, apart from the version: its UID may be right and the rest wrong. */
export const isNamedBy = (object: GraphObject, owner: OwnerReference, dependentNamespace: string): boolean =>
  object.uid === owner.uid &&
  object.name === owner.name &&
  object.resource.kind === owner.kind &&
  object.resource.group === (owner.apiVersion.includes('/') ? owner.apiVersion.split('/')[0] : '') &&
  (!object.resource.namespaced || object.namespace === dependentNamespace);

/** Who owns whom, by UID. Owners may be unknown: not seen yet, or gone. */
export class OwnerGraph {
  readonly #objects = new Map<string, GraphObject>();
  readonly #dependents = new Map<string, Set<string>>();

  get(uid: string): GraphObject | undefined {
    return this.#objects.get(uid);
  }

  /** Stores an object; returns what was known of it before. */
  set(object: GraphObject): GraphObject | undefined {
    const previous = this.remove(object.uid);
    this.#objects.set(object.uid, object);
    for (const { uid } of object.owners) {
      const dependents = this.#dependents.get(uid);
      if (dependents === undefined) this.#dependents.set(uid, new Set([object.uid]));
      else dependents.add(object.uid);
    }
    return previous;
  }

  remove(uid: string): GraphObject | undefined {
    const known = this.#objects.get(uid);
    if (known === undefined) return undefined;
    this.#objects.delete(uid);
    for (const owner of known.owners) {
      const dependents = this.#dependents.get(owner.uid);
      dependents?.delete(uid);
      if (dependents?.size === 0) this.#dependents.delete(owner.uid);
    }
    return known;
  }

  dependentsOf(ownerUid: string): GraphObject[] {
    return [...(this.#dependents.get(ownerUid) ?? [])].flatMap((uid) => this.#objects.get(uid) ?? []);
  }

  hasDependents(ownerUid: string): boolean {
    return this.#dependents.has(ownerUid);
  }
}
