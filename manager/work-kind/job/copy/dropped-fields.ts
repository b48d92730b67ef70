import type { DeepReadonly, JobSpec } from '../../../../shared/api/kubernetes.ts';
import { isJsonObject } from '../../../api/json-value.ts';
import { MUTABLE_FIELDS } from './remote-job.ts';
import { isMissing, keeps, missingBelow } from '../../copy/missing-fields.ts';

/**
 * The fields of a Job's spec that an API server has dropped, by its answer to the create. An older server drops unknown fields, and fields
 * of a disabled feature, without an error; strict field validation does not report the latter. Fields that the server adds are its
 * defaults. In the pod template only missing fields count: changed values (such as an image of the cluster's own registry) come from
 * admission webhooks. Fields that are carried to the copy after its creation may differ, too.
 */
export function droppedFields(sent: DeepReadonly<JobSpec>, kept: unknown): string[] {
  const answer = isJsonObject(kept) ? kept : {};
  const dropped: string[] = [];
  for (const [field, value] of Object.entries(sent)) {
    const path = `spec.${field}`;
    if (isMissing(value, answer[field])) dropped.push(path);
    else if (field === 'template') dropped.push(...missingBelow(value, answer[field], path));
    else if (!CARRIED.includes(field) && !keeps(value, answer[field])) dropped.push(path);
  }
  return dropped.slice(0, LISTED_MAX);
}

/** The dropped fields of a copy that may have changed since its creation: checks immutable fields only. */
export function droppedOfOlder(sent: DeepReadonly<JobSpec>, kept: unknown): string[] {
  const { template: _template, ...fields } = sent;
  const fixed = Object.entries(fields).filter(([field]) => !CARRIED.includes(field));
  return droppedFields(Object.fromEntries(fixed) as DeepReadonly<JobSpec>, kept);
}

// A server that drops podReplacementPolicy may set its default, and then lets no client change it.
const CARRIED: readonly string[] = ['suspend', ...MUTABLE_FIELDS.filter((field) => field !== 'podReplacementPolicy')];
const LISTED_MAX = 10;
