import { parseQuantity } from '../../kube/quantity.ts';
import { forbidden, invalid, required, type FieldError } from '../apimachinery/field-error.ts';
import { dns1123SubdomainProblems } from '../../kube/name-formats.ts';
import { validateAnnotations, validateLabels } from '../apimachinery/object-meta-validation.ts';
import { validateAccessModes } from './access-modes.ts';
import { validateFormat, validateOptionalChoice } from './choice-validation.ts';
import type { DecodedVolume } from './decoded.ts';
import { validateLabelSelector } from './label-selector-validation.ts';

type ClaimTemplate = NonNullable<NonNullable<DecodedVolume['ephemeral']>['volumeClaimTemplate']>;
type ClaimSpec = NonNullable<ClaimTemplate['spec']>;

const TEMPLATE_METADATA: readonly string[] = ['annotations', 'labels'];

/** ValidatePersistentVolumeClaimTemplate, for generic ephemeral volumes. */
export const validateClaimTemplate = ({ metadata = {}, spec = {} }: ClaimTemplate, path: string): FieldError[] => [
  ...validateAnnotations(metadata.annotations, `${path}.metadata.annotations`),
  ...validateLabels(metadata.labels, `${path}.metadata.labels`),
  ...Object.keys(metadata)
    .filter((field) => !TEMPLATE_METADATA.includes(field))
    .map((field) => forbidden(`${path}.metadata.${field}`, 'cannot be set')),
  ...validateClaimSpec(spec, `${path}.spec`),
];

/** ValidatePersistentVolumeClaimSpec. */
export const validateClaimSpec = (spec: ClaimSpec, path: string): FieldError[] => {
  const { selector, accessModes = [], resources = {}, storageClassName = '' } = spec;
  const storage = resources.requests?.['storage'];
  const errors: FieldError[] = [];
  if (selector !== undefined) errors.push(...validateLabelSelector(selector, `${path}.selector`));
  errors.push(...validateAccessModes(accessModes ?? [], path, 'at least 1 access mode is required'));
  if (storage === undefined) errors.push(required(`${path}.resources[storage]`));
  else if (parseQuantity(storage).nanos <= 0n) errors.push(invalid(`${path}.resources[storage]`, storage, 'must be greater than zero'));
  if (storageClassName !== '') errors.push(...validateFormat(storageClassName, `${path}.storageClassName`, dns1123SubdomainProblems));
  return [...errors, ...validateOptionalChoice(spec.volumeMode, `${path}.volumeMode`, ['Block', 'Filesystem'])];
};
