import { toWireTime } from '../../api/wire-time.ts';
import type { DeleteOptions } from './delete-options.ts';
import { cloneJson } from '../apimachinery/json.ts';
import type { ServedResource } from '../resources/served-resources.ts';
import { conflict, type GroupResource, type StatusError } from '../apimachinery/status-error.ts';
import type { AnyMeta, AnyObject } from '../apimachinery/object.ts';

/** What a deletion does to an object (BeforeDelete and updateForGracefulDeletionAndFinalizers of apiserver). */
export type Deletion =
  /** The object stays as it is: it is being deleted already. */
  | { readonly kind: 'keep' }
  /** The object is stored with deletionTimestamp and finalizers and goes later. */
  | { readonly kind: 'mark'; readonly next: AnyObject }
  /** The object is stored once more, marked, and then removed: two events. */
  | { readonly kind: 'mark-and-remove'; readonly next: AnyObject }
  | { readonly kind: 'remove' };

const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

/** Decides a deletion. `object` is not changed. Throws 409 when a precondition fails. */
export function decideDeletion(resource: ServedResource, object: AnyObject, options: DeleteOptions, nowMs: number): Deletion {
  const refusal = preconditionRefusal(resource, object.metadata, options);
  if (refusal !== undefined) throw refusal;
  const { strategy } = resource.definition;
  const graceful = strategy.gracePeriodSeconds !== undefined;
  if (graceful && object.metadata.deletionTimestamp !== undefined && object.metadata.deletionGracePeriodSeconds !== undefined) {
    return shorten(object, options, nowMs);
  }
  const finalizers = finalizersFor(resource, object.metadata, options);
  const period = strategy.gracePeriodSeconds?.(object, options.gracePeriodSeconds) ?? 0;
  // Only what a strategy may change beyond metadata is copied deeply.
  const next: AnyObject = strategy.markDeleting === undefined ? { ...object, metadata: { ...object.metadata } } : cloneJson(object);
  if (finalizers.length === 0) delete next.metadata.finalizers;
  else next.metadata.finalizers = finalizers;
  const held = finalizers.length > 0 || strategy.keptAfterDeletion?.(next) === true;
  if (!graceful && !held) return { kind: 'remove' };
  if (object.metadata.deletionTimestamp === undefined) {
    next.metadata.deletionTimestamp = toWireTime(Math.min(nowMs + period * 1000, LAST_MOMENT_MS));
    if (next.metadata.generation !== undefined && next.metadata.generation > 0) next.metadata.generation += 1;
  }
  // A namespace is held by its spec and has no grace period.
  if (graceful || finalizers.length > 0) next.metadata.deletionGracePeriodSeconds = period;
  strategy.markDeleting?.(next);
  return held || period > 0 ? { kind: 'mark', next } : { kind: 'mark-and-remove', next };
}

/** The end of the year 9999, which is as far as a wire time reaches. */
const LAST_MOMENT_MS = Date.UTC(9999, 11, 31, 23, 59, 59);

/** A grace period that runs can only be shortened. */
function shorten(object: AnyObject, { gracePeriodSeconds }: DeleteOptions, nowMs: number): Deletion {
  const { metadata } = object;
  const running = metadata.deletionGracePeriodSeconds ?? 0;
  if (gracePeriodSeconds === undefined) return { kind: 'keep' };
  let period = gracePeriodSeconds < 0 ? 1 : gracePeriodSeconds;
  if (period >= running) return { kind: 'keep' };
  let endMs = Date.parse(metadata.deletionTimestamp ?? '') - running * 1000 + period * 1000;
  if (endMs < nowMs) {
    endMs = nowMs;
    if (period > 0) period = 1;
  }
  const next: AnyObject = {
    ...object,
    metadata: { ...metadata, deletionTimestamp: toWireTime(endMs), deletionGracePeriodSeconds: period },
  };
  const held = period > 0 || (metadata.finalizers ?? []).length > 0;
  return held ? { kind: 'mark', next } : { kind: 'mark-and-remove', next };
}

/** deletionFinalizersForGarbageCollection: the finalizers that the propagation policy asks for, beside the object's own. */
function finalizersFor({ definition }: ServedResource, metadata: AnyMeta, options: DeleteOptions): string[] {
  const existing = metadata.finalizers ?? [];
  const policy = propagationOf(existing, options, definition.strategy.defaultPropagation ?? 'background');
  const next = existing.filter((finalizer) => finalizer !== ORPHAN && finalizer !== FOREGROUND);
  if (policy === 'orphan') next.push(ORPHAN);
  if (policy === 'foreground') next.push(FOREGROUND);
  // The same set keeps its order.
  const wanted = new Set(next);
  return new Set(existing).size === wanted.size && existing.every((finalizer) => wanted.has(finalizer)) ? existing : next;
}

/** The options' policy, else the one that a finalizer of the object has chosen, else the kind's default. */
function propagationOf(
  finalizers: readonly string[],
  { orphanDependents, propagationPolicy }: DeleteOptions,
  fallback: 'orphan' | 'background',
): 'orphan' | 'foreground' | 'background' {
  if (orphanDependents !== undefined) return orphanDependents ? 'orphan' : 'background';
  if (propagationPolicy === 'Orphan') return 'orphan';
  if (propagationPolicy === 'Foreground') return 'foreground';
  if (propagationPolicy === 'Background') return 'background';
  if (finalizers.includes(ORPHAN)) return 'orphan';
  if (finalizers.includes(FOREGROUND)) return 'foreground';
  return fallback;
}

/** Why somebody who has another object in mind may not delete this one. Upstream names the kind, not the plural, in these conflicts. */
export function preconditionRefusal(
  { groupKind, groupResource, definition }: ServedResource,
  metadata: AnyMeta,
  { preconditions }: Pick<DeleteOptions, 'preconditions'>,
): StatusError | undefined {
  const of = { group: groupKind.group, resource: groupKind.kind };
  const { uid, resourceVersion } = preconditions;
  if (definition.strategy.markDeleting !== undefined) return ownRefusal(groupResource, metadata, preconditions);
  if (uid !== undefined && uid !== metadata.uid) {
    return conflict(
      of,
      metadata.name,
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    return conflict(
      of,
      metadata.name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
    );
  }
  return undefined;
}

/** Kinds that have a deletion of their own (Namespaces, CustomResourceDefinitions) also have words of their own. */
function ownRefusal(
  of: GroupResource,
  metadata: AnyMeta,
  { uid, resourceVersion }: DeleteOptions['preconditions'],
): StatusError | undefined {
  const differs = (what: string, asked: string, found: string): StatusError =>
    conflict(of, metadata.name, `Precondition failed: ${what} in precondition: ${asked}, ${what} in object meta: ${found}`);
  if (uid !== undefined && uid !== metadata.uid) return differs('UID', uid, metadata.uid);
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    return differs('ResourceVersion', resourceVersion, metadata.resourceVersion);
  }
  return undefined;
}
