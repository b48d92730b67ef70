import { type FieldError, invalid } from '../apimachinery/field-error.ts';
import { fieldOf, setField } from '../apimachinery/json.ts';
import { isRecord } from './schema-defaults.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { given } from '../../runtime/given.ts';
import type { CrdSubresources } from './crd.ts';

type ScalePaths = NonNullable<CrdSubresources['scale']>;

const MAX_INT32 = 2 ** 31 - 1;

/** The replica counts that a scale subresource points to must be usable as such. */
export function validateScale(object: AnyObject, paths: ScalePaths | undefined): FieldError[] {
  if (paths === undefined) return [];
  return [...validateReplicas(object, paths.specReplicasPath ?? ''), ...validateReplicas(object, paths.statusReplicasPath ?? '')];
}

function validateReplicas(object: AnyObject, path: string): FieldError[] {
  const value = valueAt(object, path);
  if (value === undefined) return [];
  if (typeof value !== 'number' || !Number.isInteger(value)) return [invalid(path, value, 'should be an integer')];
  if (value < 0) return [invalid(path, value, 'should be a non-negative integer')];
  return value > MAX_INT32 ? [invalid(path, value, `should be less than or equal to ${MAX_INT32}`)] : [];
}

/** The autoscaling/v1 Scale of an object (GET …/scale). */
export function scaleOf(object: AnyObject, paths: ScalePaths): AnyObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const spec = valueAt(object, paths.specReplicasPath ?? '');
  const status = valueAt(object, paths.statusReplicasPath ?? '');
  const selector = paths.labelSelectorPath === undefined ? undefined : valueAt(object, paths.labelSelectorPath);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, ...given({ namespace }), uid, resourceVersion, creationTimestamp },
    spec: spec === undefined || spec === 0 ? {} : { replicas: spec },
    status: { replicas: status ?? 0, ...(typeof selector === 'string' && selector !== '' ? { selector } : {}) },
  };
}

/** Sets the replicas that a Scale asks for. Changes `object`. */
export function applyScale(object: AnyObject, replicas: number, paths: ScalePaths): void {
  const steps = stepsOf(paths.specReplicasPath ?? '');
  const last = steps.pop();
  if (last === undefined) return;
  let at: Record<string, unknown> = object;
  for (const step of steps) {
    const next = fieldOf(at, step);
    const holder = isRecord(next) ? next : {};
    if (holder !== next) setField(at, step, holder);
    at = holder;
  }
  setField(at, last, replicas);
}

const stepsOf = (path: string): string[] => path.replace(/^\./, '').split('.');
const valueAt = (object: AnyObject, path: string): unknown =>
  stepsOf(path).reduce<unknown>((at, step) => (isRecord(at) ? fieldOf(at, step) : undefined), object);
