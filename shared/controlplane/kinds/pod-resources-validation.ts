import { addQuantities, compareQuantities, formatQuantity, parseQuantity, type Quantity } from '../../kube/quantity.ts';
import { forbidden, invalid, notSupported, type FieldError } from '../apimachinery/field-error.ts';
import { validateResources } from './container-resources-validation.ts';
import type { DecodedContainer, DecodedPodSpec } from './decoded.ts';
import { isHugePages, validateResourceName } from './resource-names.ts';

const POD_RESOURCES = ['cpu', 'memory'];

/** validatePodResources: what a pod asks for all its containers together (KEP-2837). */
export const validatePodResources = (spec: DecodedPodSpec, path: string, claimNames: ReadonlySet<string>): FieldError[] => {
  const { resources, os } = spec;
  if (resources === undefined) return [];
  if (os?.name === 'windows') return [forbidden(path, 'may not be set for a windows pod')];
  return [
    ...(resources.claims === undefined ? [] : [forbidden(`${path}.claims`, 'claims may not be set for Resources at pod-level')]),
    ...validateResources(resources, path, claimNames, validatePodResourceName),
    ...validateConsistency(spec, path),
  ];
};

const validatePodResourceName = (name: string, path: string): FieldError[] => {
  const errors = validateResourceName(name, path);
  if (errors.length > 0 || POD_RESOURCES.includes(name) || isHugePages(name)) return errors;
  return [notSupported(path, name, POD_RESOURCES)];
};

/** Containers ask for no more together, and none is allowed more alone, than the pod. */
const validateConsistency = (spec: DecodedPodSpec, path: string): FieldError[] => {
  const { requests = {}, limits = {} } = spec.resources ?? {};
  const errors: FieldError[] = [];
  for (const [name, sum] of aggregateRequests(spec)) {
    const request = amountOf(requests, name);
    if (request === undefined || compareQuantities(sum, request) <= 0) continue;
    const rule = `must be greater than or equal to aggregate container requests of ${formatQuantity(sum)}`;
    errors.push(invalid(`${path}.requests[${name}]`, formatQuantity(request), rule));
  }
  for (const [i, container] of (spec.containers ?? []).entries()) {
    for (const [name, own] of Object.entries(container.resources?.limits ?? {})) {
      const [limit, wanted] = [amountOf(limits, name), parseQuantity(own)];
      if (limit === undefined || compareQuantities(wanted, limit) <= 0) continue;
      const rule = `must be less than or equal to pod limits of ${formatQuantity(limit)}`;
      errors.push(invalid(`${path}.containers[${i}][${name}].limits`, formatQuantity(wanted), rule));
    }
  }
  return errors;
};

type Amounts = Readonly<Record<string, string>>;

const amountOf = (amounts: Amounts, name: string): Quantity | undefined => {
  const amount = Object.hasOwn(amounts, name) ? amounts[name] : undefined;
  return amount === undefined ? undefined : parseQuantity(amount);
};

/** AggregateContainerRequests: containers and sidecars at once, or an init container with the sidecars started before it. */
const aggregateRequests = (spec: DecodedPodSpec): Map<string, Quantity> => {
  const total = new Map<string, Quantity>();
  const sidecars = new Map<string, Quantity>();
  const peak = new Map<string, Quantity>();
  for (const container of spec.containers ?? []) add(total, requestsOf(container));
  for (const container of spec.initContainers ?? []) {
    const own = requestsOf(container);
    if (container.restartPolicy === 'Always') {
      add(total, own);
      add(sidecars, own);
      raise(peak, sidecars);
    } else {
      const now = new Map(own);
      add(now, sidecars);
      raise(peak, now);
    }
  }
  raise(total, peak);
  return total;
};

const requestsOf = ({ resources }: DecodedContainer): Map<string, Quantity> =>
  new Map(Object.entries(resources?.requests ?? {}).map(([name, amount]) => [name, parseQuantity(amount)]));

const add = (sum: Map<string, Quantity>, more: ReadonlyMap<string, Quantity>): void => {
  for (const [name, amount] of more) {
    const known = sum.get(name);
    sum.set(name, known === undefined ? amount : addQuantities(known, amount));
  }
};

const raise = (least: Map<string, Quantity>, to: ReadonlyMap<string, Quantity>): void => {
  for (const [name, amount] of to) {
    const known = least.get(name);
    if (known === undefined || compareQuantities(known, amount) < 0) least.set(name, amount);
  }
};
