import { forbidden, type FieldError } from '../apimachinery/field-error.ts';
import { validateImagesOfPod } from './container-validation.ts';
import type { DecodedPod } from './decoded.ts';
import { validatePodAnnotations } from './pod-annotations-validation.ts';
import { subdomainName, validateObjectMeta } from '../apimachinery/object-meta-validation.ts';
import { validatePodSpec } from './pod-spec-validation.ts';

const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';

/** ValidatePodCreate of core/v1. */
export const validatePodCreate = (pod: DecodedPod): FieldError[] => {
  const { spec = {} } = pod;
  const errors = validatePod(pod);
  if ((spec.ephemeralContainers ?? []).length > 0) errors.push(forbidden('spec.ephemeralContainers', 'cannot be set on create'));
  if ((spec.nodeName ?? '') !== '' && (spec.schedulingGates ?? []).length > 0) {
    errors.push(forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared'));
  }
  return errors;
};

/** What holds for a pod at any time (validatePodMetadataAndSpec). */
export const validatePod = (pod: DecodedPod): FieldError[] => {
  const { spec = {} } = pod;
  return [
    ...validateObjectMeta(pod.metadata, true, subdomainName),
    ...validatePodAnnotations(pod.metadata.annotations, spec, 'metadata.annotations'),
    ...validatePodSpec(spec, 'spec', {
      isPod: true,
      podName: pod.metadata.name ?? '',
      isMirror: pod.metadata.annotations?.[MIRROR_ANNOTATION] !== undefined,
    }),
    ...validateTokensHaveAccount(pod),
    ...validateImagesOfPod(spec.containers ?? [], 'spec.containers'),
    ...validateImagesOfPod(spec.initContainers ?? [], 'spec.initContainers'),
  ];
};

/** A token is the token of an account. */
const validateTokensHaveAccount = ({ spec = {} }: DecodedPod): FieldError[] =>
  (spec.serviceAccountName ?? '') !== ''
    ? []
    : (spec.volumes ?? []).flatMap(({ projected }, i) =>
        (projected?.sources ?? []).flatMap(({ serviceAccountToken }, j) =>
          serviceAccountToken === undefined
            ? []
            : [
                forbidden(
                  `spec.volumes[${i}].projected.sources[${j}].serviceAccountToken`,
                  'must not be specified when serviceAccountName is not set',
                ),
              ],
        ),
      );
