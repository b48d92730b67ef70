import { forbidden, invalid, notSupported, required, type FieldError } from '../apimachinery/field-error.ts';
import { dns1123SubdomainProblems } from '../../kube/name-formats.ts';
import type { DecodedVolume } from './decoded.ts';
import { validateDownwardFile, validateKeyToPath, validateMode } from './file-projection-validation.ts';
import { validateLabelSelector } from './label-selector-validation.ts';
import { validateNonReservedPath } from './path-validation.ts';

type Projected = NonNullable<DecodedVolume['projected']>;
type Source = NonNullable<Projected['sources']>[number];
/** Files that the sources before have put into the volume, and how a second one of the same path is refused. */
type Taken = { note(file: string, value?: string): FieldError[] };

const TOKEN_SECONDS_MIN = 600;
const TOKEN_SECONDS_MAX = 2 ** 32;
const KEY_TYPES = ['RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519'];
const CERTIFICATE_SECONDS_MIN = 3600;
const CERTIFICATE_SECONDS_MAX = 91 * 86_400;
const KUBERNETES_CERTIFICATE_SECONDS_MAX = 86_400;

/** validateProjectedVolumeSource. */
export const validateProjected = (projected: Projected, path: string): FieldError[] => {
  const files = new Set<string>();
  const taken: Taken = {
    note: (file, value = file) => {
      if (files.has(file)) return [invalid(path, value, 'conflicting duplicate paths')];
      files.add(file);
      return [];
    },
  };
  return [
    ...validateMode(projected.defaultMode, `${path}.defaultMode`),
    ...(projected.sources ?? []).flatMap((source, i) => validateProjection(source, `${path}.sources[${i}]`, path, taken)),
  ];
};

const validateProjection = (source: Source, path: string, volumePath: string, taken: Taken): FieldError[] => {
  const { secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source;
  const given = [secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate].filter(
    (each) => each !== undefined,
  );
  return [
    ...(secret ? validateKeys(secret, `${path}.secret`, taken) : []),
    ...(configMap ? validateKeys(configMap, `${path}.configMap`, taken) : []),
    ...(downwardAPI?.items ?? []).flatMap((file) => [
      ...validateDownwardFile(file, `${path}.downwardAPI`),
      ...((file.path ?? '') === '' ? [] : taken.note(file.path ?? '')),
    ]),
    ...(serviceAccountToken ? validateToken(serviceAccountToken, `${path}.serviceAccountToken`, volumePath) : []),
    ...(clusterTrustBundle ? validateTrustBundle(clusterTrustBundle, `${path}.clusterTrustBundle`, taken) : []),
    ...(podCertificate ? validateCertificate(podCertificate, `${path}.podCertificate`, taken) : []),
    ...(given.length > 1 ? [forbidden(path, 'may not specify more than 1 volume type per source')] : []),
  ];
};

const validateKeys = ({ name = '', items = [] }: NonNullable<Source['secret']>, path: string, taken: Taken): FieldError[] => [
  ...(name === '' ? [required(`${path}.name`)] : []),
  ...items.flatMap((item, i) => [
    ...validateKeyToPath(item, `${path}.items[${i}]`),
    ...((item.path ?? '') === '' ? [] : taken.note(item.path ?? '', name)),
  ]),
];

/** Upstream reports the path of a token as if it were the volume's. */
const validateToken = (
  { expirationSeconds = 0, path: target = '' }: NonNullable<Source['serviceAccountToken']>,
  path: string,
  volumePath: string,
): FieldError[] => [
  ...(expirationSeconds < TOKEN_SECONDS_MIN
    ? [invalid(`${path}.expirationSeconds`, expirationSeconds, 'may not specify a duration less than 10 minutes')]
    : []),
  ...(expirationSeconds > TOKEN_SECONDS_MAX
    ? [invalid(`${path}.expirationSeconds`, expirationSeconds, 'may not specify a duration larger than 2^32 seconds')]
    : []),
  ...(target === '' ? [required(`${volumePath}.path`)] : validateNonReservedPath(target, `${volumePath}.path`)),
];

const validateTrustBundle = (bundle: NonNullable<Source['clusterTrustBundle']>, path: string, taken: Taken): FieldError[] => {
  const { name, signerName, labelSelector, path: target = '' } = bundle;
  const errors: FieldError[] = [];
  if (name !== undefined && signerName !== undefined)
    errors.push(invalid(path, goBundle(bundle), 'only one of name and signerName may be used'));
  else if (name !== undefined) {
    if (name === '') errors.push(required(`${path}.name`, 'must be a valid object name'));
    if (labelSelector !== undefined) {
      errors.push(invalid(`${path}.labelSelector`, labelSelector, 'labelSelector must be unset if name is specified'));
    }
  } else if (signerName !== undefined) {
    if (signerName === '') errors.push(required(`${path}.signerName`, 'must be a valid signer name'));
    errors.push(...validateSignerName(signerName, `${path}.signerName`));
    if (labelSelector !== undefined) errors.push(...validateLabelSelector(labelSelector, `${path}.labelSelector`));
  } else errors.push(required(path, 'either name or signerName must be specified'));
  if (target === '') errors.push(required(`${path}.path`));
  return [...errors, ...validateNonReservedPath(target, `${path}.path`), ...taken.note(target)];
};

const goBundle = ({ name, signerName, labelSelector, optional, path = '' }: NonNullable<Source['clusterTrustBundle']>): object => ({
  Name: name ?? null,
  SignerName: signerName ?? null,
  LabelSelector: labelSelector ?? null,
  Optional: optional ?? null,
  Path: path,
});

/** A domain and a path, neither of them empty. */
const validateSignerName = (name: string, path: string): FieldError[] => {
  if (name === '') return [required(path)];
  const segments = name.split('/');
  if (segments.length !== 2)
    return [invalid(path, name, 'must be a fully qualified domain and path of the form "example.com/signer-name"')];
  const [domain = '', rest = ''] = segments;
  return [
    ...dns1123SubdomainProblems(domain).map((problem) => invalid(path, domain, problem)),
    ...(domain.includes('.') ? [] : [invalid(path, domain, 'should be a domain with at least two segments separated by dots')]),
    ...dns1123SubdomainProblems(rest).map((problem) => invalid(path, rest, problem)),
  ];
};

const validateCertificate = (certificate: NonNullable<Source['podCertificate']>, path: string, taken: Taken): FieldError[] => {
  const { signerName = '', keyType = '', maxExpirationSeconds: seconds } = certificate;
  const errors = validateSignerName(signerName, `${path}.signerName`);
  if (!KEY_TYPES.includes(keyType)) errors.push(notSupported(`${path}.keyType`, keyType, KEY_TYPES));
  const max = signerName.startsWith('kubernetes.io/') ? KUBERNETES_CERTIFICATE_SECONDS_MAX : CERTIFICATE_SECONDS_MAX;
  if (seconds !== undefined && seconds < CERTIFICATE_SECONDS_MIN) {
    errors.push(
      invalid(`${path}.maxExpirationSeconds`, seconds, `if provided, maxExpirationSeconds must be >= ${CERTIFICATE_SECONDS_MIN}`),
    );
  }
  if (seconds !== undefined && seconds > max) {
    errors.push(invalid(`${path}.maxExpirationSeconds`, seconds, `if provided, maxExpirationSeconds must be <= ${max}`));
  }
  const targets = (['credentialBundlePath', 'keyPath', 'certificateChainPath'] as const).filter(
    (field) => (certificate[field] ?? '') !== '',
  );
  for (const field of targets) {
    const target = certificate[field] ?? '';
    errors.push(...validateNonReservedPath(target, `${path}.${field}`), ...taken.note(target));
  }
  if (targets.length === 0) {
    errors.push(required(path, 'specify at least one of credentialBundlePath, keyPath, and certificateChainPath'));
  }
  return errors;
};
