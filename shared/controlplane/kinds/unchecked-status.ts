import { validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import type { ResourceStrategy } from '../resources/strategy.ts';
import { keepSpec } from './generation.ts';

/** Updates of the status of kinds whose status upstream does not validate: the spec stays, and the metadata has to be right. */
export const uncheckedStatus: NonNullable<ResourceStrategy['status']> = {
  prepareForUpdate: keepSpec,
  validateUpdate: (next, previous) => validateObjectMetaUpdate(next.metadata, previous.metadata),
};
