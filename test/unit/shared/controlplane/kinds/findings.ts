import type { FieldError } from '../../../../../shared/controlplane/apimachinery/field-error.ts';
import type { DecodedContainer } from '../../../../../shared/controlplane/kinds/decoded.ts';

/** `path | sentence` of each finding. */
export const told = (errors: readonly FieldError[]): string[] => errors.map(({ field, body }) => `${field} | ${body}`);

/** A container in which nothing is wrong, as decoding and defaulting leave it. */
export const aContainer = (parts: DecodedContainer = {}): DecodedContainer => ({
  name: 'c',
  image: 'i',
  imagePullPolicy: 'Always',
  terminationMessagePolicy: 'File',
  ...parts,
});
