import { forbidden, invalid, type FieldError } from '../apimachinery/field-error.ts';
import { allContainers } from './containers.ts';
import type { DecodedPod, DecodedPodSpec } from './decoded.ts';
import { validateDescendingPath } from './path-validation.ts';

type Annotations = Readonly<Record<string, string>> | undefined;

const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';
const MIRROR = 'kubernetes.io/config.mirror';
const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod';
const SECCOMP_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/';
const APPARMOR_CONTAINER = 'container.apparmor.security.beta.kubernetes.io/';

/** ValidatePodSpecificAnnotations: annotations that mean something to the API server, of a pod or of a template. */
export const validatePodAnnotations = (annotations: Annotations, spec: DecodedPodSpec, path: string): FieldError[] => {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(annotations ?? {})) {
    if (key === MIRROR && (spec.nodeName ?? '') === '') {
      errors.push(invalid(`${path}[${key}]`, value, 'must set spec.nodeName if mirror pod annotation is set'));
    }
    if (key === DELETION_COST && !isInt32(value)) errors.push(invalid(`${path}[${key}]`, value, 'must be a 32bit integer'));
    if (key === SECCOMP_POD || key.startsWith(SECCOMP_CONTAINER)) errors.push(...validateSeccomp(value, `${path}.${key}`));
    if (key.startsWith(APPARMOR_CONTAINER)) errors.push(...validateAppArmor(key, value, spec, path));
  }
  return errors;
};

/** ValidatePodSpecificAnnotationUpdates: some of them may not come, change or go. */
export const validatePodAnnotationUpdates = (next: DecodedPod, previous: DecodedPod): FieldError[] => {
  const path = 'metadata.annotations';
  const after = next.metadata.annotations ?? {};
  const before = previous.metadata.annotations ?? {};
  const refuse = (key: string, what: string): FieldError[] => {
    if (key.startsWith(APPARMOR_CONTAINER)) return [forbidden(`${path}[${key}]`, `may not ${what} AppArmor annotations`)];
    return key === MIRROR ? [forbidden(`${path}[${key}]`, `may not ${what} mirror pod annotation`)] : [];
  };
  return [
    ...Object.keys(before).flatMap((key) => (after[key] === before[key] ? [] : refuse(key, 'remove or update'))),
    ...Object.keys(after).flatMap((key) => (before[key] === undefined ? refuse(key, 'add') : [])),
    ...validatePodAnnotations(after, next.spec ?? {}, path),
  ];
};

/** As the annotation is read upstream: no plus sign, no zeros in front but behind a minus sign. */
const isInt32 = (text: string): boolean =>
  /^(0|[1-9]\d*|-\d+)$/.test(text) && Math.abs(Number(text)) <= 2 ** 31 && Number(text) !== 2 ** 31;

const validateSeccomp = (profile: string, path: string): FieldError[] => {
  if (['runtime/default', 'docker/default', 'unconfined'].includes(profile)) return [];
  if (profile.startsWith('localhost/')) return validateDescendingPath(profile.slice('localhost/'.length), path);
  return [invalid(path, profile, 'must be a valid seccomp profile')];
};

const validateAppArmor = (key: string, profile: string, spec: DecodedPodSpec, path: string): FieldError[] => {
  const name = key.slice(APPARMOR_CONTAINER.length);
  const errors: FieldError[] = [];
  if (!allContainers(spec, '').some(({ container }) => container.name === name)) {
    errors.push(invalid(`${path}[${key}]`, name, 'container not found'));
  }
  if (!['', 'runtime/default', 'unconfined'].includes(profile) && !profile.startsWith('localhost/')) {
    errors.push(invalid(`${path}[${key}]`, profile, `invalid AppArmor profile name: ${JSON.stringify(profile)}`));
  }
  return errors;
};
