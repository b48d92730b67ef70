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

/** A copy of the value without the fields and list elements that are members of the set. */
export function removeItems(value: unknown, set: FieldSet, schema: Schema): unknown {
  const shape = shapeOf(schema, value);
  if (shape.kind === 'leaf' || value === null || value === undefined || isEmptySet(set)) return value;
  if (shape.kind === 'list') {
    const kept = (asList(value) ?? []).flatMap((item) => {
      const element = itemElement(shape.list, item);
      const node = element === undefined ? undefined : childOf(set, element);
      if (node === undefined) return [item];
      return isMember(node) ? [] : [removeItems(item, node, shape.list.items)];
    });
    return kept.length === 0 ? null : kept;
  }
  if (!isJsonObject(value)) return value;
  const kept: JsonObject = {};
  for (const name of Object.keys(value)) {
    const node = childOf(set, `f:${name}`);
    if (node === undefined) setField(kept, name, value[name]);
    else if (!isMember(node)) setField(kept, name, removeItems(value[name], node, shape.fieldSchema(name)));
  }
  return Object.keys(kept).length === 0 ? null : kept;
}
