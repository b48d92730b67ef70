import type { AnyObject } from '../apimachinery/object.ts';
import { semanticEqual } from '../apimachinery/semantic-equal.ts';

/** prepareForUpdate of kinds with spec and status: status stays, and a spec that differs is a new generation. */
export const bumpGeneration = (next: AnyObject, previous: AnyObject): void => {
  restore(next, previous, 'status');
  const generation = previous.metadata.generation ?? 0;
  next.metadata.generation = semanticEqual(next['spec'], previous['spec']) ? generation : generation + 1;
};

/** prepareForUpdate of their status: the spec stays. */
export const keepSpec = (next: AnyObject, previous: AnyObject): void => restore(next, previous, 'spec');

/** Puts a top-level field back as it was, or away. */
export const restore = (next: AnyObject, previous: AnyObject, field: string): void => {
  if (previous[field] === undefined) delete next[field];
  else next[field] = previous[field];
};
