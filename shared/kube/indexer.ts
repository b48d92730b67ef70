import type { DeepReadonly, KubeObject, ObjectKey } from '../api/kubernetes.ts';

/** The values under which an object is found in one index; the object is listed under each of them. */
export type IndexFunction<T> = (object: DeepReadonly<T>) => readonly string[];

/** Reading a cache. Nothing here makes an API call. Returned objects are shared: nobody may change them. */
export interface Lister<T extends KubeObject> {
  get(key: ObjectKey): DeepReadonly<T> | undefined;
  /** All objects, or those of one namespace. */
  list(namespace?: string): readonly DeepReadonly<T>[];
  byIndex(index: string, value: string): readonly DeepReadonly<T>[];
}
