import { forbidden, type FieldError } from '../apimachinery/field-error.ts';
import type { DecodedPodTemplate } from './decoded.ts';
import { validateAnnotations, validateLabels } from '../apimachinery/object-meta-validation.ts';
import { validatePodAnnotations } from './pod-annotations-validation.ts';
import { validatePodSpec } from './pod-spec-validation.ts';

/**
 * ValidatePodTemplateSpec. Upstream leaves `metadata` out of the paths of labels and annotations, and checks nothing else of the
 * template's metadata: a bad finalizer only shows when pods are made from it.
 */
export const validatePodTemplate = (template: DecodedPodTemplate, path: string): FieldError[] => {
  const spec = template.spec ?? {};
  return [
    ...validateLabels(template.metadata?.labels, `${path}.labels`),
    ...validateAnnotations(template.metadata?.annotations, `${path}.annotations`),
    ...validatePodAnnotations(template.metadata?.annotations, spec, `${path}.annotations`),
    ...validatePodSpec(spec, `${path}.spec`, { isPod: false, podName: '', isMirror: false }),
    ...((spec.ephemeralContainers ?? []).length > 0
      ? [forbidden(`${path}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template')]
      : []),
  ];
};
