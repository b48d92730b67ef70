import { type FieldError, invalid } from '../apimachinery/field-error.ts';
import { goFloat } from '../../cel/go-float.ts';
import { fieldOf, setField } from '../apimachinery/json.ts';
import { unknownError } from '../apimachinery/status-error.ts';
import { isRecord } from './schema-defaults.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import { omitUndefined } from '../../runtime/omit-undefined.ts';
import type { CrdSubresources } from './crd.ts';

type ScalePaths = NonNullable<CrdSubresources['scale']>;

const MAX_INT32 = 2 ** 31 - 1;

/** ValidateScaleSpec: the count that a scale subresource sets must be usable as such. */
export const validateScaleSpec = (object: AnyObject, paths: ScalePaths | undefined): FieldError[] =>
  paths === undefined ? [] : validateReplicas(object, paths.specReplicasPath ?? '');

/** ValidateScaleStatus: so must what it shows. */
export function validateScaleStatus(object: AnyObject, paths: ScalePaths | undefined): FieldError[] {
  if (paths === undefined) return [];
  const errors = validateReplicas(object, paths.statusReplicasPath ?? '');
  if (paths.labelSelectorPath === undefined) return errors;
  const selector = read(object, paths.labelSelectorPath, 'string');
  return 'problem' in selector ? [...errors, invalid(paths.labelSelectorPath, '', selector.problem)] : errors;
}

function validateReplicas(object: AnyObject, path: string): FieldError[] {
  const found = read(object, path, 'int64');
  if ('problem' in found) return [invalid(path, 0, found.problem)];
  const value = Number(found.value ?? 0);
  if (value < 0) return [invalid(path, value, 'should be a non-negative integer')];
  return value > MAX_INT32 ? [invalid(path, value, `should be less than or equal to ${MAX_INT32}`)] : [];
}

/** What is at a path, if anything is; the problem, in the words of unstructured.NestedInt64, when it is something else. */
type Found = { readonly value: unknown } | { readonly problem: string };

function read(object: AnyObject, path: string, type: 'int64' | 'string'): Found {
  const steps = stepsOf(path);
  const problem = (value: unknown, expected: string): Found => ({
    problem: `.${steps.join('.')} accessor error: ${goValue(value)} is of the type ${goType(value)}, expected ${expected}`,
  });
  let at: unknown = object;
  for (const step of steps) {
    if (!isRecord(at)) return at === null ? { value: undefined } : problem(at, 'map[string]interface {}');
    if (!Object.hasOwn(at, step)) return { value: undefined };
    at = fieldOf(at, step);
  }
  const fits = type === 'string' ? typeof at === 'string' : Number.isInteger(at);
  return fits ? { value: at } : problem(at, type);
}

function goType(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'number':
      return Number.isInteger(value) ? 'int64' : 'float64';
    default:
      return value === null ? '<nil>' : Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}';
  }
}

/** A value as Go's `%v` prints it. */
function goValue(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goValue).join(' ')}]`;
  if (isRecord(value)) {
    const pairs = Object.keys(value).sort();
    return `map[${pairs.map((key) => `${key}:${goValue(value[key])}`).join(' ')}]`;
  }
  return typeof value === 'number' && !Number.isInteger(value) ? goFloat(value) : String(value);
}

/** The autoscaling/v1 Scale of an object, and whether it has a count at all. Throws when there is something else in its place. */
export function scaleOf(object: AnyObject, paths: ScalePaths): { readonly scale: AnyObject; readonly hasReplicas: boolean } {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const spec = valueAt(object, paths.specReplicasPath ?? '', 'int64');
  const status = valueAt(object, paths.statusReplicasPath ?? '', 'int64');
  const selector = paths.labelSelectorPath === undefined ? undefined : valueAt(object, paths.labelSelectorPath, 'string');
  const scale = {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, ...omitUndefined({ namespace }), uid, resourceVersion, creationTimestamp },
    spec: spec === undefined || spec === 0 ? {} : { replicas: spec },
    status: { replicas: status ?? 0, ...(selector === undefined || selector === '' ? {} : { selector }) },
  };
  return { scale, hasReplicas: spec !== undefined };
}

function valueAt(object: AnyObject, path: string, type: 'int64' | 'string'): unknown {
  const found = read(object, path, type);
  if ('problem' in found) throw unknownError(found.problem);
  return found.value;
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

/** The fields that a JSON path names. */
export const stepsOf = (path: string): string[] => path.replace(/^\./, '').split('.');
