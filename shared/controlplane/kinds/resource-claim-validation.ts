import { duplicate, fieldNotFound, forbidden, invalid, required, type FieldError } from '../apimachinery/field-error.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../../kube/name-formats.ts';
import { validateFormat } from './choice-validation.ts';
import type { DecodedContainer, DecodedPodSpec } from './decoded.ts';

type PodClaim = NonNullable<DecodedPodSpec['resourceClaims']>[number];
type ContainerClaim = NonNullable<NonNullable<DecodedContainer['resources']>['claims']>[number];

/** Claims that containers can name. */
export const claimNamesOf = (spec: DecodedPodSpec): ReadonlySet<string> =>
  new Set((spec.resourceClaims ?? []).flatMap(({ name = '' }) => (name === '' ? [] : [name])));

/** validatePodResourceClaims. */
export const validateResourceClaims = (claims: readonly PodClaim[], path: string, isMirror: boolean): FieldError[] => {
  const names = new Set<string>();
  return claims.flatMap((claim, i) => {
    if (isMirror) return [forbidden('[]', 'static pods do not support resource claims')];
    const at = `${path}[${i}]`;
    const { name = '', resourceClaimName, resourceClaimTemplateName } = claim;
    const written = {
      Name: name,
      ResourceClaimName: resourceClaimName ?? null,
      ResourceClaimTemplateName: resourceClaimTemplateName ?? null,
    };
    const errors = nameErrors(name, names, `${at}.name`);
    if (resourceClaimName !== undefined && resourceClaimTemplateName !== undefined) {
      errors.push(invalid(at, written, 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified'));
    }
    if (resourceClaimName === undefined && resourceClaimTemplateName === undefined) {
      errors.push(invalid(at, written, 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`'));
    }
    for (const field of ['resourceClaimName', 'resourceClaimTemplateName'] as const) {
      const value = claim[field];
      if (value !== undefined) errors.push(...validateFormat(value, `${at}.${field}`, dns1123SubdomainProblems));
    }
    return errors;
  });
};

const nameErrors = (name: string, names: Set<string>, path: string): FieldError[] => {
  if (name === '') return [required(path)];
  if (names.has(name)) return [duplicate(path, name)];
  names.add(name);
  return validateFormat(name, path, dns1123LabelProblems);
};

/** validateResourceClaimNames: what a container takes of the pod's claims, whole or one request of them. */
export const validateClaimsOfContainer = (claims: readonly ContainerClaim[], path: string, known: ReadonlySet<string>): FieldError[] => {
  const taken = new Set<string>();
  return claims.flatMap(({ name = '', request = '' }, i) => {
    const at = `${path}[${i}]`;
    if (name === '') return [required(at)];
    const errors: FieldError[] = [];
    if (taken.has(name)) errors.push(duplicate(at, name));
    else {
      const key = request === '' ? name : `${name}/${request}`;
      if (request !== '') errors.push(...validateFormat(request, `${at}.request`, dns1123LabelProblems));
      if (taken.has(key)) errors.push(duplicate(at, key));
      else if (request === '') {
        for (const other of taken) if (other.startsWith(`${name}/`)) errors.push(duplicate(at, name));
      }
      taken.add(key);
    }
    if (!known.has(name)) {
      const { body, ...rest } = fieldNotFound(at, name);
      const choices = known.size === 0 ? ' which is empty' : `: ${[...known].toSorted().join(', ')}`;
      errors.push({ ...rest, body: `${body}: must be one of the names in pod.spec.resourceClaims${choices}` });
    }
    return errors;
  });
};
