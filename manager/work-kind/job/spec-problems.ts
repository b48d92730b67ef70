import { isJsonObject } from '../../../shared/api/json-value.ts';
import type { FieldProblem } from '../../api/field-problem.ts';

/** Why a value is no spec of a Job, as far as the manager must know before it reads it. The API server validates the rest. */
export function specProblems(spec: unknown): FieldProblem[] {
  if (!isJsonObject(spec)) return [{ field: 'spec', problem: 'is missing' }];
  if (!isJsonObject(spec['template'])) return [{ field: 'spec.template', problem: 'is missing' }];
  if (!isJsonObject(spec['template']['spec'])) return [{ field: 'spec.template.spec', problem: 'is missing' }];
  return podProblems(spec['template']['spec']);
}

function podProblems(pod: Record<string, unknown>): FieldProblem[] {
  return ['containers', 'initContainers', 'volumes'].flatMap((field) => {
    const parts = pod[field] ?? [];
    const isList = Array.isArray(parts) && parts.every(isJsonObject);
    return isList ? [] : [{ field: `spec.template.spec.${field}`, problem: 'must be a list of objects' }];
  });
}
