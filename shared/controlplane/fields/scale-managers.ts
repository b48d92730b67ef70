import type { FieldSet } from './field-set.ts';
import { difference, intersection, isEmptySet } from './field-set.ts';
import { isSameManager, type Manager, withoutEmpty } from './managers.ts';

export const SCALE_VERSION = 'autoscaling/v1';
const REPLICAS_OF_SCALE: FieldSet = { 'f:spec': { 'f:replicas': {} } };

/** Where objects of an apiVersion have their replicas; undefined for a version that is not served, null for one without a scale. */
export type ReplicasPaths = (apiVersion: string) => FieldSet | null | undefined;

const owns = ({ fields }: Manager, path: FieldSet): boolean => !isEmptySet(intersection(fields, path));

/** Those of an object's managers that own its replicas, as managers of its Scale (ScaleHandler.ToSubresource). */
export const managersOfScale = (managers: readonly Manager[], replicasOf: ReplicasPaths): Manager[] =>
  managers.flatMap((manager) => {
    const path = replicasOf(manager.apiVersion) ?? undefined;
    return path !== undefined && owns(manager, path) ? [{ ...manager, apiVersion: SCALE_VERSION, fields: REPLICAS_OF_SCALE }] : [];
  });

/** The managers of an object after a write of its Scale (ToParent). An entry that is new to the object gets no time, as upstream. */
export function managersAfterScale(
  managers: readonly Manager[],
  ofScale: readonly Manager[],
  replicasOf: ReplicasPaths,
  apiVersion: string,
): Manager[] {
  const kept: Manager[] = [];
  const left = new Set(ofScale);
  for (const manager of managers) {
    const path = replicasOf(manager.apiVersion);
    if (path === undefined) continue;
    if (path === null || !owns(manager, path)) {
      kept.push(manager);
      continue;
    }
    const same = ofScale.find((each) => isSameManager(each, { ...manager, apiVersion: SCALE_VERSION }));
    if (same === undefined) kept.push({ ...manager, fields: difference(manager.fields, path) });
    else {
      kept.push(manager);
      left.delete(same);
    }
  }
  const path = replicasOf(apiVersion) ?? undefined;
  const added = path === undefined ? [] : [...left].filter((manager) => owns(manager, REPLICAS_OF_SCALE));
  return withoutEmpty([...kept, ...added.map((manager) => ({ ...manager, apiVersion, time: undefined, fields: path ?? {} }))]);
}
