import { type FieldError, invalid } from '../apimachinery/field-error.ts';
import { qualifiedNameProblems } from '../../kube/name-formats.ts';

const HUGE_PAGES = 'hugepages-';
const CONTAINER_RESOURCES = new Set(['cpu', 'memory', 'ephemeral-storage']);
const COUNTS = new Set([
  'pods',
  'resourcequotas',
  'services',
  'services.nodeports',
  'services.loadbalancers',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
]);
const OTHER_STANDARD_RESOURCES = new Set([
  'storage',
  'requests.storage',
  'requests.cpu',
  'requests.memory',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
]);

export const isHugePages = (name: string): boolean => name.startsWith(HUGE_PAGES);

/** Resources of a container that need no prefix. */
export const isStandardContainerResource = (name: string): boolean => CONTAINER_RESOURCES.has(name) || isHugePages(name);

/** Resources of any object (quotas among them) that need no prefix. */
export const isStandardResource = (name: string): boolean =>
  isStandardContainerResource(name) || COUNTS.has(name) || OTHER_STANDARD_RESOURCES.has(name) || isQuotaHugePages(name);

/** Resources that a quota limits without a prefix of a vendor (IsStandardQuotaResourceName). */
export const isStandardQuotaResource = (name: string): boolean =>
  (name !== 'storage' && (CONTAINER_RESOURCES.has(name) || COUNTS.has(name) || OTHER_STANDARD_RESOURCES.has(name))) ||
  isQuotaHugePages(name);

const isQuotaHugePages = (name: string): boolean => isHugePages(name) || name.startsWith(`requests.${HUGE_PAGES}`);

/** Kubernetes' own resources: without a prefix, or below kubernetes.io. */
export const isNativeResource = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/');

/** Resources that vendors add, such as example.com/gpu: counted in whole numbers. */
export const isExtendedResource = (name: string): boolean =>
  !isNativeResource(name) && !name.startsWith('requests.') && qualifiedNameProblems(`requests.${name}`).length === 0;

/** Resources that are numbers of objects. */
export const isCount = (name: string): boolean => COUNTS.has(name) || name.startsWith('count/');

/** Whether a node may promise more of a resource than it has. */
export const mayBeOvercommitted = (name: string): boolean => isNativeResource(name) && !isHugePages(name);

/** validateResourceName: the name of a resource wherever one may stand. */
export const validateResourceName = (name: string, path: string): FieldError[] => {
  const problems = qualifiedNameProblems(name);
  if (problems.length > 0) return problems.map((problem) => invalid(path, name, problem));
  return name.includes('/') || isStandardResource(name) ? [] : [invalid(path, name, 'must be a standard resource type or fully qualified')];
};

/** validateContainerResourceName: the name of a resource that a container can ask for. */
export const validateContainerResourceName = (name: string, path: string): FieldError[] => {
  const errors = validateResourceName(name, path);
  if (!name.includes('/')) {
    return isStandardContainerResource(name) ? errors : [...errors, invalid(path, name, 'must be a standard resource for containers')];
  }
  if (isNativeResource(name) || isExtendedResource(name)) return errors;
  return [...errors, invalid(path, name, "doesn't follow extended resource name standard")];
};

/** ValidateResourceQuotaResourceName: the name of a resource that a quota can limit. */
export const validateQuotaResourceName = (name: string, path: string): FieldError[] => {
  const errors = validateResourceName(name, path);
  return name.includes('/') || isStandardQuotaResource(name)
    ? errors
    : [...errors, invalid(path, name, 'must be a standard resource for quota')];
};
