import type { AnyObject } from '../apimachinery/object.ts';

/** An object as it is stored: without kind and apiVersion, never changed again. */
export type StoredObject = {
  /** '' for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
  readonly object: AnyObject;
  /** The object as JSON, made once for answers, watches and disk. */
  readonly text: string;
};
