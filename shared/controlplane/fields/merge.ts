import { cloneJson, fieldOf, isJsonObject, type JsonObject, setField } from '../apimachinery/json.ts';
import type { ListSchema, Schema } from '../schema/schema.ts';
import { childOf, type FieldSet, isEmptySet, isMember } from './field-set.ts';
import { asList, asMap, itemElement, shapeOf } from './typed-value.ts';

/** What a live object becomes when a configuration is applied to it: leaves of the configuration win, containers merge. Returns a copy. */
export function mergeApplied(live: unknown, applied: unknown, schema: Schema): unknown {
  if (applied === undefined) return cloneJson(live);
  const shape = shapeOf(schema, applied ?? live);
  if (live === undefined || live === null || shape.kind === 'leaf') return cloneJson(applied);
  if (shape.kind === 'list') return mergeLists(shape.list, asList(live) ?? [], asList(applied) ?? []);
  const merged: JsonObject = {};
  const [liveMap, appliedMap] = [asMap(live) ?? {}, asMap(applied) ?? {}];
  for (const name of new Set([...Object.keys(liveMap), ...Object.keys(appliedMap)])) {
    setField(merged, name, mergeApplied(fieldOf(liveMap, name), fieldOf(appliedMap, name), shape.fieldSchema(name)));
  }
  return merged;
}

/** Merges list elements by key: both orders are kept where they agree, and the applied one wins where they do not. */
function mergeLists(list: ListSchema, live: readonly unknown[], applied: readonly unknown[]): unknown[] {
  const index = (items: readonly unknown[]): { elements: (string | undefined)[]; byElement: Map<string, unknown> } => {
    const elements = items.map((item) => itemElement(list, item));
    return {
      elements,
      byElement: new Map(elements.flatMap((element, at) => (element === undefined ? [] : [[element, items[at]] as const]))),
    };
  };
  const [left, right] = [index(live), index(applied)];
  const shared = right.elements.filter((element) => element !== undefined && left.byElement.has(element));
  const merged = new Set<string | undefined>();
  const out: unknown[] = [];
  const take = (element: string): void => {
    merged.add(element);
    out.push(mergeApplied(left.byElement.get(element), right.byElement.get(element), list.items));
  };
  let nextShared = shared.shift();
  for (let l = 0, r = 0; l < live.length || r < applied.length; ) {
    const [ofLeft, ofRight] = [left.elements[l], right.elements[r]];
    if (l < live.length && r < applied.length && ofLeft !== undefined) {
      if (ofLeft === ofRight) {
        take(ofLeft);
        l++;
        r++;
        nextShared = shared.shift();
        continue;
      }
      // A shared element whose turn has not come: the applied order places it.
      if (right.byElement.has(ofLeft) && nextShared !== undefined && nextShared !== ofLeft) {
        l++;
        continue;
      }
    }
    if (l < live.length) {
      if (ofLeft === undefined || !right.byElement.has(ofLeft)) {
        out.push(cloneJson(live[l]));
        l++;
        continue;
      }
      if (merged.has(ofLeft)) l++;
    }
    if (r < applied.length) {
      if (ofRight !== undefined) take(ofRight);
      r++;
      if (nextShared !== undefined && nextShared === ofRight) nextShared = shared.shift();
    }
  }
  return out;
}

/**
 * A copy of the value without the fields and list elements that are members of the set. A container from which something
 * was removed stays, if empty; one that was empty or that is a leaf becomes null.
 */
export function removeItems(value: unknown, set: FieldSet, schema: Schema): unknown {
  if (isEmptySet(set)) return value;
  const shape = shapeOf(schema, value);
  if (shape.kind === 'leaf') return schema.kind === 'scalar' ? value : null;
  return shape.kind === 'list' ? removeElements(value, set, shape.list) : removeFields(value, set, shape.fieldSchema);
}

function removeElements(value: unknown, set: FieldSet, list: ListSchema): unknown {
  let descended = false;
  const kept = (asList(value) ?? []).flatMap((item) => {
    const element = itemElement(list, item);
    const node = element === undefined ? undefined : childOf(set, element);
    if (node === undefined) return [item];
    if (isMember(node)) return [];
    descended = true;
    return [emptyIfGone(removeItems(item, node, list.items), item)];
  });
  return kept.length === 0 && !descended ? null : kept;
}

function removeFields(value: unknown, set: FieldSet, fieldSchema: (name: string) => Schema): unknown {
  const kept: JsonObject = {};
  let descended = false;
  const fields = asMap(value) ?? {};
  for (const name of Object.keys(fields)) {
    const node = childOf(set, `f:${name}`);
    if (node === undefined) setField(kept, name, fields[name]);
    else if (!isMember(node)) {
      descended = true;
      setField(kept, name, emptyIfGone(removeItems(fields[name], node, fieldSchema(name)), fields[name]));
    }
  }
  return Object.keys(kept).length === 0 && !descended ? null : kept;
}

/** The container that holds what was removed is not removed with it. */
function emptyIfGone(rest: unknown, before: unknown): unknown {
  if (rest !== null) return rest;
  if (Array.isArray(before)) return [];
  return isJsonObject(before) ? {} : null;
}
