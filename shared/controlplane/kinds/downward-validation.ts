import { formatQuantity, parseQuantity } from '../../kube/quantity.ts';
import { invalid, notSupported, required, type FieldError } from '../apimachinery/field-error.ts';
import { qualifiedNameProblems } from '../../kube/name-formats.ts';
import { validateFormat } from './choice-validation.ts';

type FieldRef = { apiVersion?: string | undefined; fieldPath?: string | undefined };
type ResourceRef = { containerName?: string | undefined; resource?: string | undefined; divisor?: string | undefined };

/** Field paths that exist; each use of the downward API takes some of them (ConvertDownwardAPIFieldLabel). */
const POD_FIELDS: readonly string[] = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.serviceAccountName',
  'spec.schedulerName',
  'status.phase',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];
/** The older name of a field. */
const OLDER: Readonly<Record<string, string>> = { 'spec.host': 'spec.nodeName' };
const CONTAINER_RESOURCES: readonly string[] = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];
const BYTE_DIVISORS = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

/** validateObjectFieldSelector; `usable` are the paths that may stand here, in the order in which messages list them. */
export const validateFieldRef = ({ apiVersion = '', fieldPath = '' }: FieldRef, path: string, usable: readonly string[]): FieldError[] => {
  if (apiVersion === '') return [required(`${path}.apiVersion`)];
  if (fieldPath === '') return [required(`${path}.fieldPath`)];
  const cannotConvert = (why: string): FieldError[] => [invalid(`${path}.fieldPath`, fieldPath, `error converting fieldPath: ${why}`)];
  if (apiVersion !== 'v1') return cannotConvert(`unsupported pod version: ${apiVersion}`);
  const [, field = '', key = ''] = /^(.*)\['(.*)'\]$/.exec(fieldPath) ?? [];
  if (field !== '') {
    if (field === 'metadata.annotations') return validateFormat(key.toLowerCase(), path, qualifiedNameProblems);
    if (field === 'metadata.labels') return validateFormat(key, path, qualifiedNameProblems);
    return cannotConvert(`field label does not support subscript: ${fieldPath}`);
  }
  const current = OLDER[fieldPath] ?? fieldPath;
  if (!POD_FIELDS.includes(current)) return cannotConvert(`field label not supported: ${fieldPath}`);
  return usable.includes(current) ? [] : [notSupported(`${path}.fieldPath`, current, usable)];
};

/** validateContainerResourceFieldSelector; a file must say of which container, a variable means its own. */
export const validateResourceRef = (
  ref: ResourceRef,
  path: string,
  { namesContainer }: { readonly namesContainer: boolean },
): FieldError[] => {
  const { containerName = '', resource = '', divisor = '0' } = ref;
  const ofDivisor = validateDivisor(resource, divisor, `${path}.divisor`);
  if (namesContainer && containerName === '') return [required(`${path}.containerName`), ...ofDivisor];
  if (resource === '') return [required(`${path}.resource`), ...ofDivisor];
  if (CONTAINER_RESOURCES.includes(resource) || isHugePagesRef(resource)) return ofDivisor;
  return [notSupported(`${path}.resource`, resource, CONTAINER_RESOURCES), ...ofDivisor];
};

const isHugePagesRef = (resource: string): boolean => /^(requests|limits)\.hugepages-/.test(resource);

const validateDivisor = (resource: string, divisor: string, path: string): FieldError[] => {
  const quantity = parseQuantity(divisor);
  if (quantity.nanos === 0n) return [];
  const written = formatQuantity(quantity);
  const bytes = (what: string): FieldError[] =>
    BYTE_DIVISORS.includes(written)
      ? []
      : [invalid(path, resource, `only divisor's values ${BYTE_DIVISORS.join(', ')} are supported with the ${what} resource`)];
  if (isHugePagesRef(resource)) return bytes('hugepages');
  switch (resource.slice(resource.indexOf('.') + 1)) {
    case 'cpu':
      return written === '1m' || written === '1'
        ? []
        : [invalid(path, resource, "only divisor's values 1m and 1 are supported with the cpu resource")];
    case 'memory':
      return bytes('memory');
    case 'ephemeral-storage':
      return bytes('local ephemeral storage');
    default:
      return [];
  }
};
