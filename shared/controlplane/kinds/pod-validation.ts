import { forbidden, invalid, type FieldError } from '../apimachinery/field-error.ts';
import { validateImagesOfPod } from './container-validation.ts';
import type { DecodedPod } from './decoded.ts';
import { subdomainName, validateObjectMeta } from '../apimachinery/object-meta-validation.ts';
import { validatePodSpec } from './pod-spec-validation.ts';

const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';
const MIRROR = 'kubernetes.io/config.mirror';

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
    ...validatePodAnnotations(pod),
    ...validatePodSpec(spec, 'spec', { isPod: true }),
    ...validateTokensHaveAccount(pod),
    ...validateImagesOfPod(spec.containers ?? [], 'spec.containers'),
    ...validateImagesOfPod(spec.initContainers ?? [], 'spec.initContainers'),
  ];
};

const validatePodAnnotations = ({ metadata, spec = {} }: DecodedPod): FieldError[] => {
  const errors: FieldError[] = [];
  const mirror = metadata.annotations?.[MIRROR];
  if (mirror !== undefined && (spec.nodeName ?? '') === '') {
    errors.push(invalid(`metadata.annotations[${MIRROR}]`, mirror, 'must set spec.nodeName if mirror pod annotation is set'));
  }
  const cost = metadata.annotations?.[DELETION_COST];
  if (cost !== undefined && !isInt32(cost)) {
    errors.push(invalid(`metadata.annotations[${DELETION_COST}]`, cost, 'must be a 32bit integer'));
  }
  return errors;
};

/** As the annotation is read upstream: no plus sign, no leading zeros. */
const isInt32 = (text: string): boolean => /^(0|-?[1-9]\d*)$/.test(text) && Math.abs(Number(text)) <= 2 ** 31 && Number(text) !== 2 ** 31;

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
